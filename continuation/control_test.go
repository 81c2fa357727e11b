package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctAt is when control strikes, on the clock of each cell.
const ctAt = 10 * time.Second

// ctMoment is where a call stands when control strikes: silent at ctAt, or right after the consumer has read some chunks.
type ctMoment struct {
	name     string
	scripts  func(silence fm.Step) []fm.Script
	backoff  time.Duration
	after    int  // chunks; 0: at ctAt
	opening  bool // Stream has not returned
	waiting  bool // nothing is asked of the wrapped model
	started  bool // a continuation has been started
	requests int
}

func ctMoments() []ctMoment {
	text := fm.Text("Hello wor")
	unavailable := fm.OpenFail(&ctStatusError{HTTPStatusCode: 503, Message: "unavailable"})

	return []ctMoment{
		{name: "opening", opening: true, requests: 1, scripts: func(s fm.Step) []fm.Script { return []fm.Script{{s}} }},
		{name: "before content", requests: 1, scripts: func(s fm.Step) []fm.Script { return []fm.Script{{fm.Role(), s}} }},
		{name: "mid text", requests: 1, scripts: func(s fm.Step) []fm.Script { return []fm.Script{{text, s}} }},
		{name: "held tool call", requests: 1, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Call(0, "c1", "add", `{"a":`), s}}
		}},
		{name: "join hold", started: true, requests: 2, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{fm.Text("Hello world and"), fm.Reset()}, {fm.Idle(ctAt - 100*time.Millisecond), fm.Text("Hel"), s}}
		}},
		{name: "back-off", backoff: 16 * time.Second, waiting: true, started: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Reset()}}
		}},
		{name: "open retry wait", backoff: 16 * time.Second, waiting: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{unavailable}}
		}},
		{name: "continuation opening", started: true, requests: 2, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Reset()}, {s}}
		}},
		{name: "restart opening", started: true, requests: 2, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{fm.Reasoning("Hm"), fm.Reset()}, {s}}
		}},
		{name: "mid continuation", started: true, requests: 2, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Reset()}, {fm.Text("ld, and more of it."), s}}
		}},
		{name: "probing", started: true, requests: 2, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.EOF()}, {fm.Text("ld"), s}}
		}},
		{name: "after the last content", after: 2, requests: 1, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Text("ld."), s, fm.Finish("stop")}}
		}},
		{name: "after the finish reason", after: 2, requests: 1, scripts: func(s fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Finish("stop"), s}}
		}},
		{name: "with chunks ready", after: 2, waiting: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Call(0, "c1", "add", `{"a":`), fm.Text("never seen"), fm.Call(0, "", "", `1}`), fm.Stall()}}
		}},
		{name: "at EOF", after: 2, waiting: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Finish("stop")}}
		}},
		{name: "at EOF without a finish reason", after: 1, waiting: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{text, fm.EOF()}}
		}},
		{name: "at an error", after: 1, waiting: true, requests: 1, scripts: func(fm.Step) []fm.Script {
			return []fm.Script{{text, fm.Reset()}}
		}},
	}
}

// ctSignal is a way in which the caller takes control. The ones with below come from the wrapped model.
type ctSignal struct {
	name  string
	below error
	ctx   func(context.Context) (ctx context.Context, strike func())
	close bool
	is    []error
}

var errCtCause = errors.New("the user pressed stop")

