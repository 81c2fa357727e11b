package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestAgenticTakeover: a process that takes an answer over delivers what the provider ran, and does not have it run again.
func TestAgenticTakeover(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		ask := func(inner fm.AgenticModel) ([]*schema.AgenticMessage, error) {
			ctx := continuation.ContextWithRunID(t.Context(), "run")
			r, err := typed(t, inner, continuation.WithCheckpoints(store)).Stream(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
			require.NoError(t, err)

			return fm.CollectAny(r)
		}
		_, err := ask(fm.NewAgentic(
			fm.Script{
				fm.BlockText(0, "One. "), fm.BlockServerCall(1, "a", "search", "1"), fm.BlockServerResult(2, "a", "search", "x"),
				fm.BlockCall(3, "c1", "look", `{"a":`), fm.Reset(),
			},
			fm.Script{fm.OpenFail(brRefusal{StatusCode: 401})}))
		require.ErrorIs(t, err, continuation.ErrExhausted)

		second := fm.NewAgentic(fm.Script{fm.BlockText(0, "Two."), fm.StopReason("end_turn", 1, 1)})
		chunks, err := ask(second)
		require.NoError(t, err)
		want := []schema.ContentBlockType{
			schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeServerToolCall, schema.ContentBlockTypeServerToolResult,
		}
		assert.Equal(t, want, agKinds(second.Requests()[0].Agentic()[1]))
		assert.Equal(t, append(want, schema.ContentBlockTypeAssistantGenText), agKinds(fm.ConcatAgentic(t, chunks)))
	})
}
