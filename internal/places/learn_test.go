package places_test

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// assertHint wants the end of in to speak of a call to that tool, or nothing to speak of any.
func assertHint(t *testing.T, in []*schema.Message, tool string) {
	t.Helper()
	for i, m := range in {
		if strings.Contains(m.Content, "cut off") {
			assert.NotEmpty(t, tool, "a hint: %s", m.Content)
			assert.Equal(t, len(in)-1, i, "it is the last message")
			assert.Contains(t, m.Content, tool)
			tool = ""
		}
	}
	assert.Empty(t, tool, "there is a hint")
}

// TestAgentLearnsWhatWasCutOff: the calls that arrived run once, the model hears of the one that did not as long as the
// results are new, and neither the agent's state nor what its user stores tells of it. The agent is interrupted in
// between, and another one, whose model has never seen the call, goes on from the checkpoint.
func TestAgentLearnsWhatWasCutOff(t *testing.T) {
	t.Parallel()
	for name, hint := range map[string][]continuation.Option{
		"as a message": nil, "in the tool's result": {continuation.HintInToolResult()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				w, s := &worker{}, &store{}
				agentOf := func(inner *fm.Model, handlers ...adk.ChatModelAgentMiddleware) *adk.Runner {
					cfg := &adk.ChatModelAgentConfig{ToolsConfig: w.tools(t, "look", "fetch"), Handlers: handlers}
					cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, w.approval(t))
					decorate(cfg, inner, hint...)

					return adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: true, CheckPointStore: s})
				}
				first := fm.New(fm.Script{
					fm.Text("On it. "), fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Call(1, "c2", "ask", `{"what":"it"}`),
					fm.Call(2, "c3", "fetch", `{"wh`), fm.Reset(),
				})
				all := read(t, agentOf(first).Query(t.Context(), "hi", adk.WithCheckPointID("1")))
				require.NotNil(t, all[len(all)-1].action.Interrupted)
				require.Len(t, customs(all), 1)
				history := append(hi(), stored(t, all)...)

				second := fm.New(
					fm.Script{fm.Text("So I "), fm.Reset()},
					fm.Script{fm.Text("fetch. "), fm.Call(0, "c4", "fetch", `{"what":"it"}`), fm.Finish("tool_calls")},
					fm.Script{fm.Text("Done."), fm.Finish("stop")},
					fm.Script{fm.Text("Bye."), fm.Finish("stop")},
				)
				state := newRecordState()
				runner := agentOf(second, state)
				events, err := runner.Resume(t.Context(), "1")
				require.NoError(t, err)
				all = read(t, events)
				history = append(history, stored(t, all)...)

				assert.Equal(t, []string{"look here", "ask it", "fetch it"}, w.did(), "each of them once")
				assert.Equal(t, "user assistant tool tool assistant tool assistant", roles(history))
				assertHint(t, history, "")
				assert.Equal(t, roles(history), roles(state.states[1]))
				assertHint(t, state.states[1], "")

				requests := second.Requests()
				require.Len(t, requests, 3)
				assertHint(t, requests[0].Messages, "fetch")
				assertHint(t, requests[2].Messages, "")

				read(t, runner.Run(t.Context(), append(history, schema.UserMessage("Thanks."))))
				assertHint(t, second.Requests()[3].Messages, "")
				letGo(t, first)
				letGo(t, second)
			})
		})
	}
}

// stored are the messages of a run as the user stores them.
func stored(t *testing.T, all []shown) (history []*schema.Message) {
	t.Helper()
	for _, s := range all {
		require.NoError(t, s.err)
		if s.message != nil {
			history = append(history, s.message)
		}
	}

	return history
}
