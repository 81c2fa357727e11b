package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

type (
	agenticConfig     = adk.TypedChatModelAgentConfig[*schema.AgenticMessage]
	agenticMiddleware = adk.TypedChatModelAgentMiddleware[*schema.AgenticMessage]
	agenticEvent      = adk.TypedAgentEvent[*schema.AgenticMessage]
)

// agenticPlaces are the ways to give an agent of agentic messages a decorated model.
func agenticPlaces() map[string]func(t *testing.T, cfg *agenticConfig, inner model.AgenticModel, opts ...continuation.Option) {
	wrap := func(t *testing.T, inner model.AgenticModel, opts ...continuation.Option) *continuation.Typed[*schema.AgenticMessage] {
		t.Helper()
		m, err := continuation.NewTyped[*schema.AgenticMessage](inner, append([]continuation.Option{now()}, opts...)...)
		require.NoError(t, err)

		return m
	}
	handler := func(t *testing.T, opts ...continuation.Option) agenticMiddleware {
		t.Helper()
		m, err := continuation.NewTypedMiddleware[*schema.AgenticMessage](append([]continuation.Option{now()}, opts...)...)
		require.NoError(t, err)

		return m
	}

	return map[string]func(t *testing.T, cfg *agenticConfig, inner model.AgenticModel, opts ...continuation.Option){
		"Model": func(t *testing.T, cfg *agenticConfig, inner model.AgenticModel, opts ...continuation.Option) {
			t.Helper()
			cfg.Model = wrap(t, inner, opts...)
		},
		"middleware": func(t *testing.T, cfg *agenticConfig, inner model.AgenticModel, opts ...continuation.Option) {
			t.Helper()
			cfg.Model, cfg.Handlers = inner, append(cfg.Handlers, handler(t, opts...))
		},
		"both": func(t *testing.T, cfg *agenticConfig, inner model.AgenticModel, opts ...continuation.Option) {
			t.Helper()
			cfg.Model, cfg.Handlers = wrap(t, inner, opts...), append(cfg.Handlers, handler(t, opts...))
		},
	}
}

// agenticShown is what the user of an agent sees of one event.
type agenticShown struct {
	by       string
	streamed bool
	message  *schema.AgenticMessage
	custom   any
	err      error
	action   *adk.AgentAction
}

func readAgentic(t *testing.T, events *adk.AsyncIterator[*agenticEvent]) (all []agenticShown) {
	t.Helper()
	for {
		e, ok := events.Next()
		if !ok {
			return all
		}
		s := agenticShown{by: e.AgentName, err: e.Err, action: e.Action}
		if e.Output != nil {
			s.custom = e.Output.CustomizedOutput
			if out := e.Output.MessageOutput; out != nil && out.IsStreaming {
				s.streamed = true
				var chunks []*schema.AgenticMessage
				chunks, s.err = fm.CollectAny(out.MessageStream)
				s.message = fm.ConcatAgentic(t, chunks)
			} else if out != nil {
				s.message = out.Message
			}
		}
		all = append(all, s)
	}
}

// agenticAgent returns a runner of an agent with one or two tools.
func agenticAgent(t *testing.T, cfg *agenticConfig, w *worker, s *store) *adk.TypedRunner[*schema.AgenticMessage] {
	t.Helper()
	cfg.Name, cfg.Description = "agent", "an agent"
	cfg.ToolsConfig = w.tools(t, "look", "fetch")
	cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, w.approval(t))
	agent, err := adk.NewTypedChatModelAgent(t.Context(), cfg)
	require.NoError(t, err)

	return adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent, EnableStreaming: true, CheckPointStore: s})
}

