package places_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// idKey is where ADK keeps a message's id.
const idKey = "_eino_msg_id"

// recordState is a handler that keeps the agent's messages as they are after each model call.
type recordState struct {
	*adk.BaseChatModelAgentMiddleware
	states [][]*schema.Message
}

func newRecordState() *recordState {
	return &recordState{BaseChatModelAgentMiddleware: &adk.BaseChatModelAgentMiddleware{}}
}

// AfterModelRewriteState is called by the agent.
func (r *recordState) AfterModelRewriteState(
	ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext,
) (context.Context, *adk.ChatModelAgentState, error) {
	r.states = append(r.states, append([]*schema.Message{}, state.Messages...))

	return ctx, state, nil
}

func roles(in []*schema.Message) string {
	all := make([]string, len(in))
	for i, m := range in {
		all[i] = string(m.Role)
	}

	return strings.Join(all, " ")
}

// TestAgentOfTwoTurns: whatever breaks, the user sees one stream for each model call, the tools run once, and the state is
// that of an agent whose streams did not break.
func TestAgentOfTwoTurns(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		inner := fm.New(
			fm.Script{fm.Text("Let me "), fm.Reset()},
			fm.Script{fm.Text("check."), fm.Call(0, "c1", "look", `{"wh`), fm.UnexpectedEOF()},
			fm.Script{fm.Text(" Now:"), fm.Call(0, "c2", "look", `{"what":"it"}`), fm.FinishUsage("tool_calls", 20, 9)},
			fm.Script{fm.Text("All "), fm.Reset()},
			fm.Script{fm.Text("done."), fm.FinishUsage("stop", 30, 5)},
		).TypeName("Acme")
		w, state, seen := &worker{}, newRecordState(), &tree{}
		cfg := &adk.ChatModelAgentConfig{ToolsConfig: w.tools(t, "look"), Handlers: []adk.ChatModelAgentMiddleware{state}}
		decorate(cfg, inner)
		all := run1(t, newAgent(t, cfg), adk.WithCallbacks(seen.handler()))

		said := answers(t, all)
		require.Len(t, said, 2)
		assert.Equal(t, "Let me check. Now:", said[0].Content)
		assert.Equal(t, "All done.", said[1].Content)
		assert.Equal(t, []string{"look it"}, w.did())
		require.Len(t, said[0].ToolCalls, 1)
		assert.Equal(t, "c2", said[0].ToolCalls[0].ID)

		ids := map[any]bool{}
		for _, m := range said {
			assert.Len(t, m.Extra[idKey], 36, "one id, and a whole one")
			ids[m.Extra[idKey]] = true
		}
		assert.Len(t, ids, 2)

		require.Len(t, state.states, 2)
		assert.Equal(t, "user assistant", roles(state.states[0]), "continuation messages never enter the state")
		assert.Equal(t, "user assistant tool assistant", roles(state.states[1]))
		assert.Equal(t, said[0].Extra[idKey], state.states[1][1].Extra[idKey], "the event and the state tell one id")
		assert.Equal(t, "Let me check. Now:", state.states[1][1].Content)

		requests := inner.Requests()
		require.Len(t, requests, 5)
		assert.Equal(t, "user assistant tool", roles(requests[3].Messages))
		assert.Equal(t, "user assistant tool assistant user", roles(requests[4].Messages))
		for _, r := range requests {
			require.Len(t, r.Options.Tools, 1, "the agent's tools reach each attempt")
			for _, m := range r.Messages {
				if id, ok := m.Extra[idKey]; ok {
					assert.Len(t, id, 36)
				}
			}
		}

		custom := customs(all)
		require.Len(t, custom, 1)
		cancel, ok := custom[0].custom.(callbacks.ToolCallCancel)
		require.True(t, ok)
		assert.Equal(t, "c1", cancel.ID)
		assert.Equal(t, "agent", custom[0].by)
		assert.Equal(t, []string{"agent"}, custom[0].path)

		rows := seen.ours(t)
		assert.Equal(t, 2, seen.chatModelRuns(), "one run for each model call: %s", strings.Join(rows, "\n"))
		attempts := 0
		for _, row := range rows {
			if strings.Contains(row, "ContinuationAttempt/") {
				attempts++
				assert.Regexp(t, "^ChatModel/[^>]* > ContinuationAttempt/attempt-[012]:", row)
			}
		}
		assert.Equal(t, 5, attempts, strings.Join(rows, "\n"))
		assert.Equal(t, said[0].ResponseMeta.Usage.TotalTokens+said[1].ResponseMeta.Usage.TotalTokens, seen.tokens())
		letGo(t, inner)
	})
}

