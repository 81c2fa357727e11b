package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// bdListError is an error that cannot be compared: == with another of its type panics.
type bdListError []string

func (e bdListError) Error() string { return strings.Join(e, ", ") }

// TestErrorsThatCannotBeCompared: they come out as the first and the last cause like any others.
func TestErrorsThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Text("Hello wor"), fm.Fail(bdListError{"one"})}, fm.Script{fm.Text("ld"), fm.Fail(bdListError{"two"})},
	), ctNow(), continuation.WithMaxContinuations(1))
	exhausted := ctExhausted(t, r, events)
	assert.Equal(t, bdListError{"one"}, exhausted.First)
	assert.Equal(t, bdListError{"two"}, exhausted.Last)
	assert.ErrorContains(t, r.err, "two")
	assert.NotErrorIs(t, r.err, context.Canceled)
}

// TestErrorThatWrapsErrNoValue: Eino's readers skip such an error of a conversion; the decorator's must end with it.
func TestErrorThatWrapsErrNoValue(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("refused: %w", schema.ErrNoValue)
	for name, c := range map[string]struct {
		scripts []fm.Script
		kind    continuation.Kind
	}{
		"for good":     {[]fm.Script{{fm.Text("Hello "), fm.Reset()}, {fm.OpenFail(cause)}}, continuation.InvalidRequest},
		"for too long": {[]fm.Script{{fm.Text("Hello "), fm.Reset()}, {fm.OpenFail(cause)}}, continuation.Transient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := coRun(t, "OpenAI", c.scripts, continuation.WithMaxContinuations(1), continuation.WithClassifier(func(err error) continuation.Class {
				if errors.Is(err, schema.ErrNoValue) {
					return continuation.Class{Kind: c.kind}
				}

				return continuation.DefaultClassifier(err)
			}))
			require.ErrorIs(t, run.err, continuation.ErrExhausted)
			assert.ErrorContains(t, run.err, cause.Error())
		})
	}
}

// bdLeaver is a model that ends the goroutine it is called on, in Stream or at the first chunk without content.
type bdLeaver struct {
	*fm.Model
	inStream bool
}

func (m bdLeaver) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, err := m.Model.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	if m.inStream {
		r.Close()
		runtime.Goexit()
	}

	return schema.StreamReaderWithConvert(r, func(m *schema.Message) (*schema.Message, error) {
		if m.Content == "" && m.ResponseMeta == nil && len(m.ToolCalls) == 0 {
			runtime.Goexit()
		}

		return m, nil
	}), nil
}

// TestModelThatEndsItsGoroutine: a model that calls runtime.Goexit, as a failing test does, fails like any other; nobody
// waits for it.
func TestModelThatEndsItsGoroutine(t *testing.T) {
	t.Parallel()
	leave := fm.Text("")
	for name, c := range map[string]struct {
		inStream bool
		scripts  []fm.Script
		text     string
		failed   bool
	}{
		"in Stream":               {inStream: true, scripts: []fm.Script{{fm.Text("Hello "), fm.Finish("stop")}}, failed: true},
		"in Recv, before content": {scripts: []fm.Script{{leave}}, failed: true},
		"in Recv, behind content": {scripts: []fm.Script{{fm.Text("Hello "), leave}, {fm.Text("world."), fm.Finish("stop")}}, text: "Hello world."},
		"in Recv, behind the end": {scripts: []fm.Script{{fm.Text("Hello world."), fm.Finish("stop"), leave}}, text: "Hello world."},
		"beside a whole call":     {scripts: []fm.Script{{fm.Text("Hello "), fm.Call(0, "c1", "f", "{}"), leave}}, text: "Hello "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(c.scripts...)
				m, events := ctWrap(t, bdLeaver{inner, c.inStream})
				began := time.Now()
				r := ctStream(t.Context(), m)
				assert.Less(t, time.Since(began), 2*time.Second, "no limit had to pass")
				ctLetGo(t, inner)
				assert.Len(t, inner.Requests(), len(c.scripts))
				if c.failed {
					require.ErrorContains(t, r.err, "ended its goroutine")
					assert.Empty(t, events.names())

					return
				}
				require.NoError(t, r.err)
				assert.Equal(t, c.text, r.text())
				assert.NotEmpty(t, events.names())
			})
		})
	}
}

// bdBreaker is a circuit breaker that panics when it is asked, or when it is told.
type bdBreaker struct{ asked bool }

func (b bdBreaker) Allow() (func(error), error) {
	if b.asked {
		panic("boom")
	}

	return func(error) { panic("boom") }, nil
}

// TestPanicOfAnOptionKeepsTheGrammar: it is an error of the stream, and the events before it have their ends.
func TestPanicOfAnOptionKeepsTheGrammar(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]continuation.Option{
		"a prompt":               continuation.WithPrompt(func(continuation.Interruption) string { panic("boom") }),
		"a breaker that is told": continuation.WithBreaker(bdBreaker{}),
		"one that is asked":      continuation.WithBreaker(bdBreaker{asked: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := coRun(t, "OpenAI", []fm.Script{{fm.Text("Hello "), fm.Reset()}, ctDone()}, opt)
			panicked := (*continuation.PanicError)(nil)
			require.ErrorAs(t, errors.Join(run.streamErr, run.err), &panicked)
			assert.Equal(t, "boom", panicked.Value)
			assert.LessOrEqual(t, len(run.requests), 1)
		})
	}
}

