package continuation_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctEach is a model that answers every request with pieces[n] and a reset, and the one behind the last with a whole end.
func ctEach(pieces ...string) *fm.Model {
	return fm.Respond(func(n int, _ []*schema.Message) fm.Script {
		if n < len(pieces) {
			return fm.Script{fm.Text(pieces[n]), fm.Reset()}
		}

		return fm.Script{fm.Text("The end."), fm.Finish("stop")}
	})
}

// ctExhausted returns the error of a call whose budget ended.
func ctExhausted(t *testing.T, r ctResult, events *ctEvents) *continuation.ExhaustedError {
	t.Helper()
	require.ErrorIs(t, r.err, continuation.ErrExhausted)
	exhausted := (*continuation.ExhaustedError)(nil)
	require.ErrorAs(t, r.err, &exhausted)
	assert.Equal(t, r.text(), exhausted.Partial.Content, "all that was delivered")
	e := ctOnly[callbacks.Exhausted](t, events)
	assert.Equal(t, exhausted.Reason, e.FinalReason)
	assert.Equal(t, exhausted.Attempts, e.Attempts)
	names := events.names()
	assert.Equal(t, e.Name(), names[len(names)-1])
	assert.Empty(t, ctOf[callbacks.Completed](events))

	return exhausted
}

func TestMaxElapsed(t *testing.T) {
	t.Parallel()
	wait := continuation.WithBackoff(func(int) time.Duration { return 16 * time.Second })
	t.Run("ends before the wait", func(t *testing.T) {
		t.Parallel()
		r, events, took := ctRun(t, ctEach("One, ", "two, ", "three, "), wait, continuation.WithMaxElapsed(30*time.Second))
		exhausted := ctExhausted(t, r, events)
		assert.Equal(t, continuation.ReasonMaxElapsed, exhausted.Reason)
		assert.Equal(t, 1, exhausted.Attempts)
		ctBetween(t, 16*time.Second, took)
		assert.Len(t, r.requests, 2)
	})
	t.Run("does not cut what is healthy", func(t *testing.T) {
		t.Parallel()
		r, _, took := ctRun(t, fm.New(fm.Script{fm.Text("a"), fm.Idle(time.Minute), fm.Text("b"), fm.Finish("stop")}),
			continuation.WithMaxElapsed(time.Second))
		require.NoError(t, r.err)
		assert.Equal(t, time.Minute, took)
	})
	t.Run("tool calls need no time", func(t *testing.T) {
		t.Parallel()
		r, _, _ := ctRun(t, fm.New(fm.Script{fm.Idle(time.Minute), fm.Call(0, "c1", "add", `{}`), fm.Reset()}), continuation.WithMaxElapsed(time.Second))
		require.NoError(t, r.err)
		assert.Equal(t, "tool_calls", r.message(t).ResponseMeta.FinishReason)
	})
}

func TestNoProgressLimit(t *testing.T) {
	t.Parallel()
	nothing := fm.Script{fm.OpenFail(fm.ResetError())}
	t.Run("in a row", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("One, "), fm.Reset()}, nothing, nothing, nothing), continuation.WithNoProgressLimit(2))
		exhausted := ctExhausted(t, r, events)
		assert.Equal(t, continuation.ReasonNoProgress, exhausted.Reason)
		assert.Equal(t, 2, exhausted.Attempts)
		assert.Len(t, r.requests, 3)
	})
	t.Run("progress between", func(t *testing.T) {
		t.Parallel()
		more := func(s string) fm.Script { return fm.Script{fm.Text(s), fm.Reset()} }
		r, _, _ := ctRun(t, fm.New(more("One, "), nothing, more("two, "), nothing, more("three, "), fm.Script{fm.Text("end."), fm.Finish("stop")}),
			continuation.WithNoProgressLimit(2))
		require.NoError(t, r.err)
		assert.Equal(t, "One, two, three, end.", r.text())
	})
}

