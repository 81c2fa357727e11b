package continuation_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// brHalfOpen returns a breaker that lets one attempt through.
func brHalfOpen(t *testing.T) *gobreaker.TwoStepCircuitBreaker[any] {
	t.Helper()
	b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
	brTrip(t, b)
	<-time.After(11 * time.Second) // on the bubble's clock
	require.Equal(t, gobreaker.StateHalfOpen, b.State())

	return b
}

func brTrip(t *testing.T, b *gobreaker.TwoStepCircuitBreaker[any]) {
	t.Helper()
	done, err := b.Allow()
	require.NoError(t, err)
	done(fm.ResetError())
}

// TestBreakerRefusesAProbe: the answer of a model of unknown type has ended cleanly, and the breaker does not let through
// what would ask whether it is whole. Then it ends as it was.
func TestBreakerRefusesAProbe(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]continuation.OpenBehaviour{
		"fail": continuation.FailWhenOpen, "wait too long": continuation.WaitWhenOpen,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
				inner := fm.Respond(func(int, []*schema.Message) fm.Script {
					brTrip(t, b) // by somebody else's call

					return fm.Script{fm.Text("All "), fm.Text("of it."), fm.EOF()}
				})
				m, events := ctWrap(t, inner, continuation.WithBreaker(b, open), continuation.WithMaxElapsed(5*time.Second))
				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, "All of it.", r.message(t).Content)
				assert.Len(t, inner.Requests(), 1)
				assert.Contains(t, ctOnly[callbacks.Notice](t, events).Message, "could not be found out")
				assert.Empty(t, ctOf[callbacks.Exhausted](events))
				assert.Len(t, ctOf[callbacks.Failed](events), 1, "the probe that was started has an end")
			})
		})
	}
}

// TestBreakerCountsACleanEndOnceItIsKnown: an end without a finish reason is a failure of the provider only if a probe has
// shown that the answer was cut.
func TestBreakerCountsACleanEndOnceItIsKnown(t *testing.T) {
	t.Parallel()
	end := fm.Script{fm.Text("All "), fm.Text("of it."), fm.EOF()}
	for name, c := range map[string]struct {
		probe    []fm.Script
		opts     []continuation.Option
		failures uint32 // that the breaker has counted
		success  uint32
	}{
		"the model sends none": {[]fm.Script{{fm.Text("Yes."), fm.EOF()}}, nil, 0, 2},
		"it was cut":           {[]fm.Script{{fm.Text(" And more."), fm.Finish("stop")}}, nil, 1, 1},
		"it lacked only that":  {[]fm.Script{{fm.Finish("stop")}}, nil, 1, 1},
		"the probe breaks, and then it was cut": {
			[]fm.Script{{fm.Reset()}, {fm.Text(" And more."), fm.Finish("stop")}}, nil, 2, 1,
		},
		"the probe breaks, and the model sends none": {[]fm.Script{{fm.Reset()}, {fm.Text("Yes."), fm.EOF()}}, nil, 1, 2},
		"the probe is refused":                       {[]fm.Script{{fm.OpenFail(brRefusal{StatusCode: 401})}}, nil, 0, 0},
		"it may not be asked":                        {nil, []continuation.Option{continuation.WithWholeOutput()}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := brSettings()
				s.ReadyToTrip = func(gobreaker.Counts) bool { return false }
				b := gobreaker.NewTwoStepCircuitBreaker[any](s)
				m := continuation.Wrap(fm.New(append([]fm.Script{end}, c.probe...)...), append(c.opts, continuation.WithBreaker(b))...)
				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, c.failures, b.Counts().TotalFailures)
				assert.Equal(t, c.success, b.Counts().TotalSuccesses)
			})
		})
	}
}

// TestBreakerDoubtOfACallThatWasLeft: the slot of an end in doubt comes back when the caller goes away.
func TestBreakerDoubtOfACallThatWasLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(context.CancelFunc, *schema.StreamReader[*schema.Message]){
		"cancel": func(cancel context.CancelFunc, _ *schema.StreamReader[*schema.Message]) { cancel() },
		"close":  func(_ context.CancelFunc, r *schema.StreamReader[*schema.Message]) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := brSettings()
				s.ReadyToTrip = func(gobreaker.Counts) bool { return false }
				b := gobreaker.NewTwoStepCircuitBreaker[any](s)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				m := continuation.Wrap(fm.New(fm.Script{fm.Text("All"), fm.EOF()}, fm.Script{fm.Stall()}), continuation.WithBreaker(b))
				r, err := m.Stream(ctx, brInput())
				require.NoError(t, err)
				read := make(chan struct{})
				go func() {
					defer close(read)
					_, _ = fm.Collect(r)
				}()
				synctest.Wait() // until the probe is silent
				leave(cancel, r)
				<-read
				synctest.Wait()
				assert.Zero(t, b.Counts().TotalFailures)
				assert.Zero(t, b.Counts().TotalSuccesses)
				assert.EqualValues(t, 2, b.Counts().TotalExclusions, "both slots are back")
			})
		})
	}
}

// TestBreakerHalfOpenProbe: a half-open breaker has one slot, for the answer and for what asks whether it is whole.
func TestBreakerHalfOpenProbe(t *testing.T) {
	t.Parallel()
	end := fm.Script{fm.Text("All "), fm.Text("of it."), fm.EOF()}
	for name, c := range map[string]struct {
		probe fm.Script
		text  string
		want  gobreaker.State
	}{
		"the model sends none": {fm.Script{fm.Text("Yes."), fm.EOF()}, "All of it.", gobreaker.StateClosed},
		"it was cut":           {fm.Script{fm.Text(" And more."), fm.Finish("stop")}, "All of it. And more.", gobreaker.StateOpen},
		"the probe breaks":     {fm.Script{fm.Reset()}, "All of it.", gobreaker.StateOpen},
		"the probe is refused": {fm.Script{fm.OpenFail(brRefusal{StatusCode: 401})}, "All of it.", gobreaker.StateHalfOpen},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := brHalfOpen(t)
				inner := fm.New(end, c.probe)
				r := ctStream(t.Context(), continuation.Wrap(inner, continuation.WithBreaker(b)))
				require.NoError(t, r.err)
				assert.Equal(t, c.text, r.message(t).Content)
				assert.Len(t, inner.Requests(), 2)
				assert.Equal(t, c.want, b.State())
				if c.want == gobreaker.StateOpen {
					<-time.After(11 * time.Second) // on the bubble's clock
				}
				_, err := b.Allow()
				require.NoError(t, err, "the slot is taken for ever")
			})
		})
	}
}
