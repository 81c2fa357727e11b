package continuation_test

import (
	"context"
	"io"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestEveryCallHasOneEnd: however a call ends, the last of its events says how, how long it took and what it was billed.
func TestEveryCallHasOneEnd(t *testing.T) {
	t.Parallel()
	calls := edWhole()
	maps.Copy(calls, edFailed())
	maps.Copy(calls, edLeft())
	for name, c := range calls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m, events := ctWrap(t, c.inner, append([]continuation.Option{ctNow()}, c.opts...)...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r, err := m.Stream(ctx, ctInput())
				switch {
				case err != nil:
					assert.Zero(t, c.want.FirstContent)
				case c.end != nil:
					c.end(t, r, cancel)
				default:
					_, err = fm.Collect(r)
				}
				if c.end == nil {
					assert.Equal(t, c.want.Outcome == callbacks.OutcomeComplete || c.want.Outcome == callbacks.OutcomeRecovered, err == nil)
				}
				synctest.Wait()
				got := ctEnd(t, events)
				assert.NotEmpty(t, got.CallID)
				for _, e := range events.list() {
					assert.Equal(t, e.Of(), got.Call)
				}
				got.Call = callbacks.Call{}
				assert.Equal(t, c.want, got)
			})
		})
	}
}

// TestEndComesWithTheEnd: the consumer has all that was for it before the call's end is told of.
func TestEndComesWithTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, edBroken(), ctNow())
		r, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		defer r.Close()
		for err == nil {
			assert.Empty(t, events.ends())
			_, err = r.Recv()
		}
		require.ErrorIs(t, err, io.EOF)
		ctEnd(t, events)
		ctRest(r, 3)
		r.Close()
		r.Close()
		synctest.Wait()
		ctEnd(t, events)
	})
}

// TestEndOfAnUnreadReader: the call is over when its reader is closed, though nothing was read.
func TestEndOfAnUnreadReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, edBroken(), ctNow())
		r, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		r.Close()
		synctest.Wait()
		end := ctEnd(t, events)
		assert.Equal(t, callbacks.OutcomeCancelled, end.Outcome)
		assert.Zero(t, end.FirstContent)
	})
}

func TestEndOfGenerate(t *testing.T) {
	t.Parallel()
	const s = time.Second
	for name, c := range map[string]struct {
		inner  *fm.Model
		opts   []continuation.Option
		within func(context.Context) context.Context
		want   callbacks.Ended
	}{
		"complete": {
			inner: fm.New(fm.Script{fm.OpenFail(ctStatus(503))}, fm.Script{edSecond(), fm.Text("Hello."), fm.FinishUsage("stop", 3, 4)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeComplete, Requests: 2, Duration: s, FinishReason: "stop", Answer: edUsage(3, 4), Billed: edUsage(3, 4),
			},
		},
		"streaming": {
			inner: edBroken(), opts: []continuation.Option{continuation.WithStreamingGenerate()},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeRecovered, Requests: 2, Duration: 3 * s, FirstContent: s, FinishReason: "stop",
				Answer: edUsage(10, 8), Billed: edUsage(28, 8),
			},
		},
		"failed": {
			inner: fm.New(fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(ctStatus(401))}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 1, Duration: s, Cause: callbacks.CausePermanent},
		},
		"retries used up": {
			inner: fm.New(fm.Script{fm.OpenFail(ctStatus(401))}),
			opts:  []continuation.Option{continuation.WithOpenRetries(0)},
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 1, Cause: callbacks.CausePermanent},
		},
		"refused by the breaker": {
			inner: fm.New(),
			opts:  []continuation.Option{continuation.WithBreaker(&brScripted{refusals: []int{1}})},
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Cause: callbacks.CauseOverloaded},
		},
		"interrupt": {
			inner: fm.New(fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(adk.ErrStreamCanceled)}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s},
		},
		"cancelled": {
			inner: fm.New(fm.Script{fm.OpenStall()}),
			within: func(ctx context.Context) context.Context {
				ctx, cancel := context.WithCancelCause(ctx)
				time.AfterFunc(s, func() { cancel(errCtCause) })

				return ctx
			},
			want: callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, events, _ := ctGenerate(t, c.inner, c.within, append([]continuation.Option{ctNow()}, c.opts...)...)
			got := ctEnd(t, events)
			assert.NotEmpty(t, got.CallID)
			got.Call = callbacks.Call{}
			assert.Equal(t, c.want, got)
		})
	}
}

