package places_test

import (
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// reactAgent is a ReAct agent with its default check for tool calls, which looks at the first chunk that says something.
func reactAgent(t *testing.T, m *continuation.Model, w *worker) *react.Agent {
	t.Helper()
	a, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: m, ToolsConfig: w.tools(t, "look", "fetch").ToolsNodeConfig,
	})
	require.NoError(t, err)

	return a
}

// futures reads the messages of a run as the user stores them.
func futures(t *testing.T, future react.MessageFuture) (all []*schema.Message) {
	t.Helper()
	for streams := future.GetMessageStreams(); ; {
		r, ok, err := streams.Next()
		require.NoError(t, err)
		if !ok {
			return all
		}
		chunks, err := fm.Collect(r)
		require.NoError(t, err)
		all = append(all, fm.Concat(t, chunks))
	}
}

// TestReact: the agent that looks at the first chunk only is not led astray by what is held, dropped or joined.
func TestReact(t *testing.T) {
	t.Parallel()
	for kind, of := range inners() {
		for name, tt := range map[string]struct {
			turn     []fm.Script // until the tools run
			runs     []string
			hint     string
			requests int
		}{
			"a call behind half a call": {
				[]fm.Script{
					{fm.Call(0, "c1", "look", `{"wh`), fm.Reset()},
					{fm.Call(0, "c2", "look", `{"what":`), fm.Call(0, "", "", `"here"}`), fm.Finish("tool_calls")},
				},
				[]string{"look here"},
				"", 3,
			},
			"text behind a whole call": {
				[]fm.Script{{fm.Role(), fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Text("I look."), fm.Finish("tool_calls")}},
				[]string{"look here"},
				"", 2,
			},
			"text behind half a call": {
				[]fm.Script{
					{fm.Role(), fm.Call(0, "c1", "look", `{"what`), fm.Text("I look."), fm.Call(0, "", "", `":"here"}`), fm.Finish("tool_calls")},
				},
				[]string{"look here"},
				"", 2,
			},
			"the second call is cut off": {
				[]fm.Script{{fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Call(1, "c2", "fetch", `{"wh`), fm.UnexpectedEOF()}},
				[]string{"look here"},
				"fetch", 2,
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				inner := fm.New(append(tt.turn, fm.Script{fm.Text("It is "), fm.Reset()}, fm.Script{fm.Text("here."), fm.Finish("stop")})...)
				w, seen := &worker{}, &tree{}
				a := reactAgent(t, continuation.Wrap(of(inner), now()), w)
				option, future := react.WithMessageFuture()
				reader, err := a.Stream(t.Context(), hi(), option, agent.WithComposeOptions(compose.WithCallbacks(seen.handler())))
				require.NoError(t, err)
				assert.Equal(t, "It is here.", text(t, reader))
				assert.Equal(t, tt.runs, w.did())
				history := futures(t, future)
				assert.Equal(t, "assistant tool assistant", roles(history))
				assert.Equal(t, "It is here.", history[2].Content)

				requests := inner.Requests()
				require.Len(t, requests, tt.requests+1)
				assertHint(t, requests[tt.requests-1].Messages, tt.hint)
				for _, r := range requests {
					assert.Len(t, r.Options.Tools, 2)
				}
				seen.ours(t)
				assert.Equal(t, 2, seen.chatModelRuns())
				letGo(t, inner)
			})
		}
	}
}

// TestReactGenerates: an agent that is not streamed asks by Generate, or by the stream if it is told to.
func TestReactGenerates(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts []continuation.Option
		one  fm.Script
	}{
		"Generate":              {nil, fm.Script{fm.OpenFail(fm.ResetError())}},
		"WithStreamingGenerate": {[]continuation.Option{continuation.WithStreamingGenerate()}, fm.Script{fm.Call(0, "c0", "look", `{`), fm.Reset()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(
				tt.one,
				fm.Script{fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Finish("tool_calls")},
				fm.Script{fm.Text("It is here."), fm.Finish("stop")},
			)
			w := &worker{}
			answer, err := reactAgent(t, continuation.Wrap(inner, append(tt.opts, now())...), w).Generate(t.Context(), hi())
			require.NoError(t, err)
			assert.Equal(t, "It is here.", answer.Content)
			assert.Equal(t, []string{"look here"}, w.did())
			letGo(t, inner)
		})
	}
}
