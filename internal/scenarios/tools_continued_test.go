package scenarios_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestToolsOfAContinuation: it may call tools, and knows those that ran.
func TestToolsOfAContinuation(t *testing.T) {
	t.Parallel()
	tools := []*schema.ToolInfo{{Name: "check", Desc: "checks"}}
	// https://github.com/openclaw/openclaw/issues/43482
	t.Run("B063 the prompt is replayed and tools run twice", func(t *testing.T) {
		t.Parallel()
		in := []*schema.Message{
			schema.UserMessage("Do it."), schema.AssistantMessage("", []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: "check", Arguments: "{}"}}}),
			schema.ToolMessage("done", "c1"),
		}
		for n := range 3 {
			g := playWith(t, fm.Continuer(prose(), fm.BreakAt(n, fm.Reset())), in, nil, now())
			require.NoError(t, g.err)
			assert.Equal(t, in, g.requests[1].Messages[:3], "what ran is not asked for again")
			assert.Equal(t, prose().Text(), g.text())
		}
	})
	// https://github.com/BerriAI/litellm/issues/31067
	t.Run("B067 the continuation writes prose instead of calling", func(t *testing.T) {
		t.Parallel()
		call := []model.Option{model.WithTools(tools), model.WithToolChoice(schema.ToolChoiceForced)}
		scripts := []fm.Script{{fm.Text("Let me check. "), fm.Reset()}, {fm.Call(0, "c", "check", "{}"), fm.Finish("tool_calls")}}
		g := playWith(t, fm.New(scripts...), hi(), call, now())
		require.NoError(t, g.err)
		assert.Equal(t, []string{"c check {}"}, callsOf(g.message(t)))
		assert.Equal(t, g.requests[0].Options.Tools, g.requests[1].Options.Tools)
		assert.Equal(t, g.requests[0].Options.ToolChoice, g.requests[1].Options.ToolChoice)
		assert.Contains(t, g.sent(1)[2], "Call tools if you need them")
		g = playWith(t, fm.New(scripts...), hi(), call, now(), continuation.WithPrompt(func(i continuation.Interruption) string {
			return fmt.Sprintf("Weiter nach %q.", i.Text)
		}))
		require.NoError(t, g.err)
		assert.Equal(t, `user: Weiter nach "Let me check. ".`, g.sent(1)[2])
	})
	// https://github.com/anthropics/claude-code/issues/50957
	t.Run("B070 silence inside a call", func(t *testing.T) {
		t.Parallel()
		for client, limit := range map[string]time.Duration{"OpenAI": 2 * time.Minute, "Claude": 5 * time.Minute} {
			g := play(t, fm.New(
				fm.Script{fm.Text("a "), fm.Call(0, "id", "f", "{"), fm.Stall()}, fm.Script{fm.Call(0, "id2", "f", "{}"), fm.Finish("tool_calls")},
			).TypeName(client), now())
			scene{
				text: "a ", calls: []string{"id2 f {}"}, finish: "tool_calls", requests: 2, took: limit, events: []string{
					"broke: idle_stall, TruncateBeforeTool", "discarded: f 1", "cancel: id f", "started 1", "completed: tool_calls",
				},
			}.check(t, g)
		}
	})
}