func TestBudgetReset(t *testing.T) {
	t.Parallel()
	pieces := []string{"Apples, ", "bananas, ", "cherries, ", "damsons, ", "elderberries, ", "figs and dates, ", "gooseberries, ", "hazelnuts, "}
	t.Run("progress gives it back", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, ctEach(pieces...), continuation.WithBudgetReset(5))
		require.NoError(t, r.err)
		assert.Equal(t, "Apples, bananas, cherries, damsons, elderberries, figs and dates, gooseberries, hazelnuts, The end.", r.text())
		for i, s := range ctOf[callbacks.Started](events) {
			assert.Equal(t, i+1, s.ContinuationAttempt)
			ctBetween(t, time.Second, s.Backoff)
		}
	})
	for name, opts := range map[string][]continuation.Option{"too little progress": {continuation.WithBudgetReset(100)}, "off": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, ctEach(pieces...), opts...)
			exhausted := ctExhausted(t, r, events)
			assert.Equal(t, continuation.ReasonMaxContinuations, exhausted.Reason)
			assert.Equal(t, 5, exhausted.Attempts)
			assert.Len(t, r.requests, 6)
		})
	}
}

func TestContinuationThatCannotBeOpenedUsesOne(t *testing.T) {
	t.Parallel()
	inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
		if n == 0 {
			return fm.Script{fm.Text("Hello "), fm.Reset()}
		}

		return fm.Script{fm.OpenFail(ctStatus(503))}
	})
	r, events, _ := ctRun(t, inner, continuation.WithOpenRetries(9))
	exhausted := ctExhausted(t, r, events)
	assert.Equal(t, 5, exhausted.Attempts)
	assert.Len(t, r.requests, 6)
	assert.Empty(t, ctOf[callbacks.OpenRetried](events))
	assert.Len(t, ctOf[callbacks.Failed](events), 5)
	for i, s := range ctOf[callbacks.Started](events) {
		ctBetween(t, time.Second<<i, s.Backoff)
	}
}

func TestContinuationRefusedForGood(t *testing.T) {
	t.Parallel()
	refusal := ctStatus(401)
	first := fm.ResetError()
	for name, second := range map[string]fm.Script{"by Stream": {fm.OpenFail(refusal)}, "by Recv": {fm.Role(), fm.Fail(refusal)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Fail(first)}, second))
			exhausted := ctExhausted(t, r, events)
			assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
			assert.Same(t, first, exhausted.First)
			assert.Same(t, refusal, exhausted.Last)
			assert.Equal(t, 1, exhausted.Attempts)
			assert.Len(t, ctOf[callbacks.Failed](events), 1)
		})
	}
}

func TestPermanentErrorAfterContent(t *testing.T) {
	t.Parallel()
	refusal := ctStatus(401)
	r, events, took := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Call(0, "c1", "add", `{}`), fm.Fail(refusal)}))
	assert.Same(t, refusal, r.err)
	assert.Equal(t, "Hello ", r.text())
	assert.Zero(t, took)
	assert.Len(t, r.requests, 1)
	assert.Empty(t, ctOf[callbacks.Interrupted](events))
}

func TestWaitNeverOverflows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		opts []continuation.Option
	}{
		"back-off": {fm.ResetError(), []continuation.Option{continuation.WithBackoff(func(int) time.Duration { return math.MaxInt64 })}},
		"Retry-After": {ctComeBack(429, "Retry-After", "99999999999999"), []continuation.Option{
			continuation.WithRetryAfterCap(math.MaxInt64), ctNow(),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(fm.Script{fm.Text("Hello "), fm.Fail(c.err)}, fm.Script{fm.Text("too soon"), fm.Finish("stop")})
				m, _ := ctWrap(t, inner, c.opts...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r := ctStream(ctx, m)
				assert.True(t, errors.Is(r.err, context.DeadlineExceeded), "%v", r.err)
				assert.Len(t, inner.Requests(), 1)
				ctLetGo(t, inner)
			})
		})
	}
}

func TestNegativeBackoffIsNone(t *testing.T) {
	t.Parallel()
	r, _, took := ctRun(t, ctEach("Hello, "), continuation.WithBackoff(func(int) time.Duration { return -time.Hour }))
	require.NoError(t, r.err)
	assert.Zero(t, took)
}
