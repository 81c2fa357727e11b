package places_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestBadHandlers: what a handler of ours does, or does not, is nothing to the agent.
func TestBadHandlers(t *testing.T) {
	t.Parallel()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for name, handle := range map[string]func(context.Context, callbacks.Event){
		"it panics":           func(context.Context, callbacks.Event) { panic("oops") },
		"it blocks":           func(context.Context, callbacks.Event) { <-forever },
		"it ends its routine": func(context.Context, callbacks.Event) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				inner, cfg := broken(), &adk.ChatModelAgentConfig{}
				decorate(cfg, inner, continuation.WithHandler(callbacks.HandlerFunc(handle)))
				said := answers(t, run1(t, newAgent(t, cfg)))
				require.Len(t, said, 1)
				assert.Equal(t, "Hello world.", said[0].Content)
				letGo(t, inner)
			})
		})
	}
}

// scribbler writes into every message that it gets, as a handler around the model and as a callback handler.
type scribbler struct {
	*adk.BaseChatModelAgentMiddleware
}

func scribble(m *schema.Message) {
	m.Content, m.Extra = "scribble", map[string]any{"scribble": true}
	for i := range m.ToolCalls {
		m.ToolCalls[i].Function.Arguments = "scribble"
	}
	if m.ResponseMeta != nil {
		m.ResponseMeta.FinishReason = "scribble"
	}
}

// WrapModel writes into the chunks behind the consumer's back: the consumer gets copies.
func (scribbler) WrapModel(_ context.Context, m model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	return scribbling{m}, nil
}

type scribbling struct{ model.BaseChatModel }

func (s scribbling) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, err := s.BaseChatModel.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}

	return schema.StreamReaderWithConvert(r, func(m *schema.Message) (*schema.Message, error) {
		cp := *m
		cp.ToolCalls = append([]schema.ToolCall{}, m.ToolCalls...)
		if m.ResponseMeta != nil {
			meta := *m.ResponseMeta
			cp.ResponseMeta = &meta
		}
		scribble(m)

		return &cp, nil
	}), nil
}

// scribbles is a callback handler that writes into each chunk of a model's run, and of its attempts: the stream of a graph
// around it is Eino's.
func scribbles(writing *sync.WaitGroup, of components.Component, write func(einocallbacks.CallbackOutput)) einocallbacks.Handler {
	return einocallbacks.NewHandlerBuilder().OnEndWithStreamOutputFn(
		func(ctx context.Context, i *einocallbacks.RunInfo, out *schema.StreamReader[einocallbacks.CallbackOutput]) context.Context {
			ours := i.Component == of || i.Component == continuation.ComponentOfAttempt
			writing.Go(func() {
				defer out.Close()
				for ours {
					o, err := out.Recv()
					if err != nil {
						return
					}
					write(o)
				}
			})

			return ctx
		}).Build()
}

// TestScribblers: who writes into a chunk spoils neither the next request nor what others get. A callback handler of a model
// that Eino itself calls, or that fires its own callbacks, is given the very chunk, here as everywhere.
func TestScribblers(t *testing.T) {
	t.Parallel()
	everyone := scribbles(&sync.WaitGroup{}, components.ComponentOfChatModel, func(o einocallbacks.CallbackOutput) {
		if m := model.ConvCallbackOutput(o); m != nil && m.Message != nil {
			scribble(m.Message)
		}
	})
	for name, handlers := range map[string][]adk.ChatModelAgentMiddleware{
		"a handler around the model": {scribbler{&adk.BaseChatModelAgentMiddleware{}}}, "a callback handler": nil,
	} {
		for place, put := range agentPlaces() {
			if handlers == nil && place != "Model" {
				continue
			}
			t.Run(name+"/"+place, func(t *testing.T) {
				t.Parallel()
				inner := fm.New(
					fm.Script{fm.Text("Let me "), fm.Text("look"), fm.Reset()},
					fm.Script{fm.Text(" at it."), fm.Call(0, "c1", "look", `{"what":`), fm.Call(0, "", "", `"here"}`), fm.Finish("tool_calls")},
					fm.Script{fm.Text("Do"), fm.Reset()},
					fm.Script{fm.Text("ne."), fm.Finish("stop")},
				)
				w := &worker{}
				cfg := &adk.ChatModelAgentConfig{Name: "agent", ToolsConfig: w.tools(t, "look"), Handlers: handlers}
				put(t, cfg, inner, now())
				var opts []adk.AgentRunOption
				if handlers == nil {
					opts = append(opts, adk.WithCallbacks(everyone))
				}
				said := answers(t, run1(t, newAgent(t, cfg), opts...))
				require.Len(t, said, 2)
				assert.Equal(t, "Let me look at it.", said[0].Content)
				assert.Equal(t, "Done.", said[1].Content)
				assert.Equal(t, []string{"look here"}, w.did())
				requests := inner.Requests()
				require.Len(t, requests, 4)
				assert.Equal(t, "Let me look", requests[1].Messages[1].Content)
				letGo(t, inner)
			})
		}
	}
}

