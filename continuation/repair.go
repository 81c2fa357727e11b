package continuation

import (
	"maps"
	"reflect"
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
	m.ReasoningContent = cutBytes(m.ReasoningContent, markInt(msg, ExtraReasoningSkip), markInt(msg, ExtraReasoningEnd))
	m.Extra = maps.Clone(m.Extra)
	for key, v := range msg.Extra {
		if isReasoningMark(key) {
			delete(m.Extra, key)
		} else {
			m.Extra[key] = cutReasoning(v, markInt(msg, ExtraReasoningSkip+"."+key), markInt(msg, ExtraReasoningEnd+"."+key))
		}
	}

	return &m
}

func needsRepair(m *schema.Message) bool {
	for key := range m.Extra {
		if isReasoningMark(key) {
			return true
		}
	}

	return false
}

func isReasoningMark(key string) bool {
	return strings.HasPrefix(key, ExtraReasoningSkip) || strings.HasPrefix(key, ExtraReasoningEnd)
}

// reasoningSize returns how much of a thought v is: the bytes of a string, the elements of a list. Bytes are a signature,
// which is none of it.
func reasoningSize(v any) int {
	if text, ok := v.(string); ok {
		return len(text)
	}
	if _, signature := v.([]byte); signature || v == nil {
		return 0
	}
	if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
		return r.Len()
	}

	return 0
}

// cutReasoning returns of v what stands between two marks; an end of 0 is none.
func cutReasoning(v any, from, to int) any {
	if from == 0 && to == 0 {
		return v
	}
	if text, ok := v.(string); ok {
		return cutBytes(text, from, to)
	}
	size := reasoningSize(v)
	if size == 0 {
		return v
	}
	from, to = bounds(from, to, size)

	return reflect.ValueOf(v).Slice(from, to).Interface()
}

func cutBytes(s string, from, to int) string {
	from, to = bounds(from, to, len(s))

	return s[from:to]
}

// bounds fits two marks, which may come from anywhere, into a size.
func bounds(from, to, size int) (int, int) {
	if to <= 0 || to > size {
		to = size
	}

	return max(0, min(from, to)), to
}

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
