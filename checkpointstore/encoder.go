package checkpointstore

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// The body is JSON. A value of a type that JSON has not is an object with one field that names the type:
//
//	string   "text", or {"b64":"…"} if it is not UTF-8
//	bool     true
//	int64    {"int":"-1"}
//	float64  {"float":"1.5"}, also NaN, +Inf and -Inf
//	[]byte   {"bytes":"…"} in base64, or {"bytes":null}
//	[]string {"strings":[…]}, or {"strings":null}
//	map      {"map":[["key",value],…]}, or {"map":null}
//
// It is written by hand: encoding/json would look at every byte of an answer three times, and a checkpoint is written
// several times a second.

// appendBody appends all of c that the header does not have. c is normalized.
func appendBody(b []byte, c Checkpoint) ([]byte, error) {
	b = appendField(b, '{', "fingerprint", c.Fingerprint)
	b = appendField(b, ',', "provider", c.Provider)
	b = appendField(b, ',', "model", c.Model)
	b = appendField(b, ',', "text", c.Text)
	b = appendField(b, ',', "reasoning", c.Reasoning)
	b = append(b, `,"tool_calls":`...)
	b = appendList(b, c.ToolCalls, appendToolCall)
	if c.OpenToolCall != nil {
		b = append(b, `,"open_tool_call":`...)
		b = appendToolCall(b, *c.OpenToolCall)
	}
	b = append(b, `,"dropped":`...)
	b = appendList(b, c.Dropped, appendString)
	b = append(b, `,"extra":`...)
	b = appendMap(b, c.Extra)

	return appendState(b, state{c.Usage, c.Done, c.FinishReason, c.Interruptions, c.Takeovers, c.UpdatedAt})
}

// appendDelta appends all of d that the header does not have; what is empty is left out.
func appendDelta(b []byte, d Delta) ([]byte, error) {
	var n normalizer
	b = append(b, `{"after":"`...)
	b = strconv.AppendUint(b, d.After, 10)
	b = append(b, '"')
	if d.Text != "" {
		b = appendField(b, ',', "text", d.Text)
	}
	if d.Reasoning != "" {
		b = appendField(b, ',', "reasoning", d.Reasoning)
	}
	if len(d.ToolCalls) > 0 {
		b = append(b, `,"tool_calls":`...)
		b = appendList(b, n.calls(d.ToolCalls), appendToolCall)
	}
	if d.OpenToolCall != nil {
		b = append(b, `,"open_tool_call":`...)
		b = appendToolCall(b, *n.open(d.OpenToolCall))
	}
	if d.Continues {
		b = append(b, `,"continues":true`...)
	}
	if d.Extra != nil {
		b = append(b, `,"extra":`...)
		b = appendMap(b, n.mapping("Extra", d.Extra, 0))
	}
	if len(d.ExtraMore) > 0 {
		b = append(b, `,"extra_more":`...)
		b = appendPairs(b, d.ExtraMore, appendString)
	}
	if d.Dropped != nil {
		b = append(b, `,"dropped":`...)
		b = appendList(b, d.Dropped, appendString)
	}

	return appendState(b, state{d.Usage, d.Done, d.FinishReason, d.Interruptions, d.Takeovers, d.UpdatedAt})
}

// state is the end of a body, in a checkpoint and in a delta.
type state struct {
	usage                    Usage
	done                     bool
	finishReason             string
	interruptions, takeovers int
	updatedAt                time.Time
}

func appendState(b []byte, s state) ([]byte, error) {
	s.updatedAt = s.updatedAt.UTC()
	if y := s.updatedAt.Year(); y < 0 || y > 9999 {
		return nil, fmt.Errorf("checkpointstore: UpdatedAt has the year %d", y)
	}
	b = append(b, `,"usage":`...)
	b = appendUsage(b, s.usage)
	b = append(b, `,"done":`...)
	b = strconv.AppendBool(b, s.done)
	b = appendField(b, ',', "finish_reason", s.finishReason)
	b = appendInt(b, `,"interruptions":`, s.interruptions)
	b = appendInt(b, `,"takeovers":`, s.takeovers)
	b = appendField(b, ',', "updated_at", s.updatedAt.Format(time.RFC3339Nano))

	return append(b, "}\n"...), nil
}