// TestAgentRestart: when half a thought is thrown away, the user is told to forget it.
func TestAgentRestart(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		inner := fm.New(
			fm.Script{fm.Reasoning("Hm, "), fm.Reset()},
			fm.Script{fm.Reasoning("Well."), fm.Text("Hello."), fm.Finish("stop")},
		)
		cfg := &adk.ChatModelAgentConfig{}
		decorate(cfg, inner)
		all := run1(t, newAgent(t, cfg))
		said := answers(t, all)
		require.Len(t, said, 1)
		assert.Equal(t, "Hello.", said[0].Content)
		assert.Len(t, said[0].Extra[idKey], 36)
		custom := customs(all)
		require.Len(t, custom, 1)
		assert.IsType(t, callbacks.StreamReset{}, custom[0].custom)
	})
}

// TestAgentTool: an agent that is a tool of another one answers what its model said, and not the last event.
func TestAgentTool(t *testing.T) {
	t.Parallel()
	for emit, name := range map[bool]string{true: "inner events are shown", false: "inner events are not shown"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				expert := fm.New(
					fm.Script{fm.Text("Forty-"), fm.Call(0, "x", "calc", `{"wh`), fm.Reset()},
					fm.Script{fm.Text("two."), fm.Finish("stop")},
				)
				inner := &adk.ChatModelAgentConfig{Name: "expert", Description: "knows"}
				decorate(inner, expert)
				asker := fm.New(
					fm.Script{fm.Text("I ask. "), fm.Call(0, "c0", "expert", `{"request":"what`), fm.Reset()},
					fm.Script{fm.Call(0, "c1", "expert", `{"request":"what?"}`), fm.Finish("tool_calls")},
					fm.Script{fm.Text("It is "), fm.Reset()},
					fm.Script{fm.Text("42."), fm.Finish("stop")},
				)
				outer := &adk.ChatModelAgentConfig{Name: "asker", Description: "asks"}
				outer.ToolsConfig.Tools = append(outer.ToolsConfig.Tools, adk.NewAgentTool(t.Context(), newAgent(t, inner)))
				outer.ToolsConfig.EmitInternalEvents = emit
				decorate(outer, asker)
				all := run1(t, newAgent(t, outer))

				said := map[string]string{}
				for _, m := range all {
					require.NoError(t, m.err)
					if m.message != nil {
						said[m.by+" "+string(m.message.Role)] = m.message.Content
					}
				}
				assert.Equal(t, "Forty-two.", said["asker tool"], "the tool's result")
				assert.Equal(t, "It is 42.", said["asker assistant"])
				if emit {
					assert.Equal(t, "Forty-two.", said["expert assistant"])
				}
				for _, e := range customs(all) {
					assert.Equal(t, "asker", e.by)
					assert.Equal(t, []string{"asker"}, e.path)
				}
				assert.Len(t, customs(all), 1)
				letGo(t, expert)
				letGo(t, asker)
			})
		})
	}
}

// TestAgentGenerates: an agent that does not stream asks by Generate. Requests that failed are made again in any place; a
// decorated model recovers if it is told to stream, and the middleware, which is given no stream, is not broken by it.
func TestAgentGenerates(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]continuation.Option{
		"Generate": nil, "WithStreamingGenerate": {continuation.WithStreamingGenerate()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				inner, seen := fm.New(
					fm.Script{fm.OpenFail(fm.ResetError())},
					fm.Script{fm.Text("Hello."), fm.Finish("stop")},
				), &tree{}
				cfg := &adk.ChatModelAgentConfig{}
				decorate(cfg, inner, opts...)
				runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg)})
				all := read(t, runner.Query(t.Context(), "hi", adk.WithCallbacks(seen.handler())))
				require.Len(t, all, 1)
				require.NoError(t, all[0].err)
				assert.Equal(t, "Hello.", all[0].message.Content)
				assert.Len(t, all[0].message.Extra[idKey], 36)
				assertRequests(t, inner, 2)
				seen.ours(t)
				assert.Equal(t, 1, seen.chatModelRuns())
				letGo(t, inner)
			})
		})
	}
}

// TestAgentGeneratesByStreaming: a model that is told to stream recovers an agent that does not.
func TestAgentGeneratesByStreaming(t *testing.T) {
	t.Parallel()
	inner := broken()
	agent := newAgent(t, &adk.ChatModelAgentConfig{
		Name: "agent", Model: continuation.Wrap(inner, now(), continuation.WithStreamingGenerate()),
	})
	all := read(t, adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent}).Query(t.Context(), "hi"))
	require.Len(t, all, 1)
	require.NoError(t, all[0].err)
	assert.False(t, all[0].streamed)
	assert.Equal(t, "Hello world.", all[0].message.Content)
	assertRequests(t, inner, 2)
}
