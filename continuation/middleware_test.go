package continuation_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// mwRun runs an agent that answers "hi" and returns what its user sees: one message for each model call, and the other
// events.
func mwRun(t *testing.T, cfg *adk.ChatModelAgentConfig) (answers []*schema.Message, custom []any) {
	t.Helper()
	cfg.Name, cfg.Description = "agent", "an agent"
	agent, err := adk.NewChatModelAgent(t.Context(), cfg)
	require.NoError(t, err)
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	events := runner.Query(t.Context(), "hi")
	for {
		e, ok := events.Next()
		if !ok {
			return answers, custom
		}
		require.NoError(t, e.Err)
		if e.Output.MessageOutput == nil {
			custom = append(custom, e.Output.CustomizedOutput)

			continue
		}
		m, err := e.Output.MessageOutput.GetMessage()
		require.NoError(t, err)
		answers = append(answers, m)
	}
}

func TestMiddleware(t *testing.T) {
	t.Parallel()
	inner := fm.New(
		fm.Script{fm.Text("Hello "), fm.Call(0, "c1", "f", `{"a`), fm.Reset()},
		fm.Script{fm.Text("world."), fm.Finish("stop")},
	)
	m, err := continuation.NewMiddleware(ctNow())
	require.NoError(t, err)
	answers, custom := mwRun(t, &adk.ChatModelAgentConfig{Model: inner, Handlers: []adk.ChatModelAgentMiddleware{m}})
	require.Len(t, answers, 1)
	assert.Equal(t, "Hello world.", answers[0].Content)
	assert.Len(t, answers[0].Extra["_eino_msg_id"], 36)
	require.Len(t, custom, 1)
	cancel, ok := custom[0].(callbacks.ToolCallCancel)
	require.True(t, ok)
	assert.Equal(t, "c1", cancel.ID)
	assert.Len(t, inner.Requests(), 2)
}
