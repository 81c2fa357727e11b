package continuation_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// mwRun runs an agent that answers "hi" and returns what its user sees: one message for each model call, and the other
// events.
func mwRun(ctx context.Context, t *testing.T, cfg *adk.ChatModelAgentConfig) (answers []*schema.Message, custom []any) {
	t.Helper()
	cfg.Name, cfg.Description = "agent", "an agent"
	agent, err := adk.NewChatModelAgent(ctx, cfg)
	require.NoError(t, err)
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	events := runner.Query(ctx, "hi")
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
	answers, custom := mwRun(t.Context(), t, &adk.ChatModelAgentConfig{Model: inner, Handlers: []adk.ChatModelAgentMiddleware{m}})
	require.Len(t, answers, 1)
	assert.Equal(t, "Hello world.", answers[0].Content)
	assert.Len(t, answers[0].Extra["_eino_msg_id"], 36)
	require.Len(t, custom, 1)
	cancel, ok := custom[0].(callbacks.ToolCallCancel)
	require.True(t, ok)
	assert.Equal(t, "c1", cancel.ID)
	assert.Len(t, inner.Requests(), 2)
}

// TestMiddlewareCheckpoints: within a run the next model call takes the place of the one before in the store, and the
// end of the run leaves nothing there.
func TestMiddlewareCheckpoints(t *testing.T) {
	t.Parallel()
	store := &ckStore{Store: memstore.New()}
	inner := fm.New(
		fm.Script{fm.Text("Let me look. "), fm.Call(0, "c1", "look", `{}`), fm.Finish("tool_calls")},
		fm.Script{fm.Text("It is blue."), fm.Finish("stop")},
	)
	m, err := continuation.NewMiddleware(continuation.WithCheckpoints(store))
	require.NoError(t, err)
	var key string
	look, err := utils.InferTool("look", "looks", func(ctx context.Context, _ struct{}) (string, error) {
		ends := store.put.Load()
		if assert.NotNil(t, ends) {
			key = ends.RunID
			c, err := store.Get(ctx, key)
			assert.NoError(t, err)
			assert.True(t, c.Done, "while the tools run the answer stays")
			assert.Equal(t, "tool_calls", c.FinishReason)
		}

		return "blue", nil
	})
	require.NoError(t, err)
	answers, _ := mwRun(continuation.ContextWithRunID(t.Context(), "run-7"), t, &adk.ChatModelAgentConfig{
		Model: inner, Handlers: []adk.ChatModelAgentMiddleware{m},
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{look}}},
	})
	assert.Equal(t, "It is blue.", answers[len(answers)-1].Content)
	assert.True(t, strings.HasPrefix(key, "run-7/"), key)
	assert.Equal(t, "It is blue.", store.put.Load().Text)
	assert.Equal(t, key, store.put.Load().RunID)
	_, err = store.Get(t.Context(), key)
	require.ErrorIs(t, err, checkpointstore.ErrNotFound)
}