// TestInputsOfAllShapes: an empty input, a nil one, and nil messages in it are continued like any other.
func TestInputsOfAllShapes(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]*schema.Message{
		"nil": nil, "empty": {}, "a nil message": {nil}, "a nil message at the end": {schema.UserMessage("Say it."), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests, text, _ := ctCallWith(t, fm.New(fm.Script{fm.Text("Hel"), fm.Reset()}, fm.Script{fm.Text("lo."), fm.Finish("stop")}), in, nil)
			assert.Equal(t, "Hello.", text)
			require.Len(t, requests, 2)
			require.Len(t, requests[1].Messages, len(in)+2)
			assert.Equal(t, schema.AssistantMessage("Hel", nil), requests[1].Messages[len(in)])
		})
	}
}

// TestCloseBeforeAnErrorWasRead: what was ready, and the error behind it, is gone with the Close; there is no clean end.
func TestCloseBeforeAnErrorWasRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := fm.Script{fm.Text("Go. "), fm.Call(0, "c1", "search", `{"q":`)}
		for i := range 20 {
			script = append(script, fm.Text(fmt.Sprintf("text %d ", i)))
		}
		inner := fm.New(append(script, fm.Fail(ctStatus(503))))
		m, _ := ctWrap(t, inner, continuation.WithMaxElapsed(1))
		r, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		for range 3 {
			_, err = r.Recv()
			require.NoError(t, err)
		}
		r.Close()
		ctLetGo(t, inner)
		_, err = r.Recv()
		assert.ErrorIs(t, err, schema.ErrRecvAfterClosed)
	})
}

// TestPrefillRefusedBehindAChunk: the attempt in the other dialect brings what the refused one had begun with.
func TestPrefillRefusedBehindAChunk(t *testing.T) {
	t.Parallel()
	trace := fm.Chunk(exExtra(exText(""), map[string]any{"trace": "t1"}))
	run := coRun(t, "OpenAI", []fm.Script{
		{fm.Text("Hello wor"), fm.Reset()},
		{trace, fm.Fail(&ctStatusError{HTTPStatusCode: 400, Message: "must end with a user message"})},
		{trace, fm.Text("ld."), fm.Finish("stop")},
	}, continuation.WithDialect(continuation.Prefill()))
	m := run.message(t)
	assert.Equal(t, "Hello world.", m.Content)
	assert.Equal(t, "t1", m.Extra["trace"], "once")
}

// TestGenerateWaitsForTheBreaker: Generate heeds the breaker as Stream does, and tells of it.
func TestGenerateWaitsForTheBreaker(t *testing.T) {
	t.Parallel()
	msg, r, events, took := ctGenerate(t, fm.New(fm.Script{fm.OpenFail(ctStatus(503))}, ctDone()), nil,
		continuation.WithCircuitBreaker(brSettings(), continuation.WaitWhenOpen))
	require.NoError(t, r.err)
	assert.Equal(t, "Done.", msg.Content)
	assert.GreaterOrEqual(t, took, brSettings().Timeout)
	var states []string
	for _, e := range ctOf[callbacks.BreakerChanged](events) {
		states = append(states, e.To)
	}
	assert.Equal(t, []string{"open", "half-open", "closed"}, states)
	assert.Len(t, r.requests, 2)
}

// TestKeepAlivesAreNoFirstContent: a model that sends nothing but empty chunks, however fast, is silent.
func TestKeepAlivesAreNoFirstContent(t *testing.T) {
	t.Parallel()
	const limit = 200 * time.Millisecond
	script := fm.Script{}
	for range 4 * limit / time.Millisecond {
		script = append(script, fm.Nil(), fm.Text(""), fm.Role(), fm.Idle(time.Millisecond))
	}
	r, _, took := ctRun(t, fm.New(append(script, ctDone()...)), continuation.WithFirstContentTimeout(limit), continuation.WithOpenRetries(0))
	require.ErrorIs(t, r.err, continuation.ErrIdleStall)
	assert.Equal(t, limit, took)
}

// TestSpaceBehindALargeCall: what comes behind a call does not copy the call.
func TestSpaceBehindALargeCall(t *testing.T) {
	// Not parallel: it counts what is allocated.
	const size, pieces = 4 << 20, 1000
	script := fm.Script{fm.Call(0, "c1", "paint", `{"a":"`+strings.Repeat("x", size)+`"}`)}
	for range pieces {
		script = append(script, fm.Call(0, "", "", " "))
	}
	inner := fm.New(append(script, fm.Finish("tool_calls")))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, _, _ := ctRun(t, inner)
	runtime.ReadMemStats(&after)
	require.NoError(t, r.err)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16*size), "bytes allocated")
}