// TestAgenticAgent: the main cases in one run, which is interrupted in the middle and goes on in another agent.
func TestAgenticAgent(t *testing.T) {
	t.Parallel()
	for place, put := range agenticPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			w, s, seen := &worker{}, &store{}, &tree{}
			first := fm.NewAgentic(
				fm.Script{fm.BlockText(0, "Let me "), fm.Reset()},
				fm.Script{
					fm.BlockText(0, "look."), fm.BlockCall(1, "c1", "look", `{"what":`), fm.BlockCall(1, "", "", `"here"}`),
					fm.BlockCall(2, "c2", "ask", `{"what":"it"}`), fm.BlockCall(3, "c3", "fetch", `{"wh`), fm.UnexpectedEOF(),
				},
			)
			cfg := &agenticConfig{}
			put(t, cfg, first)
			all := readAgentic(t, agenticAgent(t, cfg, w, s).Query(t.Context(), "hi", adk.WithCheckPointID("1"), adk.WithCallbacks(seen.handler())))
			require.NotNil(t, all[len(all)-1].action)
			require.NotNil(t, all[len(all)-1].action.Interrupted)
			require.NoError(t, all[0].err)
			assert.True(t, all[0].streamed)
			assert.Equal(t, `Let me look.[look {"what":"here"}][ask {"what":"it"}]`, words(all[0].message))
			assert.Len(t, all[0].message.Extra[idKey], 36)
			cancel, ok := all[1].custom.(callbacks.ToolCallCancel)
			require.True(t, ok)
			assert.Equal(t, "c3", cancel.ID)
			assert.Equal(t, "agent", all[1].by)
			seen.ours(t)

			second := fm.NewAgentic(
				fm.Script{fm.BlockThought(0, "Hm", ""), fm.Reset()},
				fm.Script{fm.BlockThought(0, "Well.", "s"), fm.BlockText(1, "All "), fm.Reset()},
				fm.Script{fm.BlockText(0, "done."), fm.StopReason("end_turn", 5, 5)},
			)
			cfg = &agenticConfig{}
			put(t, cfg, second)
			events, err := agenticAgent(t, cfg, w, s).Resume(t.Context(), "1")
			require.NoError(t, err)
			all = readAgentic(t, events)
			resets := 0
			for _, e := range all {
				require.NoError(t, e.err)
				if _, ok := e.custom.(callbacks.StreamReset); ok {
					resets++
				}
			}
			assert.Equal(t, 1, resets)
			answer := all[len(all)-1].message
			if answer == nil {
				answer = all[len(all)-2].message
			}
			assert.Equal(t, "All done.", words(answer))
			assert.Len(t, answer.Extra[idKey], 36)
			assert.Equal(t, []string{"look here", "ask it"}, w.did())

			requests := second.Requests()
			require.Len(t, requests, 3)
			asked := requests[0].Agentic()
			assert.Contains(t, words(asked[len(asked)-1]), "fetch", "the model hears of the call that was cut off")
			assert.Contains(t, words(asked[len(asked)-1]), "cut off")
			letGo(t, first.Model)
			letGo(t, second.Model)
		})
	}
}

// TestAgenticAgentGenerates asks by Generate.
func TestAgenticAgentGenerates(t *testing.T) {
	t.Parallel()
	for place, put := range agenticPlaces() {
		for name, opts := range map[string][]continuation.Option{
			"Generate": nil, "WithStreamingGenerate": {continuation.WithStreamingGenerate()},
		} {
			t.Run(place+"/"+name, func(t *testing.T) {
				t.Parallel()
				inner := fm.NewAgentic(
					fm.Script{fm.OpenFail(fm.ResetError())},
					fm.Script{fm.BlockText(0, "Hello."), fm.StopReason("end_turn", 5, 5)},
				)
				cfg := &agenticConfig{Name: "agent"}
				put(t, cfg, inner, opts...)
				agent, err := adk.NewTypedChatModelAgent(t.Context(), cfg)
				require.NoError(t, err)
				runner := adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent})
				all := readAgentic(t, runner.Query(t.Context(), "hi"))
				require.Len(t, all, 1)
				require.NoError(t, all[0].err)
				assert.Equal(t, "Hello.", words(all[0].message))
				assertRequests(t, inner.Model, 2)
			})
		}
	}
}

// TestAgenticGraph: a node of agentic messages has one run, with its attempts in it.
func TestAgenticGraph(t *testing.T) {
	t.Parallel()
	inner, seen := fm.NewAgentic(
		fm.Script{fm.BlockText(0, "Hello "), fm.Reset()},
		fm.Script{fm.BlockText(0, "world."), fm.StopReason("end_turn", 5, 5)},
	), &tree{}
	m, err := continuation.NewTyped[*schema.AgenticMessage](inner, now())
	require.NoError(t, err)
	g := compose.NewGraph[[]*schema.AgenticMessage, *schema.AgenticMessage]()
	require.NoError(t, g.AddAgenticModelNode("m", m, compose.WithNodeName("model")))
	require.NoError(t, g.AddEdge(compose.START, "m"))
	require.NoError(t, g.AddEdge("m", compose.END))
	r, err := g.Compile(t.Context())
	require.NoError(t, err)
	reader, err := r.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")}, compose.WithCallbacks(seen.handler()))
	require.NoError(t, err)
	chunks, err := fm.CollectAny(reader)
	require.NoError(t, err)
	assert.Equal(t, "Hello world.", words(fm.ConcatAgentic(t, chunks)))
	rows := seen.ours(t)
	require.Len(t, rows, 7)
	assert.Contains(t, rows[0], "AgenticModel/model: ")
	assert.Contains(t, rows[1], "AgenticModel/model > ContinuationAttempt/attempt-0: ")
	assert.Contains(t, rows[4], "AgenticModel/model > ContinuationAttempt/attempt-1: ")
	letGo(t, inner.Model)
}