func ctSignals(t *testing.T) []ctSignal {
	t.Helper()
	canceled := &adk.StreamCanceledError{}
	rerun := compose.Interrupt(t.Context(), "approve?")
	interrupted := ctGraphInterrupt(t)

	return []ctSignal{
		{name: "cancel", is: []error{context.Canceled}, ctx: func(ctx context.Context) (context.Context, func()) {
			return context.WithCancel(ctx)
		}},
		{name: "cancel with a cause", is: []error{context.Canceled, errCtCause}, ctx: func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(ctx)

			return ctx, func() { cancel(errCtCause) }
		}},
		{name: "deadline", is: []error{context.DeadlineExceeded}, ctx: func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeout(ctx, ctAt)

			return ctx, func() { <-ctx.Done(); cancel() }
		}},
		{name: "deadline with a cause", is: []error{context.DeadlineExceeded, errCtCause}, ctx: func(ctx context.Context) (context.Context, func()) {
			ctx, cancel := context.WithTimeoutCause(ctx, ctAt, errCtCause)

			return ctx, func() { <-ctx.Done(); cancel() }
		}},
		{name: "close", close: true, is: []error{schema.ErrRecvAfterClosed}},
		{name: "ErrStreamCanceled", below: adk.ErrStreamCanceled, is: []error{adk.ErrStreamCanceled}},
		{name: "StreamCanceledError wrapped", below: fmt.Errorf("below: %w", canceled), is: []error{canceled}},
		{name: "rerun interrupt", below: rerun, is: []error{rerun}},
		{name: "rerun sentinel", below: compose.InterruptAndRerun, is: []error{compose.InterruptAndRerun}}, //nolint:staticcheck // still raised by older tools
		{name: "interrupted graph", below: interrupted, is: []error{interrupted}},
		{name: "interrupted graph wrapped", below: fmt.Errorf("below: %w", interrupted), is: []error{interrupted}},
	}
}

// ctGraphInterrupt returns what a graph returns that was interrupted in one of its nodes.
func ctGraphInterrupt(t *testing.T) error {
	t.Helper()
	g := compose.NewGraph[string, string]()
	require.NoError(t, g.AddLambdaNode("ask", compose.InvokableLambda(func(ctx context.Context, _ string) (string, error) {
		return "", compose.Interrupt(ctx, "approve?")
	})))
	require.NoError(t, g.AddEdge(compose.START, "ask"))
	require.NoError(t, g.AddEdge("ask", compose.END))
	run, err := g.Compile(t.Context())
	require.NoError(t, err)
	_, err = run.Invoke(t.Context(), "x")
	require.Error(t, err)
	_, is := compose.ExtractInterruptInfo(err)
	require.True(t, is, "%T: %v", err, err)

	return err
}

func TestControlWinsEverywhere(t *testing.T) {
	t.Parallel()
	for _, signal := range ctSignals(t) {
		for _, moment := range ctMoments() {
			if signal.below != nil && moment.waiting || signal.close && moment.opening {
				continue // it cannot happen there
			}
			t.Run(signal.name+"/"+moment.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { ctControl(t, signal, moment) })
			})
		}
	}
}

// ctControl plays one cell: the call ends the moment control strikes, with its error, and that is all that happens.
func ctControl(t *testing.T, signal ctSignal, moment ctMoment) {
	t.Helper()
	silence := fm.Stall()
	switch {
	case moment.opening || moment.name == "continuation opening" || moment.name == "restart opening":
		silence = fm.OpenStall()
		if signal.below != nil {
			silence = fm.ThenMore(fm.OpenIdle(ctAt), fm.OpenFail(signal.below))
		}
	case signal.below != nil && moment.name == "join hold":
		silence = fm.ThenMore(fm.Idle(100*time.Millisecond), fm.Fail(signal.below))
	case signal.below != nil:
		silence = fm.ThenMore(fm.Idle(ctAt), fm.Fail(signal.below), fm.Text("never seen"))
	}
	inner := fm.New(moment.scripts(silence)...)
	m, events := ctWrap(t, inner, continuation.WithBackoff(func(int) time.Duration { return moment.backoff }))

	began, err := ctStrike(t, m, signal, moment)

	assert.Equal(t, ctAt, time.Since(began), "it ended late")
	for _, want := range signal.is {
		assert.ErrorIs(t, err, want)
	}
	if signal.below != nil {
		assert.Same(t, signal.below, err, "not untouched")
	}
	exhausted := (*continuation.ExhaustedError)(nil)
	assert.False(t, errors.As(err, &exhausted), "%v", err)

	ctLetGo(t, inner)
	assert.Len(t, inner.Requests(), moment.requests)
	assert.Empty(t, ctOf[callbacks.Completed](events))
	assert.Empty(t, ctOf[callbacks.Failed](events))
	assert.Empty(t, ctOf[callbacks.Exhausted](events))
	assert.Empty(t, ctOf[callbacks.LateError](events))
	if moment.started {
		ctOnly[callbacks.Cancelled](t, events)
		names := events.names()
		assert.Equal(t, "llm_stream_continuation_cancelled", names[len(names)-1])
	} else {
		assert.Empty(t, ctOf[callbacks.Cancelled](events))
		assert.Empty(t, ctOf[callbacks.Interrupted](events))
	}
}

