package places_test

import (
	"context"
	"errors"
	"time"

	"github.com/cloudwego/eino/adk"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// moment is where an agent's model call stands when its user takes control.
type moment struct {
	name    string
	scripts func(open, silence fm.Step) []fm.Script // open and silence last until the call is ended, or released
	reached func([]fm.Request) bool
	waiting bool // in a back-off: reached when the continuation is announced
	opening bool // Stream has not returned
}

func moments() []moment {
	call, finish := fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Finish("tool_calls")
	sent := func(n, chunks int) func([]fm.Request) bool {
		return func(all []fm.Request) bool { return len(all) == n && all[n-1].Sent >= chunks }
	}

	return []moment{
		{
			name: "opening", opening: true, reached: sent(1, 0),
			scripts: func(open, _ fm.Step) []fm.Script {
				return []fm.Script{{open, fm.Text("Let me "), fm.Text("look."), call, finish}}
			},
		},
		{
			name: "silent", reached: sent(1, 1),
			scripts: func(_, silence fm.Step) []fm.Script {
				return []fm.Script{{fm.Text("Let me "), silence, fm.Text("look."), call, finish}}
			},
		},
		{
			name: "holding a call", reached: sent(1, 2),
			scripts: func(_, silence fm.Step) []fm.Script {
				return []fm.Script{{
					fm.Text("Let me look."), fm.Call(0, "c1", "look", `{"what":`), silence, fm.Call(0, "", "", `"here"}`), finish,
				}}
			},
		},
		{
			name: "waiting", waiting: true,
			scripts: func(open, _ fm.Step) []fm.Script {
				return []fm.Script{{fm.Text("Let me "), fm.Reset()}, {open, fm.Text("look."), call, finish}}
			},
		},
		{
			name: "continuation opening", reached: sent(2, 0),
			scripts: func(open, _ fm.Step) []fm.Script {
				return []fm.Script{{fm.Text("Let me "), fm.Reset()}, {open, fm.Text("look."), call, finish}}
			},
		},
		{
			name: "joining", reached: sent(2, 1),
			scripts: func(_, silence fm.Step) []fm.Script {
				return []fm.Script{{fm.Text("Let me "), fm.Reset()}, {fm.Text("lo"), silence, fm.Text("ok."), call, finish}}
			},
		},
		{
			name: "at the last chunk", reached: sent(2, 3),
			scripts: func(_, silence fm.Step) []fm.Script {
				return []fm.Script{{fm.Text("Let me "), fm.Reset()}, {fm.Text("look."), call, finish, silence}}
			},
		},
	}
}

// signal is a way to take control of an agent that runs.
type signal struct {
	name string
	mode []adk.AgentCancelOption // of Eino's cancel function
	ctx  func(context.Context) (context.Context, func())
	is   error // of the run, if the context ends it
	late bool  // the model's answer is waited for
}

func signals() []signal {
	return []signal{
		{name: "immediate", mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelImmediate)}},
		{name: "immediate, recursive", mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelImmediate), adk.WithRecursive()}},
		{
			name: "after the model, but not for long",
			mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelAfterChatModel), adk.WithAgentCancelTimeout(time.Millisecond)},
		},
		{name: "after the model", late: true, mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelAfterChatModel)}},
		{name: "after the tools", late: true, mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelAfterToolCalls), adk.WithRecursive()}},
		{
			name: "after either", late: true,
			mode: []adk.AgentCancelOption{adk.WithAgentCancelMode(adk.CancelAfterChatModel | adk.CancelAfterToolCalls)},
		},
		{
			name: "context", is: context.Canceled,
			ctx: func(ctx context.Context) (context.Context, func()) { return context.WithCancel(ctx) },
		},
		{
			name: "context with a cause", is: errUser,
			ctx: func(ctx context.Context) (context.Context, func()) {
				ctx, cancel := context.WithCancelCause(ctx)

				return ctx, func() { cancel(errUser) }
			},
		},
		{
			name: "deadline", is: context.DeadlineExceeded,
			ctx: func(ctx context.Context) (context.Context, func()) { return deadline{ctx, make(chan struct{})}.and() },
		},
	}
}

var errUser = errors.New("the user left")

// deadline is a context whose time is up when it is told so.
type deadline struct {
	context.Context //nolint:containedctx // it is one
	up              chan struct{}
}

func (d deadline) and() (context.Context, func()) { return d, func() { close(d.up) } }

func (d deadline) Done() <-chan struct{} { return d.up }

func (d deadline) Err() error {
	select {
	case <-d.up:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
