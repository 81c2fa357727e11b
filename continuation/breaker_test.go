package continuation_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// brSettings opens at the first failure and lets one attempt through after ten seconds.
func brSettings() gobreaker.Settings {
	return gobreaker.Settings{
		Timeout:     10 * time.Second,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 1 },
		IsExcluded:  continuation.NotCounted,
	}
}

func brInput() []*schema.Message { return []*schema.Message{schema.UserMessage("hi")} }

// brRefusal is a permanent error.
type brRefusal struct{ StatusCode int }

func (e brRefusal) Error() string { return fmt.Sprintf("status %d", e.StatusCode) }

func brCollect(t *testing.T, m *continuation.Model) ([]*schema.Message, error) {
	t.Helper()
	r, err := m.Stream(t.Context(), brInput())
	if err != nil {
		return nil, err
	}

	return fm.Collect(r)
}

func TestBreakerCountsAtTheEndOfTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
		inner := fm.New(
			fm.Script{fm.Text("Hel"), fm.Reset()},
			fm.Script{fm.Text("Hello again"), fm.Finish("stop")},
		)
		m := continuation.Wrap(inner, continuation.WithBreaker(b))
		r, err := m.Stream(t.Context(), brInput())
		require.NoError(t, err)
		chunk, err := r.Recv()
		require.NoError(t, err)
		assert.Equal(t, "Hel", chunk.Content)
		assert.Zero(t, b.Counts().TotalSuccesses, "an open stream is no success yet")

		_, err = r.Recv()
		exhausted := (*continuation.ExhaustedError)(nil)
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, continuation.ReasonBreakerOpen, exhausted.Reason)
		assert.Equal(t, "Hel", exhausted.Partial.Content)
		require.ErrorIs(t, err, gobreaker.ErrOpenState)
		assert.Equal(t, gobreaker.StateOpen, b.State())
		assert.Len(t, inner.Requests(), 1, "an open breaker lets nothing through")
		r.Close()

		_, err = m.Stream(t.Context(), brInput())
		require.ErrorIs(t, err, gobreaker.ErrOpenState, "before any content the breaker's error comes out")
	})
}

func TestBreakerOpensAndCloses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var states []string
		inner := fm.New(
			fm.Script{fm.Text("a"), fm.Reset()},
			fm.Script{fm.Text("b"), fm.Finish("stop")},
		)
		s := brSettings()
		s.IsExcluded = nil // WithCircuitBreaker sets it
		m := continuation.Wrap(inner, continuation.WithCircuitBreaker(s), continuation.WithHandler(
			callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
				if c, ok := e.(callbacks.BreakerChanged); ok {
					states = append(states, c.From+">"+c.To)
				}
			})))
		_, err := brCollect(t, m)
		require.ErrorIs(t, err, gobreaker.ErrOpenState)
		<-time.After(11 * time.Second) // on the bubble's clock
		chunks, err := brCollect(t, m)
		require.NoError(t, err)
		assert.Equal(t, "b", fm.Concat(t, chunks).Content)
		assert.Equal(t, []string{"closed>open", "open>half-open", "half-open>closed"}, states)
	})
}

func TestBreakerWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := fm.Script{fm.Text("Hello "), fm.Text("world"), fm.Finish("stop")}
		inner := fm.Continuer(answer, fm.BreakAt(1, fm.Reset()))
		m := continuation.Wrap(inner, continuation.WithCircuitBreaker(brSettings(), continuation.WaitWhenOpen))
		began := time.Now()
		chunks, err := brCollect(t, m)
		require.NoError(t, err)
		assert.Equal(t, "Hello world", fm.Concat(t, chunks).Content)
		assert.GreaterOrEqual(t, time.Since(began), 10*time.Second, "it waited until the breaker let it through")
		assert.Len(t, inner.Requests(), 2)
	})
}

func TestBreakerWaitsBeforeTheFirstRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
		done, err := b.Allow()
		require.NoError(t, err)
		done(io.ErrUnexpectedEOF)
		inner := fm.New(fm.Script{fm.Text("Hello"), fm.Finish("stop")})
		m := continuation.Wrap(inner, continuation.WithBreaker(b, continuation.WaitWhenOpen))

		ctx, cancel := context.WithCancel(t.Context())
		r, err := m.Stream(ctx, brInput())
		require.NoError(t, err)
		cancel()
		_, err = fm.Collect(r)
		require.ErrorIs(t, err, context.Canceled, "a cancel ends the wait")

		chunks, err := brCollect(t, m)
		require.NoError(t, err)
		assert.Equal(t, "Hello", fm.Concat(t, chunks).Content)
		assert.Len(t, inner.Requests(), 1)
	})
}

