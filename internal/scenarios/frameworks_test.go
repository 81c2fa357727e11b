package scenarios_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// bench is a set of tools that notes what was done.
type bench struct {
	mu   sync.Mutex
	done []string
}

type order struct {
	What string `json:"what"`
}

func (b *bench) tool(t *testing.T) tool.BaseTool {
	t.Helper()
	one, err := utils.InferTool("look", "Looks.", func(_ context.Context, in order) (string, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.done = append(b.done, in.What)

		return "seen", nil
	})
	require.NoError(t, err)

	return one
}

// toTheEnd is a check for tool calls that reads the whole answer.
func toTheEnd(_ context.Context, r *schema.StreamReader[*schema.Message]) (bool, error) {
	defer r.Close()
	for calls := false; ; {
		m, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return calls, nil
		}
		if err != nil {
			return false, err
		}
		calls = calls || len(m.ToolCalls) > 0
	}
}

// reacts runs a ReAct agent and returns its last text.
func reacts(t *testing.T, m model.ToolCallingChatModel, b *bench, check func(context.Context, *schema.StreamReader[*schema.Message]) (bool, error)) string {
	t.Helper()
	a, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: m, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{b.tool(t)}}, StreamToolCallChecker: check,
	})
	require.NoError(t, err)
	r, err := a.Stream(t.Context(), hi())
	require.NoError(t, err)
	chunks, err := fm.Collect(r)
	require.NoError(t, err)

	return fm.Concat(t, chunks).Content
}

// TestTextInFrontOfACall: Eino's default check looks at the first chunk that says something; the decorator changes nothing in
// that, nor in what a check sees that reads on.
func TestTextInFrontOfACall(t *testing.T) {
	t.Parallel()
	call := fm.Call(0, "c1", "look", `{"what":"here"}`)
	last := fm.Script{fm.Text("It is here."), fm.Finish("stop")}
	for label, turn := range map[string][]fm.Script{
		// https://github.com/cloudwego/eino/issues/892
		"B154 the text hides the call": {{fm.Text("Thinking. "), call, fm.Finish("tool_calls")}},
		"B154 the text comes from one attempt and the call from the next": {
			{fm.Text("Thinking. "), fm.Call(0, "c0", "look", `{"wh`), fm.Reset()}, {call, fm.Finish("tool_calls")},
		},
		"B154 the whole call of a broken attempt comes behind its text": {{fm.Text("Thinking. "), call, fm.Reset()}},
		// https://github.com/cloudwego/eino-ext/issues/431
		"B167 a few words, then a call": {{fm.Role(), fm.Text("I "), fm.Text("look."), fm.Text("\n\n"), call, fm.Finish("tool_calls")}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			b, inner := &bench{}, fm.New(append(turn, last)...)
			assert.Equal(t, "It is here.", reacts(t, continuation.Wrap(inner, now()), b, toTheEnd))
			assert.Equal(t, []string{"here"}, b.done, "once")
			for _, m := range inner.Requests()[len(turn)].Messages {
				assert.NotContains(t, m.Content, "connection broke")
			}

			if len(turn) == 1 && label[:4] == "B167" {
				bare, decorated := &bench{}, &bench{}
				want := reacts(t, fm.New(append(turn, last)...), bare, nil)
				assert.Equal(t, want, reacts(t, continuation.Wrap(fm.New(append(turn, last)...)), decorated, nil), "Eino's default check")
				assert.Equal(t, bare.done, decorated.done)
			}
		})
	}
}

