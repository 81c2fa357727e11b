package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestSummarizationIsNotEarly: a recovered call does not look like a longer conversation to Eino's summarization.
func TestSummarizationIsNotEarly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		opts []continuation.Option
		want int // summaries
	}{
		"the message's usage is that of one answer": {nil, 0},
		"the message's usage is what was billed":    {[]continuation.Option{continuation.WithBilledUsage()}, 1}, // so this test can fail
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				inner := fm.New(
					fm.Script{fm.Text("Let me "), fm.Usage(100, 10), fm.Reset()},
					fm.Script{fm.Text("look. "), fm.Call(0, "c1", "look", `{"what":"here"}`), fm.FinishUsage("tool_calls", 112, 10)},
					fm.Script{fm.Text("Done."), fm.FinishUsage("stop", 130, 2)},
				)
				summaries := fm.New(fm.Script{fm.Text("They talked."), fm.Finish("stop")})
				sum, err := summarization.New(t.Context(), &summarization.Config{
					Model: summaries, Trigger: &summarization.TriggerCondition{ContextTokens: 160},
				})
				require.NoError(t, err)
				w := &worker{}
				cfg := &adk.ChatModelAgentConfig{ToolsConfig: w.tools(t, "look"), Handlers: []adk.ChatModelAgentMiddleware{sum}}
				decorate(cfg, inner, tt.opts...)
				said := answers(t, run1(t, newAgent(t, cfg)))
				assert.Equal(t, "Done.", said[len(said)-1].Content)
				assertRequests(t, summaries, tt.want)
			})
		})
	}
}

// TestHandlerOrders: the orders that work show one event a model call; the one that the middleware's documentation
// forbids shows each attempt, since the sender of events stands between the attempts and what joins them.
func TestHandlerOrders(t *testing.T) {
	t.Parallel()
	ours := func() adk.ChatModelAgentMiddleware {
		m, err := continuation.NewMiddleware(now())
		require.NoError(t, err)

		return m
	}
	for name, tt := range map[string]struct {
		handlers []adk.ChatModelAgentMiddleware
		events   int
	}{
		"alone":                       {[]adk.ChatModelAgentMiddleware{ours()}, 1},
		"twice":                       {[]adk.ChatModelAgentMiddleware{ours(), ours()}, 1},
		"before another handler":      {[]adk.ChatModelAgentMiddleware{ours(), newRecordState()}, 1},
		"behind another handler":      {[]adk.ChatModelAgentMiddleware{newRecordState(), ours()}, 1},
		"behind the sender of events": {[]adk.ChatModelAgentMiddleware{adk.NewEventSenderModelWrapper(), ours()}, 1},
		"before the sender of events": {[]adk.ChatModelAgentMiddleware{ours(), adk.NewEventSenderModelWrapper()}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner, state := broken(), newRecordState()
			cfg := &adk.ChatModelAgentConfig{Name: "agent", Model: inner, Handlers: append(tt.handlers, state)}
			all := run1(t, newAgent(t, cfg))
			require.Len(t, all, tt.events)
			assertRequests(t, inner, 2)
			require.Len(t, state.states, 1)
			assert.Equal(t, "Hello world.", state.states[0][1].Content)
			assert.Len(t, state.states[0][1].Extra[idKey], 36)
			if tt.events == 1 { // of more, each holds a copy of its attempt's stream
				assert.Equal(t, "Hello world.", all[0].message.Content)
				letGo(t, inner)
			}
		})
	}
}
