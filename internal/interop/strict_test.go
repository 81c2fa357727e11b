package interop

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestStrictAlternation: a template that refuses a user message behind a tool result, as Mistral's do, gets no hint there, and a
// continuation behind the tool result is valid for it.
func TestStrictAlternation(t *testing.T) {
	tools, text := twoToolsAnswer().answer, textAnswer().answer
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: tools}, {Answer: text}}, StrictAlternation: true,
		Plan: faultllm.InOrder(faultllm.Reset(faultllm.InTool(1, 17)), faultllm.None(), faultllm.Reset(faultllm.InText(2))),
	})
	m := r.wrap()
	chunks, err := stream(t.Context(), m)
	require.NoError(t, err)
	called := concat(t, chunks)
	require.Len(t, called.ToolCalls, 1, "the other one was cut off")

	reader, err := m.Stream(t.Context(), append(question(), called, schema.ToolMessage("calm", called.ToolCalls[0].ID)))
	require.NoError(t, err)
	chunks, err = drain(reader)
	require.NoError(t, err)
	assert.Equal(t, text.Text(), concat(t, chunks).Content)
	notices := eventsOf[callbacks.Notice](r.events)
	require.Len(t, notices, 1)
	assert.Equal(t, callbacks.NoticeHintRefused, notices[0].Kind)
	var statuses []int
	for _, rec := range r.ledger(t).Records {
		statuses = append(statuses, rec.Status)
	}
	assert.Equal(t, []int{200, 400, 200, 200}, statuses, "the hint is refused, once")
}
