package places_test

import (
	"context"
	"errors"
	"time"

	"github.com/cloudwego/eino/adk"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// moment is where a model call stands when its user takes control.
type moment struct {
	name      string
	scripts   func(s steps, open, silence fm.Step) []fm.Script // open and silence last until the call is ended, or released
	reached   func([]fm.Request) bool
	continued bool // it has a continuation, which only streams have
	waiting   bool // in a wait: reached when the next request is announced
	opening   bool // Stream has not returned
	between   bool // the answer is whole, and its tools have not run
}

// moments are those of one answer, "Let me look.", with a call of the tool "look".
func moments() []moment {
	call := func(s steps) fm.Step { return s.call("c1", "look", `{"what":"here"}`) }
	rest := func(s steps) fm.Script { return fm.Script{s.text("look."), call(s), s.finish("tool_calls")} }
	broken := func(s steps) fm.Script { return fm.Script{s.text("Let me "), fm.Reset()} }
	sent := func(n, chunks int) func([]fm.Request) bool {
		return func(all []fm.Request) bool { return len(all) == n && all[n-1].Sent >= chunks }
	}

	return []moment{
		{
			name: "opening", opening: true, reached: sent(1, 0),
			scripts: func(s steps, open, _ fm.Step) []fm.Script {
				return []fm.Script{append(fm.Script{open, s.text("Let me ")}, rest(s)...)}
			},
		},
		{
			name: "waiting to open", waiting: true,
			scripts: func(s steps, open, _ fm.Step) []fm.Script {
				return []fm.Script{{fm.OpenFail(fm.ResetError())}, append(fm.Script{open, s.text("Let me ")}, rest(s)...)}
			},
		},
		{
			name: "silent", reached: sent(1, 1),
			scripts: func(s steps, _, silence fm.Step) []fm.Script {
				return []fm.Script{append(fm.Script{s.text("Let me "), silence}, rest(s)...)}
			},
		},
		{
			name: "holding a call", reached: sent(1, 2),
			scripts: func(s steps, _, silence fm.Step) []fm.Script {
				return []fm.Script{{
					s.text("Let me look."), s.call("c1", "look", `{"what":`), silence, s.call("", "", `"here"}`), s.finish("tool_calls"),
				}}
			},
		},
		{
			name: "waiting", continued: true, waiting: true,
			scripts: func(s steps, open, _ fm.Step) []fm.Script {
				return []fm.Script{broken(s), append(fm.Script{open}, rest(s)...)}
			},
		},
		{
			name: "continuation opening", continued: true, reached: sent(2, 0),
			scripts: func(s steps, open, _ fm.Step) []fm.Script {
				return []fm.Script{broken(s), append(fm.Script{open}, rest(s)...)}
			},
		},
		{
			name: "joining", continued: true, reached: sent(2, 1),
			scripts: func(s steps, _, silence fm.Step) []fm.Script {
				return []fm.Script{broken(s), {s.text("lo"), silence, s.text("ok."), call(s), s.finish("tool_calls")}}
			},
		},
		{
			name: "at the last chunk", continued: true, reached: sent(2, 3),
			scripts: func(s steps, _, silence fm.Step) []fm.Script {
				return []fm.Script{broken(s), append(rest(s), silence)}
			},
		},
		{
			name: "between model and tool", continued: true, between: true, reached: sent(2, 3),
			scripts: func(s steps, _, _ fm.Step) []fm.Script { return []fm.Script{broken(s), rest(s)} },
		},
	}
}

// signal is a way to take control of an agent that runs.
type signal struct {
	name      string
	cancels   [][]adk.AgentCancelOption // calls of Eino's cancel function, one after the other
	recursive bool                      // it reaches agents below the agent that is cancelled
	ctx       func(context.Context) (context.Context, func())
	is        error // of the run, if the context ends it
	late      bool  // the model's answer is waited for
	tools     bool  // and its tools are
}

func signals() []signal {
	mode := adk.WithAgentCancelMode
	one := func(opts ...adk.AgentCancelOption) [][]adk.AgentCancelOption { return [][]adk.AgentCancelOption{opts} }
	soon := adk.WithAgentCancelTimeout(time.Millisecond)
	either := adk.CancelAfterChatModel | adk.CancelAfterToolCalls
	withContexts := []signal{
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
	for i := range withContexts {
		withContexts[i].recursive = true
	}
	all := withContexts
	for _, c := range []signal{
		{name: "immediate", cancels: one(mode(adk.CancelImmediate))},
		{name: "after the model", late: true, cancels: one(mode(adk.CancelAfterChatModel))},
		{name: "after the model, but not for long", cancels: one(mode(adk.CancelAfterChatModel), soon)},
		{name: "after the tools", late: true, tools: true, cancels: one(mode(adk.CancelAfterToolCalls))},
		{name: "after the tools, but not for long", cancels: one(mode(adk.CancelAfterToolCalls), soon)},
		{name: "after either", late: true, cancels: one(mode(either))},
		{name: "after either, but not for long", cancels: one(mode(either), soon)},
		{
			name:    "after the model, and then immediate",
			cancels: [][]adk.AgentCancelOption{{mode(adk.CancelAfterChatModel)}, {mode(adk.CancelImmediate)}},
		},
	} {
		all = append(all, c)
		c.name, c.recursive = c.name+", recursive", true
		calls := c.cancels
		c.cancels = nil
		for _, opts := range calls {
			c.cancels = append(c.cancels, append([]adk.AgentCancelOption{adk.WithRecursive()}, opts...))
		}
		all = append(all, c)
	}

	return all
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