// never is a callback handler that neither reads nor closes what it is given.
func never() einocallbacks.Handler {
	return einocallbacks.NewHandlerBuilder().OnEndWithStreamOutputFn(
		func(ctx context.Context, _ *einocallbacks.RunInfo, _ *schema.StreamReader[einocallbacks.CallbackOutput]) context.Context {
			return ctx
		}).Build()
}

// TestCallbackThatNeverCloses: a callback handler's copy of a stream keeps nothing going.
func TestCallbackThatNeverCloses(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		inner := fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")})
		cfg := &adk.ChatModelAgentConfig{}
		decorate(cfg, inner)
		said := answers(t, run1(t, newAgent(t, cfg), adk.WithCallbacks(never())))
		require.Len(t, said, 1)
		assert.Equal(t, "Hello world.", said[0].Content)
		stopped(t, inner)
	})
}

// stopped waits until nothing runs for inner any more. Readers that others hold a copy of may be open.
func stopped(t *testing.T, inner *fm.Model) {
	t.Helper()
	require.Eventually(t, func() bool {
		runtime.GC() // what was dropped is closed when it is collected

		return inner.Open() == 0
	}, patience, time.Millisecond)
}

// TestToolCheckerThatLeaves reads one chunk and neither reads on nor closes. The answer comes whole; and when the user
// leaves as well, the provider's stream ends.
func TestToolCheckerThatLeaves(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rest fm.Step
		all  bool
	}{"and the user reads on": {fm.Finish("stop"), true}, "and the user leaves too": {fm.Stall(), false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world, as it is."), tt.rest})
			w := &worker{}
			a, err := react.NewAgent(t.Context(), &react.AgentConfig{
				ToolCallingModel: continuation.Wrap(inner, now()), ToolsConfig: w.tools(t, "look").ToolsNodeConfig,
				StreamToolCallChecker: func(_ context.Context, r *schema.StreamReader[*schema.Message]) (bool, error) {
					m, err := r.Recv()

					return err == nil && len(m.ToolCalls) > 0, err
				},
			})
			require.NoError(t, err)
			reader, err := a.Stream(t.Context(), hi())
			require.NoError(t, err)
			if tt.all {
				assert.Equal(t, "Hello world, as it is.", text(t, reader))
			} else {
				_, err := reader.Recv()
				require.NoError(t, err)
				reader.Close()
			}
			stopped(t, inner)
		})
	}
}

// TestStreamThatIsDropped: a graph's node takes the stream and throws it away, unread and open.
func TestStreamThatIsDropped(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]int{"unread": 0, "after the first chunk": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(fm.Script{fm.Text("Hello "), fm.Stall()})
			r := compile(t, through(t, graphOf(t, continuation.Wrap(inner, now())), compose.TransformableLambda(
				func(_ context.Context, in *schema.StreamReader[*schema.Message]) (*schema.StreamReader[*schema.Message], error) {
					for range read {
						if _, err := in.Recv(); err != nil {
							return nil, err
						}
					}

					return schema.StreamReaderFromArray([]*schema.Message{schema.AssistantMessage("Never mind.", nil)}), nil
				})))
			reader, err := r.Stream(t.Context(), hi())
			require.NoError(t, err)
			assert.Equal(t, "Never mind.", text(t, reader))
			stopped(t, inner)
		})
	}
}
