package continuation

import (
	"math"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// TestTextParts: a text that came in parts is restored in parts that Eino joins to the same ones, with what stands beside
// them; one that came without comes without.
func TestTextParts(t *testing.T) {
	t.Parallel()
	text := func(s string, extra map[string]any) schema.MessageOutputPart {
		return schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: s, Extra: extra}
	}
	signed := map[string]any{"signature": []byte{1, 2, 255}}
	for name, chunks := range map[string][]*schema.Message{
		"plain": {{Content: "Wär"}, {Content: "me."}},
		"parts": {
			{Content: "Wär", AssistantGenMultiContent: []schema.MessageOutputPart{text("W", nil), text("är", nil)}},
			{Content: "me.", AssistantGenMultiContent: []schema.MessageOutputPart{text("me.", nil)}},
		},
		"signed at the end": {
			{Content: "Wär", AssistantGenMultiContent: []schema.MessageOutputPart{text("Wär", nil)}},
			{Content: "me.", AssistantGenMultiContent: []schema.MessageOutputPart{text("me.", signed)}},
		},
		"parts alone": {{AssistantGenMultiContent: []schema.MessageOutputPart{text("Wärme.", nil)}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c carry
			for i, m := range chunks {
				m.Role = schema.Assistant
				c.parts.note(chunks[i])
			}
			want, err := schema.ConcatMessages(append(chunks, &schema.Message{Role: schema.Assistant}))
			require.NoError(t, err)
			cp := checkpointstore.Checkpoint{RunID: "run", Text: "Wärme."}
			messages{}.stored(&c, &cp)
			cp, lost := checkpointstore.Normalize(cp)
			assert.Empty(t, lost)
			var restored []*schema.Message
			for _, r := range (messages{}).restored(&cp) {
				restored = append(restored, r.Message)
			}
			got, err := schema.ConcatMessages(append(restored, &schema.Message{Role: schema.Assistant}))
			require.NoError(t, err)
			assert.Equal(t, want.AssistantGenMultiContent, got.AssistantGenMultiContent)
			assert.Empty(t, got.Extra)
		})
	}
}

// TestTextPartsOfAnEditedCheckpoint: whatever stands there, it is no panic and no other text.
func TestTextPartsOfAnEditedCheckpoint(t *testing.T) {
	t.Parallel()
	to := func(n int64) map[string]any { return map[string]any{"to": n} }
	for _, extra := range []map[string]any{
		nil,
		{extraParts: "text"},
		{extraParts: int64(0)},
		{extraParts: int64(-1)},
		{extraPart + "0": to(2)},
		{extraParts: int64(1), extraPart + "0": "x"},
		{extraParts: int64(1), extraPart + "0": to(2)},
		{extraParts: int64(1), extraPart + "0": to(-5)},
		{extraParts: int64(1), extraPart + "1": to(3)},
		{extraParts: int64(2), extraPart + "0": to(99), extraPart + "1": to(2)},
		{extraParts: int64(math.MaxInt64), extraPart + "0": to(1)},
	} {
		cp := checkpointstore.Checkpoint{Text: "Wärme.", Extra: extra}
		text := ""
		for _, p := range partsOf(&cp) {
			text += p.Text
		}
		if n, _ := extra[extraParts].(int64); n > 0 {
			assert.Equal(t, "Wärme.", text, "%v", extra)
		} else {
			assert.Empty(t, text, "%v", extra)
		}
	}
}
