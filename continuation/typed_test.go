package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func typed(t *testing.T, inner fm.AgenticModel, opts ...continuation.Option) *continuation.Typed[*schema.AgenticMessage] {
	t.Helper()
	m, err := continuation.NewTyped(inner, opts...)
	require.NoError(t, err)

	return m
}

// TestTypedUnbroken: a stream that does not break is handed on as it came, chunk by chunk.
func TestTypedUnbroken(t *testing.T) {
	t.Parallel()
	chunks := fm.Script{
		fm.BlockThought(0, "think", ""), fm.BlockThought(0, "", "sig"), fm.BlockText(1, "Hello "), fm.BlockText(1, "world"),
		fm.BlockCall(2, "c1", "look", `{"a":1}`), fm.StopReason("tool_use", 3, 4),
	}
	var sent []*schema.AgenticMessage
	inner := agenticFunc(func() *schema.StreamReader[*schema.AgenticMessage] {
		sent = chunks.AgenticChunks()

		return schema.StreamReaderFromArray(sent)
	})
	m, err := continuation.NewTyped[*schema.AgenticMessage](inner)
	require.NoError(t, err)
	r, err := m.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")})
	require.NoError(t, err)
	got, err := fm.CollectAny(r)
	require.NoError(t, err)
	require.Len(t, got, len(sent))
	for i := range sent {
		assert.Same(t, sent[i], got[i], "chunk %d", i)
	}
}

// TestTypedContinues: a broken text goes on in the same block, and the request carries it.
func TestTypedContinues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.NewAgentic(
			fm.Script{fm.BlockThought(0, "think", "sig"), fm.BlockText(1, "Hello wor"), fm.Reset()},
			fm.Script{fm.BlockText(0, "ld."), fm.StopReason("end_turn", 3, 4)},
		)
		r, err := typed(t, inner).Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.CollectAny(r)
		require.NoError(t, err)
		msg := fm.ConcatAgentic(t, chunks)
		require.Len(t, msg.ContentBlocks, 2)
		assert.Equal(t, &schema.Reasoning{Text: "think", Signature: "sig"}, msg.ContentBlocks[0].Reasoning)
		assert.Equal(t, "Hello world.", msg.ContentBlocks[1].AssistantGenText.Text)
		assert.Equal(t, "end_turn", msg.ResponseMeta.ClaudeExtension.StopReason)
		assert.Equal(t, 1, msg.Extra[continuation.ExtraContinuations])

		asked := inner.Requests()[1].Agentic()
		require.Len(t, asked, 3)
		require.Len(t, asked[1].ContentBlocks, 2)
		assert.Equal(t, "Hello wor", asked[1].ContentBlocks[1].AssistantGenText.Text)
		assert.Equal(t, schema.AgenticRoleTypeUser, asked[2].Role)
	})
}

// TestTypedMessage: the same for *schema.Message.
func TestTypedMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("Hello wor"), fm.Reset()}, fm.Script{fm.Text("ld."), fm.Finish("stop")})
		m, err := continuation.NewTyped[*schema.Message](inner)
		require.NoError(t, err)
		assert.Equal(t, "FaultModel", m.GetType())
		r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.Collect(r)
		require.NoError(t, err)
		assert.Equal(t, "Hello world.", fm.Concat(t, chunks).Content)
	})
}

// TestTypedRestarts: half a thought is marked, and gone when the message comes back.
func TestTypedRestarts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.NewAgentic(
			fm.Script{fm.BlockThought(0, "half a", ""), fm.Reset()},
			fm.Script{fm.BlockThought(0, "whole", "sig"), fm.BlockText(1, "Hello."), fm.StopReason("end_turn", 3, 4)},
			fm.Script{fm.BlockText(0, "Bye."), fm.StopReason("end_turn", 3, 4)},
		)
		m := typed(t, inner)
		r, err := m.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.CollectAny(r)
		require.NoError(t, err)
		msg := fm.ConcatAgentic(t, chunks)
		require.Len(t, msg.ContentBlocks, 3)
		assert.Equal(t, "0", msg.Extra[continuation.ExtraBrokenBlocks])

		clean := continuation.RepairTyped(msg)
		require.Len(t, clean.ContentBlocks, 2)
		assert.Equal(t, &schema.Reasoning{Text: "whole", Signature: "sig"}, clean.ContentBlocks[0].Reasoning)

		r, err = m.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi"), msg, schema.UserAgenticMessage("and")})
		require.NoError(t, err)
		_, err = fm.CollectAny(r)
		require.NoError(t, err)
		assert.Len(t, inner.Requests()[2].Agentic()[1].ContentBlocks, 2)
	})
}

// TestTypedRefusesMark: an option that cannot hold is an error that names it.
func TestTypedRefusesMark(t *testing.T) {
	t.Parallel()
	mark := continuation.WithDialect(continuation.PrefillWith(func(*schema.Message) {}))
	_, err := continuation.NewTyped(fm.NewAgentic(), mark)
	require.ErrorContains(t, err, "WithDialect")
	_, err = continuation.NewTyped[*schema.Message](fm.New(), mark)
	require.NoError(t, err)
	_, err = continuation.NewTyped[*schema.AgenticMessage](nil, continuation.WithOpenRetries(-1))
	require.ErrorContains(t, err, "nil")
	require.ErrorContains(t, err, "WithOpenRetries")
}