// TestEndOfGenerateThatPanics: a panic of the wrapped model goes through, and the call is over all the same.
func TestEndOfGenerateThatPanics(t *testing.T) {
	t.Parallel()
	m, events := ctWrap(t, fm.New(fm.Script{fm.Panic("boom")}))
	assert.Panics(t, func() { _, _ = m.Generate(t.Context(), ctInput()) })
	end := ctEnd(t, events)
	assert.Equal(t, callbacks.OutcomeFailed, end.Outcome)
	assert.Equal(t, callbacks.CauseUnknown, end.Cause)
	assert.Equal(t, 1, end.Requests)
}

// TestHandlerThatBlocksAtTheEnd: that is told, behind the end.
func TestHandlerThatBlocksAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m, events := ctWrap(t, fm.New(ctDone()), continuation.WithHandler(callbacks.HandlerFunc(
			func(context.Context, callbacks.Event) { <-release })))
		require.NoError(t, ctStream(t.Context(), m).err)
		close(release)
		require.Len(t, events.ends(), 1)
		assert.Equal(t, "llm_stream_ended", ctOnly[callbacks.HandlerStalled](t, events).Event)
	})
}

// TestRunIDThatPanics: a call that nothing else happens to is not hurt by it.
func TestRunIDThatPanics(t *testing.T) {
	t.Parallel()
	r, events := ctResult{}, (*ctEvents)(nil)
	synctest.Test(t, func(t *testing.T) {
		var m *continuation.Model
		m, events = ctWrap(t, fm.New(ctDone()), continuation.WithRunID(func(context.Context) string { panic("boom") }))
		r = ctStream(t.Context(), m)
	})
	require.NoError(t, r.err)
	assert.Equal(t, "Done.", r.text())
	assert.Empty(t, events.everything())
}

// TestInputMayChangeOnceTheReaderIsClosed: the race detector finds who still reads it.
func TestInputMayChangeOnceTheReaderIsClosed(t *testing.T) {
	t.Parallel()
	events, told := &ctEvents{}, make(chan struct{})
	m, err := continuation.New(fm.New(fm.Script{fm.Text("Hello "), fm.Stall()}), continuation.WithHandler(callbacks.HandlerFunc(func(ctx context.Context, e callbacks.Event) {
		events.Handle(ctx, e)
		close(told)
	})))
	require.NoError(t, err)
	in := ctInput()
	r, err := m.Stream(t.Context(), in)
	require.NoError(t, err)
	_, err = r.Recv()
	require.NoError(t, err)
	r.Close()
	in[0].Role = schema.Assistant
	<-told
	require.Len(t, events.ends(), 1)
	assert.Equal(t, "1", events.ends()[0].TurnID)
}

// TestEinoSeesNoEnd: the call's own run ends for its callback handlers.
func TestEinoSeesNoEnd(t *testing.T) {
	t.Parallel()
	tree := &runTree{}
	m, events := ctWrap(t, edBroken(), ctNow())
	ctx := einocallbacks.InitCallbacks(t.Context(), nil, tree.handler(true))
	require.NoError(t, ctStream(ctx, m).err)
	seen := 0
	for _, row := range tree.rows(t) {
		assert.NotContains(t, row, "llm_stream_ended")
		if strings.Contains(row, string(continuation.ComponentOfEvent)) {
			seen++
		}
	}
	assert.Equal(t, len(events.list()), seen)
	ctEnd(t, events)
}

func TestEndOfAnAgenticGenerate(t *testing.T) {
	t.Parallel()
	events := &ctEvents{}
	m, err := continuation.NewTyped[*schema.AgenticMessage](
		fm.NewAgentic(fm.Script{fm.BlockText(0, "Hello."), fm.StopReason("end_turn", 3, 4)}), continuation.WithHandler(events))
	require.NoError(t, err)
	_, err = m.Generate(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Say it.")})
	require.NoError(t, err)
	end := ctEnd(t, events)
	assert.Equal(t, callbacks.OutcomeComplete, end.Outcome)
	assert.Equal(t, "end_turn", end.FinishReason)
	assert.Equal(t, edUsage(3, 4), end.Answer)
	assert.Equal(t, edUsage(3, 4), end.Billed)
}
