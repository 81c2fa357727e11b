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

// TestWholeOutput breaks a structured answer at every chunk: the consumer gets one whole document, from one attempt.
func TestWholeOutput(t *testing.T) {
	t.Parallel()
	answer := fm.Script{
		fm.Reasoning("hm"), fm.Text(`{"a":`), fm.Text(`[1,2`), fm.Text(`]}`), fm.FinishUsage("stop", 10, 5),
	}
	for at := range len(answer) {
		synctest.Test(t, func(t *testing.T) {
			other := fm.Script{fm.Reasoning("so"), fm.Text(`{"b":2}`), fm.FinishUsage("stop", 10, 3)}
			inner := fm.New(append(append(fm.Script{}, answer[:at]...), fm.Reset()), other).TypeName("OpenAI")
			m := continuation.Wrap(inner, continuation.WithWholeOutput())
			r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
			require.NoError(t, err)
			chunks, err := fm.Collect(r)
			require.NoError(t, err)
			msg := continuation.Repair(fm.Concat(t, chunks))
			assert.Equal(t, `{"b":2}`, msg.Content, "broken after %d chunks", at)
			assert.Equal(t, "so", msg.ReasoningContent)
			assert.Equal(t, "stop", msg.ResponseMeta.FinishReason)
			assert.Equal(t, 3, msg.ResponseMeta.Usage.CompletionTokens)
			requests := inner.Requests()
			require.Len(t, requests, 2)
			assert.Equal(t, requests[0].Messages, requests[1].Messages, "the request is the caller's own")
		})
	}
}

func TestWholeOutputUnbroken(t *testing.T) {
	t.Parallel()
	answer := fm.Script{fm.Reasoning("hm"), fm.Text(`{"a"`), fm.Text(`:1}`), fm.Call(0, "c", "f", "{}"), fm.FinishUsage("tool_calls", 10, 5)}
	synctest.Test(t, func(t *testing.T) {
		m := continuation.Wrap(fm.New(answer), continuation.WithWholeOutput())
		r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.Collect(r)
		require.NoError(t, err)
		assert.Equal(t, answer.Message(t), fm.Concat(t, chunks))
	})
}

// TestWholeOutputKeepsWholeCalls: what can run runs, together with the text before it.
func TestWholeOutputKeepsWholeCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("Let me see."), fm.Call(0, "c", "f", "{}"), fm.Call(1, "d", "g", `{"x`), fm.Reset()})
		m := continuation.Wrap(inner, continuation.WithWholeOutput())
		r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.Collect(r)
		require.NoError(t, err)
		msg := fm.Concat(t, chunks)
		assert.Equal(t, "Let me see.", msg.Content)
		require.Len(t, msg.ToolCalls, 1)
		assert.Equal(t, "f", msg.ToolCalls[0].Function.Name)
	})
}

func TestWholeOutputExhausted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := fm.Script{fm.Text(`{"a":`), fm.Reset()}
		m := continuation.Wrap(fm.New(broken, broken), continuation.WithWholeOutput(), continuation.WithMaxContinuations(1))
		r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
		require.NoError(t, err)
		chunks, err := fm.Collect(r)
		exhausted := (*continuation.ExhaustedError)(nil)
		require.ErrorAs(t, err, &exhausted)
		assert.Empty(t, chunks, "nothing of half a document is shown")
		assert.Equal(t, `{"a":`, exhausted.Partial.Content)
	})
}
