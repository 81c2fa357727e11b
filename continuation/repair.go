package continuation

import (
	"maps"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// Repair returns what the message truly is: after a restart the consumer has seen half a thought that is not part of
// the answer, and the message says how many bytes of its reasoning that is. Repair cuts them, for callers who store
// messages or send them to another model; a decorated model does so by itself when the message comes back.
// A message without such a mark is returned as it is; otherwise a copy is returned and msg is not changed.
// A nil message is nil.
func Repair(msg *schema.Message) *schema.Message {
	if msg == nil || !needsRepair(msg) {
		return msg
	}
	m := *msg
	m.ReasoningContent = cutBytes(m.ReasoningContent, markInt(msg, ExtraReasoningSkip))
	m.Extra = maps.Clone(m.Extra)
	delete(m.Extra, ExtraReasoningSkip)
	for key := range msg.Extra {
		of, ok := strings.CutPrefix(key, ExtraReasoningSkip+".")
		if !ok {
			continue
		}
		if text, isString := m.Extra[of].(string); isString {
			m.Extra[of] = cutBytes(text, markInt(msg, key))
		}
		delete(m.Extra, key)
	}

	return &m
}

func needsRepair(m *schema.Message) bool {
	for key := range m.Extra {
		if strings.HasPrefix(key, ExtraReasoningSkip) {
			return true
		}
	}

	return false
}

func cutBytes(s string, n int) string { return s[max(0, min(n, len(s))):] }

// repairAll returns in, or a copy of it in which the messages are repaired.
func repairAll(in []*schema.Message) []*schema.Message {
	out, copied := in, false
	for i, m := range in {
		r := Repair(m)
		if r == m {
			continue
		}
		if !copied {
			out, copied = append([]*schema.Message(nil), in...), true
		}
		out[i] = r
	}

	return out
}
