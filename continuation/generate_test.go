package continuation_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctGenerate calls Generate in a bubble of its own.
func ctGenerate(t *testing.T, inner *fm.Model, ctx func(context.Context) context.Context, opts ...continuation.Option) (msg *schema.Message, r ctResult, events *ctEvents, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, ev := ctWrap(t, inner, opts...)
		c := t.Context()
		if ctx != nil {
			c = ctx(c)
		}
		began := time.Now()
		msg, r.err = m.Generate(c, ctInput(), model.WithTemperature(0.5))
		events, took = ev, time.Since(began)
		synctest.Wait()
		assert.Zero(t, inner.Open()+inner.Unclosed())
		r.requests = inner.Requests()
		for _, q := range r.requests {
			assert.InDelta(t, 0.5, *q.Options.Temperature, 0)
		}
	})

	return msg, r, events, took
}

func TestGeneratePassesThrough(t *testing.T) {
	t.Parallel()
	script := fm.Script{fm.Text("Hello."), fm.Call(0, "c1", "add", `{"a":`), fm.FinishUsage("length", 3, 4)}
	msg, r, events, took := ctGenerate(t, fm.New(script), nil)
	require.NoError(t, r.err)
	assert.Equal(t, script.Message(t), msg)
	assert.Zero(t, took)
	require.Len(t, r.requests, 1)
	assert.True(t, r.requests[0].Generate)
	assert.Len(t, r.requests[0].Raw, 1)
	assert.Equal(t, ctInput(), r.requests[0].Messages)
	assert.Empty(t, events.list())
}

func TestGenerateIsMadeAgain(t *testing.T) {
	t.Parallel()
	msg, r, events, took := ctGenerate(t, fm.New(
		fm.Script{fm.OpenFail(ctComeBack(429, "Retry-After", "7"))}, fm.Script{fm.Text("Hel"), fm.Reset()}, fm.Script{fm.Text("Hello."), fm.Finish("stop")},
	), nil)
	require.NoError(t, r.err)
	assert.Equal(t, "Hello.", msg.Content)
	retried := ctOf[callbacks.OpenRetried](events)
	require.Len(t, retried, 2)
	ctBetween(t, 7*time.Second, retried[0].Backoff)
	ctBetween(t, 2*time.Second, retried[1].Backoff)
	assert.Equal(t, retried[0].Backoff+retried[1].Backoff, took)
	for _, q := range r.requests {
		assert.Equal(t, ctInput(), q.Messages)
	}
}

func TestGenerateThatFails(t *testing.T) {
	t.Parallel()
	unavailable := ctStatus(503)
	again := func(err error) *fm.Model {
		return fm.Respond(func(int, []*schema.Message) fm.Script { return fm.Script{fm.OpenFail(err)} })
	}
	for name, c := range map[string]struct {
		err      error
		opts     []continuation.Option
		requests int
	}{
		"permanent":   {ctStatus(401), nil, 1},
		"unknown":     {errors.New("what"), nil, 1},
		"retries off": {unavailable, []continuation.Option{continuation.WithOpenRetries(0)}, 1},
		"used up":     {unavailable, nil, 3},
		"above cap":   {ctComeBack(429, "Retry-After", "61"), nil, 1},
		"too late":    {unavailable, []continuation.Option{continuation.WithMaxElapsed(2 * time.Second)}, 2},
		"interrupt":   {adk.ErrStreamCanceled, nil, 1},
		"no recovery": {unavailable, []continuation.Option{continuation.WithMaxContinuations(0)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			msg, r, events, _ := ctGenerate(t, again(c.err), nil, c.opts...)
			assert.Nil(t, msg)
			assert.Same(t, c.err, r.err)
			assert.Len(t, r.requests, c.requests)
			assert.Len(t, ctOf[callbacks.OpenRetried](events), c.requests-1)
		})
	}
}

func TestGenerateEndsWithItsContext(t *testing.T) {
	t.Parallel()
	within := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(ctAt, func() { cancel(errCtCause) })

		return ctx
	}
	long := continuation.WithBackoff(func(int) time.Duration { return 16 * time.Second })
	for name, script := range map[string]fm.Script{"in the request": {fm.OpenStall()}, "in the answer": {fm.Text("a"), fm.Stall()}, "in the wait": {fm.OpenFail(ctStatus(503))}} {
		for how, opts := range map[string][]continuation.Option{"": {long}, ", streaming": {long, continuation.WithStreamingGenerate()}} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				_, r, _, took := ctGenerate(t, fm.New(script), within, opts...)
				require.ErrorIs(t, r.err, errCtCause)
				assert.Equal(t, ctAt, took)
				assert.Len(t, r.requests, 1)
			})
		}
	}
}

func TestGenerateDropsARefusedHint(t *testing.T) {
	t.Parallel()
	in := ctTurn(t, true)
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.OpenFail(ctStatus(400))}, ctDone(), ctDone())
		m, events := ctWrap(t, inner, continuation.WithOpenRetries(0))
		for range 2 {
			msg, err := m.Generate(t.Context(), in)
			require.NoError(t, err)
			assert.Equal(t, "Done.", msg.Content)
		}
		requests := inner.Requests()
		require.Len(t, requests, 3)
		assert.Len(t, requests[0].Messages, len(in)+1)
		assert.Len(t, requests[1].Messages, len(in))
		assert.Len(t, requests[2].Messages, len(in))
		assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticeHintRefused}, ctNotices(events))
	})
}

func TestStreamingGenerate(t *testing.T) {
	t.Parallel()
	stream := continuation.WithStreamingGenerate()
	msg, r, events, _ := ctGenerate(t, fm.New(
		fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.FinishUsage("stop", 3, 4)},
	), nil, stream)
	require.NoError(t, r.err)
	assert.Equal(t, "Hello world.", msg.Content)
	assert.Equal(t, "stop", msg.ResponseMeta.FinishReason)
	assert.Equal(t, 1, msg.Extra[continuation.ExtraContinuations])
	ctOnly[callbacks.Completed](t, events)
	for _, q := range r.requests {
		assert.False(t, q.Generate)
	}

	msg, r, _, _ = ctGenerate(t, ctEach("One, ", "two, ", "three, "), nil, stream, continuation.WithMaxContinuations(1))
	require.ErrorIs(t, r.err, continuation.ErrExhausted)
	assert.Nil(t, msg)

	refusal := ctStatus(401)
	_, r, _, _ = ctGenerate(t, fm.New(fm.Script{fm.OpenFail(refusal)}), nil, stream)
	assert.Same(t, refusal, r.err)
}
