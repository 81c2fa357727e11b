package places_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

type agenticRunnable = compose.Runnable[[]*schema.AgenticMessage, *schema.AgenticMessage]

// agenticComposed are the ways to put a model of blocks into a graph.
func agenticComposed() map[string]func(*testing.T, model.AgenticModel) agenticRunnable {
	ways := composedOf[*schema.AgenticMessage]()
	ways["branch that reads the stream"] = func(t *testing.T, m model.AgenticModel) agenticRunnable {
		t.Helper()
		g := compose.NewGraph[[]*schema.AgenticMessage, *schema.AgenticMessage]()
		addModel(t, g, m)
		require.NoError(t, g.AddPassthroughNode("right"))
		require.NoError(t, g.AddEdge("right", compose.END))
		require.NoError(t, g.AddLambdaNode("wrong", compose.InvokableLambda(
			func(context.Context, *schema.AgenticMessage) (*schema.AgenticMessage, error) {
				return nil, errors.ErrUnsupported
			})))
		require.NoError(t, g.AddEdge("wrong", compose.END))
		require.NoError(t, g.AddBranch("chat", compose.NewStreamGraphBranch(wholeAnswer, map[string]bool{"right": true, "wrong": true})))

		return compile(t, g)
	}

	return ways
}

// wholeAnswer is a branch that looks at the whole answer.
func wholeAnswer(_ context.Context, in *schema.StreamReader[*schema.AgenticMessage]) (string, error) {
	defer in.Close()
	text := ""
	for {
		m, err := in.Recv()
		switch {
		case errors.Is(err, io.EOF) && text == "Hello world.":
			return "right", nil
		case errors.Is(err, io.EOF):
			return "wrong", nil
		case err != nil:
			return "", err
		}
		text += words(m)
	}
}

// TestAgenticCompose: wherever a model of blocks stands in a graph, and however that is run, the answer is one.
func TestAgenticCompose(t *testing.T) {
	t.Parallel()
	hello := []*schema.AgenticMessage{schema.UserAgenticMessage("hi")}
	for place, build := range agenticComposed() {
		for way, ask := range map[string]func(*testing.T, agenticRunnable) *schema.AgenticMessage{
			"Stream": func(t *testing.T, r agenticRunnable) *schema.AgenticMessage {
				t.Helper()
				reader, err := r.Stream(t.Context(), hello)
				require.NoError(t, err)
				chunks, err := fm.CollectAny(reader)
				require.NoError(t, err)

				return fm.ConcatAgentic(t, chunks)
			},
			"Invoke": func(t *testing.T, r agenticRunnable) *schema.AgenticMessage {
				t.Helper()
				answer, err := r.Invoke(t.Context(), hello)
				require.NoError(t, err)

				return answer
			},
		} {
			t.Run(place+"/"+way, func(t *testing.T) {
				t.Parallel()
				inner := brokenAgentic()
				m, err := continuation.NewTyped[*schema.AgenticMessage](inner, now(), continuation.WithStreamingGenerate())
				require.NoError(t, err)
				answer := ask(t, build(t, m))
				assert.Equal(t, "Hello world.", words(answer))
				assert.Len(t, answer.ContentBlocks, 1)
				assertRequests(t, inner.Model, 2)
				letGo(t, inner.Model)
			})
		}
	}
}

// TestAgenticSummarizationIsNotEarly is [TestSummarizationIsNotEarly] for messages of blocks.
func TestAgenticSummarizationIsNotEarly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts []continuation.Option
		want int // summaries
	}{
		"the message's usage is that of one answer": {nil, 0},
		"the message's usage is what was billed":    {[]continuation.Option{continuation.WithBilledUsage()}, 1}, // so this test can fail
	} {
		for place := range agenticPlaces() {
			t.Run(name+"/"+place, func(t *testing.T) {
				t.Parallel()
				usage := fm.AgenticChunk(&schema.AgenticMessage{
					Role:         schema.AgenticRoleTypeAssistant,
					ResponseMeta: &schema.AgenticResponseMeta{TokenUsage: &schema.TokenUsage{PromptTokens: 100, CompletionTokens: 10, TotalTokens: 110}},
				})
				inner := fm.NewAgentic(
					fm.Script{fm.BlockText(0, "Let me "), usage, fm.Reset()},
					fm.Script{fm.BlockText(0, "look. "), fm.BlockCall(1, "c1", "look", `{"what":"here"}`), fm.StopReason("tool_use", 112, 10)},
					fm.Script{fm.BlockText(0, "Done."), fm.StopReason("end_turn", 130, 2)},
				)
				summaries := fm.NewAgentic(fm.Script{fm.BlockText(0, "They talked."), fm.StopReason("end_turn", 5, 5)})
				sum, err := summarization.NewTyped(t.Context(), &summarization.TypedConfig[*schema.AgenticMessage]{
					Model: summaries, Trigger: &summarization.TriggerCondition{ContextTokens: 160},
				})
				require.NoError(t, err)
				cfg := &agenticConfig{Handlers: []agenticMiddleware{sum}, ToolsConfig: (&worker{}).tools(t, "look")}
				all := playAgentic(t, place, cfg, inner, tt.opts...)
				last := all[len(all)-1]
				require.NoError(t, last.err)
				assert.Equal(t, "Done.", last.words)
				assertRequests(t, summaries.Model, tt.want)
			})
		}
	}
}

// TestAgenticHandlerOrders: the middleware acts once, wherever it stands among other handlers, and twice as well.
func TestAgenticHandlerOrders(t *testing.T) {
	t.Parallel()
	ours := func() agenticMiddleware {
		m, err := continuation.NewTypedMiddleware[*schema.AgenticMessage](now())
		require.NoError(t, err)

		return m
	}
	other := &adk.TypedBaseChatModelAgentMiddleware[*schema.AgenticMessage]{}
	for name, handlers := range map[string][]agenticMiddleware{
		"alone":                  {ours()},
		"twice":                  {ours(), ours()},
		"before another handler": {ours(), other},
		"behind another handler": {other, ours()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := brokenAgentic()
			by := &bystander[*schema.AgenticMessage]{}
			cfg := &agenticConfig{Name: "agent", Model: inner, Handlers: append(handlers, by)}
			agent, err := adk.NewTypedChatModelAgent(t.Context(), cfg)
			require.NoError(t, err)
			runner := adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent, EnableStreaming: true})
			all := agenticTongue().hear(t, runner.Query(t.Context(), "hi"))
			require.Len(t, all, 1)
			require.NoError(t, all[0].err)
			assert.Equal(t, "Hello world.", all[0].words)
			assertRequests(t, inner.Model, 2)
			require.Len(t, by.states, 1)
			assert.Equal(t, "Hello world.", words(by.states[0][1]))
			assert.Len(t, by.states[0][1].Extra[idKey], 36)
			letGo(t, inner.Model)
		})
	}
}