// ctStrike makes the call, takes control at the moment, and returns the call's error and when the call began.
func ctStrike(t *testing.T, m *continuation.Model, signal ctSignal, moment ctMoment) (time.Time, error) {
	t.Helper()
	ctx, strike := t.Context(), func() {}
	if signal.ctx != nil {
		ctx, strike = signal.ctx(ctx)
	}
	began := time.Now()
	if signal.ctx != nil && moment.after == 0 {
		time.AfterFunc(ctAt, strike)
	}
	reader, err := m.Stream(ctx, ctInput())
	if err != nil {
		return began, err
	}
	require.False(t, moment.opening, "Stream returned a reader")
	t.Cleanup(reader.Close)
	if signal.close {
		strike = reader.Close
		if moment.after == 0 {
			time.AfterFunc(ctAt, strike)
		}
	}
	for n := 0; ; n++ {
		if n > 0 && n == moment.after && signal.below == nil {
			<-time.After(time.Until(began.Add(ctAt)))
			strike()
			synctest.Wait()
		}
		m, err := reader.Recv()
		if err != nil {
			assert.Equal(t, io.EOF, ctRest(reader, 3)[0], "after the error comes the end")

			return began, err
		}
		assert.NotContains(t, m.Content, "never seen")
	}
}

func TestControlOfTheProviderIsNone(t *testing.T) {
	t.Parallel()
	for _, provider := range []error{
		context.Canceled, context.DeadlineExceeded, fmt.Errorf("post: %w", context.Canceled), errors.New("request was cancelled by the server"),
	} {
		t.Run(provider.Error(), func(t *testing.T) {
			t.Parallel()
			inner := fm.New(fm.Script{fm.Text("Hello "), fm.Fail(provider)}, fm.Script{fm.Text("world."), fm.Finish("stop")})
			r, events, _ := ctRun(t, inner, ctNow())
			require.NoError(t, r.err)
			assert.Equal(t, "Hello world.", r.text())
			assert.Empty(t, ctOf[callbacks.Cancelled](events))
		})
	}
}

// TestNobodyIsAskedForACallerWhoIsGone: a request whose context has ended by the time at which it is due is not made, also if
// there is no wait before it.
func TestNobodyIsAskedForACallerWhoIsGone(t *testing.T) {
	t.Parallel()
	gone := errors.New("the user has left")
	for name, tt := range map[string]struct {
		script   fm.Script
		requests int
	}{
		"before the first":             {nil, 0},
		"when the first is made again": {fm.Script{fm.OpenFail(ctStatus(503))}, 1},
		"when a continuation is due":   {fm.Script{fm.Text("a"), fm.Reset()}, 1},
		"when a restart is due":        {fm.Script{fm.Reasoning("Hm"), fm.Reset()}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				if tt.requests == 0 {
					cancel(gone)
				}
				leaves := callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
					switch e.(type) {
					case callbacks.OpenRetried, callbacks.Started:
						cancel(gone)
					}
				})
				inner := fm.New(tt.script, tt.script)
				r := ctStream(ctx, continuation.Wrap(inner, ctNow(), continuation.WithHandler(leaves)))
				synctest.Wait()
				require.ErrorIs(t, r.err, gone)
				require.ErrorIs(t, r.err, context.Canceled)
				require.Len(t, inner.Requests(), tt.requests)

				_, err := continuation.Wrap(inner).Generate(ctx, ctInput())
				require.ErrorIs(t, err, gone)
				require.Len(t, inner.Requests(), tt.requests, "nor for a whole answer")
			})
		})
	}
}