func appendToolCall(b []byte, t ToolCall) []byte {
	b = appendInt(b, `{"index":`, t.Index)
	b = appendField(b, ',', "id", t.ID)
	b = appendField(b, ',', "type", t.Type)
	b = appendField(b, ',', "name", t.Name)
	b = appendField(b, ',', "arguments", t.Arguments)
	b = append(b, `,"extra":`...)
	b = appendMap(b, t.Extra)

	return append(b, '}')
}

func appendUsage(b []byte, u Usage) []byte {
	b = append(b, `{"known":`...)
	b = strconv.AppendBool(b, u.Known)
	b = appendInt(b, `,"prompt":`, u.Prompt)
	b = appendInt(b, `,"cached":`, u.Cached)
	b = appendInt(b, `,"completion":`, u.Completion)
	b = appendInt(b, `,"reasoning":`, u.Reasoning)
	b = appendInt(b, `,"total":`, u.Total)
	if u.Unreported != 0 { // as it is in checkpoints that were written before there was this number
		b = appendInt(b, `,"unreported":`, u.Unreported)
	}

	return append(b, '}')
}

func appendInt(b []byte, label string, n int) []byte {
	return strconv.AppendInt(append(b, label...), int64(n), 10)
}

func appendField(b []byte, before byte, name, value string) []byte {
	b = append(b, before, '"')
	b = append(b, name...)
	b = append(b, `":`...)

	return appendString(b, value)
}

func appendList[T any](b []byte, list []T, appendItem func([]byte, T) []byte) []byte {
	if list == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i, item := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendItem(b, item)
	}

	return append(b, ']')
}

// appendMap appends the pairs of m, sorted. They are a list, since a key need not be UTF-8.
func appendMap(b []byte, m map[string]any) []byte {
	if m == nil {
		return append(b, "null"...)
	}

	return appendPairs(b, m, appendValue)
}

func appendPairs[V any](b []byte, m map[string]V, appendOne func([]byte, V) []byte) []byte {
	return appendList(b, append([]string{}, slices.Sorted(maps.Keys(m))...), func(b []byte, key string) []byte {
		b = appendString(append(b, '['), key)
		b = appendOne(append(b, ','), m[key])

		return append(b, ']')
	})
}

func appendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendString(b, v)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		b = strconv.AppendInt(append(b, `{"int":"`...), v, 10)

		return append(b, `"}`...)
	case float64:
		b = strconv.AppendFloat(append(b, `{"float":"`...), v, 'g', -1, 64)

		return append(b, `"}`...)
	case []byte:
		if v == nil {
			return append(b, `{"bytes":null}`...)
		}
		b = base64.StdEncoding.AppendEncode(append(b, `{"bytes":"`...), v)

		return append(b, `"}`...)
	case []string:
		b = appendList(append(b, `{"strings":`...), v, appendString)

		return append(b, '}')
	case map[string]any:
		b = appendMap(append(b, `{"map":`...), v)

		return append(b, '}')
	default: // Normalize has left it out
		return append(b, "null"...)
	}
}

func appendString(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b = base64.StdEncoding.AppendEncode(append(b, `{"b64":"`...), []byte(s))

		return append(b, `"}`...)
	}
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		ch := s[i]
		if ch >= ' ' && ch != '"' && ch != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch ch {
		case '"', '\\':
			b = append(b, '\\', ch)
		case '\n':
			b = append(b, '\\', 'n')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[ch>>4], hex[ch&15])
		}
	}
	b = append(b, s[start:]...)

	return append(b, '"')
}
