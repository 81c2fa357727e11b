package continuation_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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

// TestAgenticTakeoverOfACall: a call that had come whole is run without the model, and the request of the turn after it is
// that of an answer that was never broken.
func TestAgenticTakeoverOfACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		ask := func(ctx context.Context, in []*schema.AgenticMessage, scripts ...fm.Script) (*schema.AgenticMessage, fm.AgenticModel, error) {
			inner := fm.NewAgentic(scripts...)
			r, err := typed(t, inner, ctNow(), continuation.WithCheckpoints(store)).Stream(ctx, in)
			require.NoError(t, err)
			chunks, err := fm.CollectAny(r)
			if err != nil {
				return nil, inner, err
			}

			return fm.ConcatAgentic(t, chunks), inner, nil
		}
		next := func(answer *schema.AgenticMessage) []*schema.AgenticMessage {
			result := schema.NewContentBlock(&schema.FunctionToolResult{CallID: "c1", Name: "look", Content: []*schema.FunctionToolResultContentBlock{
				{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: "blue"}},
			}})

			return []*schema.AgenticMessage{
				schema.UserAgenticMessage("Tell me."), answer,
				{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{result}},
			}
		}
		begun := fm.Script{fm.BlockText(0, "One. "), fm.BlockText(0, "Two."), fm.BlockCall(1, "c1", "look", `{"a":1}`)}
		whole, _, err := ask(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")}, append(begun, fm.StopReason("tool_use", 1, 1)))
		require.NoError(t, err)

		ctx := continuation.ContextWithRunID(t.Context(), "run")
		_, _, err = ask(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")}, append(begun, fm.Fail(brRefusal{StatusCode: 401})))
		require.Error(t, err)
		got, inner, err := ask(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
		require.NoError(t, err)
		assert.Empty(t, inner.Requests(), "a call needs no model")
		done := fm.Script{fm.BlockText(0, "Blue."), fm.StopReason("end_turn", 1, 1)}
		_, after, err := ask(ctx, next(got), done)
		require.NoError(t, err)
		_, never, err := ask(t.Context(), next(whole), done)
		require.NoError(t, err)
		blocks := func(m fm.AgenticModel) (out []schema.ContentBlock) {
			for _, b := range m.Requests()[0].Agentic()[1].ContentBlocks {
				out = append(out, schema.ContentBlock{Type: b.Type, AssistantGenText: b.AssistantGenText, FunctionToolCall: b.FunctionToolCall})
			}

			return out
		}
		assert.Equal(t, blocks(never), blocks(after))
		assert.Len(t, blocks(after), 2)
	})
}

// TestCountsOverProcesses: breaks and takeovers are counted over all processes that an answer has seen.
func TestCountsOverProcesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, _ := ckDie(t, ckAnswers()["text"], 1)
		for process := 1; process <= 2; process++ {
			inner := fm.Continuer(ckAnswers()["text"], fm.BreakAt(0, fm.Reset()), fm.BreakAt(0, fm.Stall()))
			m := continuation.Wrap(inner, ctNow(), continuation.WithCheckpoints(store))
			r, err := m.Stream(ckContext(t), ctInput())
			require.NoError(t, err)
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = fm.Collect(r)
			}()
			<-time.After(time.Second)
			c, err := store.Get(t.Context(), "run-7")
			require.NoError(t, err)
			assert.Equal(t, process, c.Takeovers)
			assert.Equal(t, 2*process, c.Interruptions, "the death before, and the break")
			r.Close()
			<-done
			synctest.Wait()
		}
	})
}