// TestBreakerSlotComesBack lets the one attempt of a half-open breaker end in every way, and wants the next one through.
func TestBreakerSlotComesBack(t *testing.T) {
	t.Parallel()
	for name, way := range map[string]struct {
		script fm.Script
		opts   []continuation.Option
		end    func(t *testing.T, cancel context.CancelFunc, r *schema.StreamReader[*schema.Message])
		want   gobreaker.State
	}{
		"success": {script: fm.Script{fm.Text("a"), fm.Finish("stop")}, end: brDrain, want: gobreaker.StateClosed},
		"failure": {script: fm.Script{fm.Text("a"), fm.Reset()}, end: brDrain, want: gobreaker.StateOpen},
		"cancel": {
			script: fm.Script{fm.Text("a"), fm.Stall()}, want: gobreaker.StateHalfOpen,
			end: func(t *testing.T, cancel context.CancelFunc, r *schema.StreamReader[*schema.Message]) {
				t.Helper()
				cancel()
				brDrain(t, cancel, r)
			},
		},
		"close": {
			script: fm.Script{fm.Text("a"), fm.Stall()}, want: gobreaker.StateHalfOpen,
			end: func(_ *testing.T, _ context.CancelFunc, r *schema.StreamReader[*schema.Message]) { r.Close() },
		},
		"close unread": {
			script: fm.Script{fm.Stall()}, want: gobreaker.StateHalfOpen,
			end: func(_ *testing.T, _ context.CancelFunc, r *schema.StreamReader[*schema.Message]) { r.Close() },
		},
		"permanent error": {
			script: fm.Script{fm.Text("a"), fm.Fail(brRefusal{StatusCode: 401})}, end: brDrain, want: gobreaker.StateHalfOpen,
		},
		"interrupt": {
			script: fm.Script{fm.Text("a"), fm.Fail(adk.ErrStreamCanceled)}, end: brDrain, want: gobreaker.StateHalfOpen,
		},
		"tool calls that arrived": {
			script: fm.Script{fm.Call(0, "c1", "f", "{}"), fm.Reset()}, end: brDrain, want: gobreaker.StateOpen,
		},
		"exhausted": {
			script: fm.Script{fm.Text("a"), fm.Reset()}, end: brDrain, want: gobreaker.StateOpen,
			opts: []continuation.Option{continuation.WithMaxElapsed(time.Millisecond)},
		},
		"panic below": {script: fm.Script{fm.Text("a"), fm.Panic("boom")}, end: brDrain, want: gobreaker.StateOpen},
		"panic of the classifier": {
			script: fm.Script{fm.Text("a"), fm.Reset()}, end: brDrain, want: gobreaker.StateHalfOpen,
			opts: []continuation.Option{continuation.WithClassifier(func(error) continuation.Class { panic("boom") })},
		},
		"buffer overflow": {
			script: fm.Script{fm.Text("a"), fm.Call(0, "c", "f", `{"a":"0123456789`), fm.Stall()}, end: brDrain,
			opts: []continuation.Option{continuation.WithMaxBufferedBytes(8)}, want: gobreaker.StateHalfOpen,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
				done, err := b.Allow()
				require.NoError(t, err)
				done(io.ErrUnexpectedEOF)
				<-time.After(11 * time.Second) // on the bubble's clock
				require.Equal(t, gobreaker.StateHalfOpen, b.State())

				m := continuation.Wrap(fm.New(way.script), append(way.opts, continuation.WithBreaker(b))...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, err := m.Stream(ctx, brInput())
				require.NoError(t, err)
				way.end(t, cancel, r)
				synctest.Wait()

				assert.Equal(t, way.want, b.State())
				if way.want == gobreaker.StateOpen {
					<-time.After(11 * time.Second) // on the bubble's clock
				}
				done, err = b.Allow()
				require.NoError(t, err, "the slot is taken for ever")
				done(nil)
			})
		})
	}
}

func brDrain(t *testing.T, _ context.CancelFunc, r *schema.StreamReader[*schema.Message]) {
	t.Helper()
	_, _ = fm.Collect(r)
}

func TestBreakerGuardsGenerate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
		inner := fm.New(fm.Script{fm.OpenFail(fm.ResetError())})
		m := continuation.Wrap(inner, continuation.WithBreaker(b), continuation.WithOpenRetries(0))
		_, err := m.Generate(t.Context(), brInput())
		require.Error(t, err)
		_, err = m.Generate(t.Context(), brInput())
		require.ErrorIs(t, err, gobreaker.ErrOpenState)
		assert.Len(t, inner.Requests(), 1)
	})
}

func TestBreakerOptions(t *testing.T) {
	t.Parallel()
	_, err := continuation.New(fm.New(), continuation.WithBreaker(nil))
	require.ErrorContains(t, err, "WithBreaker")
	_, err = continuation.New(fm.New(), continuation.WithCircuitBreaker(gobreaker.Settings{}, continuation.OpenBehaviour(7)))
	require.ErrorContains(t, err, "WithCircuitBreaker")
}

// TestBreakerSlotComesBackWithTheContext: also if nobody reads or closes the stream any more.
func TestBreakerSlotComesBackWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		given := make(chan error, 1)
		b := brOne{given}
		inner := fm.New(fm.Script{fm.Text("a"), fm.Stall()})
		ctx, cancel := context.WithCancel(t.Context())
		r, err := continuation.Wrap(inner, continuation.WithBreaker(b)).Stream(ctx, ctInput())
		require.NoError(t, err)
		_, err = r.Recv()
		require.NoError(t, err)
		cancel()
		synctest.Wait()
		select {
		case err := <-given:
			require.ErrorIs(t, err, continuation.ErrNotCounted)
		default:
			t.Fatal("the slot is still held")
		}
		r.Close()
		ctLetGo(t, inner)
	})
}

// brOne is a breaker that tells of the outcome it got.
type brOne struct{ given chan error }

func (b brOne) Allow() (func(error), error) {
	return func(err error) { b.given <- err }, nil
}