// TestEmptyStream: a stream without any chunk is an open that failed, also where a graph branches on its first chunk.
func TestEmptyStream(t *testing.T) {
	t.Parallel()
	// https://github.com/cloudwego/eino/issues/120
	for name, tt := range map[string]struct {
		scripts []fm.Script
		want    string
		err     error
	}{
		"B155 once":       {[]fm.Script{{}, {fm.Text("Hello."), fm.Finish("stop")}}, "Hello.", nil},
		"B155 for ever":   {[]fm.Script{{}, {}, {}}, "", continuation.ErrTruncated},
		"B155 a nil":      {[]fm.Script{{fm.Nil()}, {fm.Text("Hello."), fm.Finish("stop")}}, "Hello.", nil},
		"B155 a role":     {[]fm.Script{{fm.Role()}, {fm.Text("Hello."), fm.Finish("stop")}}, "Hello.", nil},
		"B155 it is over": {[]fm.Script{{fm.Text("Hello."), fm.Finish("stop"), fm.EOF()}}, "Hello.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, opts := range [][]continuation.Option{with(), with(continuation.WithFinishReasonRequired(false)), with(continuation.WithFinishReasonRequired(true))} {
				g := compose.NewGraph[[]*schema.Message, *schema.Message]()
				require.NoError(t, g.AddChatModelNode("m", continuation.Wrap(fm.New(tt.scripts...), append(opts, now())...)))
				require.NoError(t, g.AddPassthroughNode("next"))
				require.NoError(t, g.AddEdge(compose.START, "m"))
				require.NoError(t, g.AddEdge("next", compose.END))
				require.NoError(t, g.AddBranch("m", compose.NewStreamGraphBranch(
					func(_ context.Context, in *schema.StreamReader[*schema.Message]) (string, error) {
						defer in.Close()
						_, err := in.Recv()

						return "next", err
					}, map[string]bool{"next": true})))
				compiled, err := g.Compile(t.Context())
				require.NoError(t, err)
				r, err := compiled.Stream(t.Context(), hi())
				if tt.err != nil {
					require.ErrorIs(t, err, tt.err)
					require.NotErrorIs(t, err, io.EOF)

					continue
				}
				require.NoError(t, err)
				chunks, err := fm.Collect(r)
				require.NoError(t, err)
				assert.Equal(t, tt.want, fm.Concat(t, chunks).Content)
			}
		})
	}
}

// TestOneStreamOfAnAgent: a user interface of an agent sees one stream, and no announcement of another one.
func TestOneStreamOfAnAgent(t *testing.T) {
	t.Parallel()
	middleware := func(t *testing.T) (handlers []adk.ChatModelAgentMiddleware) {
		t.Helper()
		m, err := continuation.NewMiddleware(now())
		require.NoError(t, err)

		return append(handlers, m)
	}
	for name, put := range map[string]func(*testing.T, *adk.ChatModelAgentConfig, *fm.Model){
		"the model": func(_ *testing.T, c *adk.ChatModelAgentConfig, m *fm.Model) { c.Model = continuation.Wrap(m, now()) },
		"the middleware": func(t *testing.T, c *adk.ChatModelAgentConfig, m *fm.Model) {
			t.Helper()
			c.Model, c.Handlers = m, middleware(t)
		},
	} {
		// https://github.com/cnjack/jcode/pull/194
		t.Run("B157 the partial answer is shown again behind itself/"+name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < prose().Chunks(); n++ {
				inner := fm.Continuer(prose(), fm.BreakAt(n, fm.Reset()))
				cfg := &adk.ChatModelAgentConfig{
					Name: "agent", Description: "an agent",
					ModelRetryConfig: &adk.ModelRetryConfig{MaxRetries: 3, BackoffFunc: func(context.Context, int) time.Duration { return 0 }},
				}
				put(t, cfg, inner)
				a, err := adk.NewChatModelAgent(t.Context(), cfg)
				require.NoError(t, err)
				events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: a, EnableStreaming: true}).Query(t.Context(), "Say it.")
				streams := 0
				for e, more := events.Next(); more; e, more = events.Next() {
					require.NoError(t, e.Err)
					if e.Output == nil || e.Output.MessageOutput == nil {
						continue
					}
					streams++
					chunks, err := fm.Collect(e.Output.MessageOutput.MessageStream)
					require.NoError(t, err, "neither WillRetryError nor another")
					assert.Equal(t, prose().Text(), fm.Concat(t, chunks).Content)
				}
				assert.Equal(t, 1, streams)
				assert.Len(t, inner.Requests(), 2)
			}
		})
	}
}
