package checkpointstore

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// maxDepth bounds maps within maps in Extra: deeper ones are left out. It also ends a map that holds itself.
const maxDepth = 16

// Normalize returns c as a store gives it back, and sorted what of it a store cannot keep, as paths such as
// `ToolCalls[0].Extra["key"]`. The result shares no memory with c.
//
// In Extra and ToolCall.Extra the other integers become int64 and float32 becomes float64. Left out are all other
// types, a uint64 above the largest int64, nil, and maps more than 16 levels deep. Stores leave the same out, in
// silence: who writes calls Normalize to know.
func Normalize(c Checkpoint) (Checkpoint, []string) {
	var n normalizer
	c.Version = Version
	c.UpdatedAt = c.UpdatedAt.Round(0).UTC() // Round strips the monotonic reading
	c.Dropped = slices.Clone(c.Dropped)
	c.Extra = n.mapping("Extra", c.Extra, 0)
	c.ToolCalls = n.calls(c.ToolCalls)
	c.OpenToolCall = n.open(c.OpenToolCall)
	slices.Sort(n.leftOut)

	return c, n.leftOut
}

type normalizer struct{ leftOut []string }

func (n *normalizer) calls(calls []ToolCall) []ToolCall {
	calls = slices.Clone(calls)
	for i := range calls {
		if calls[i].Extra != nil {
			calls[i].Extra = n.mapping(fmt.Sprintf("ToolCalls[%d].Extra", i), calls[i].Extra, 0)
		}
	}

	return calls
}

func (n *normalizer) open(t *ToolCall) *ToolCall {
	if t == nil {
		return nil
	}
	open := *t
	open.Extra = n.mapping("OpenToolCall.Extra", open.Extra, 0)

	return &open
}

func (n *normalizer) mapping(path string, m map[string]any, depth int) map[string]any {
	if m == nil {
		return nil
	}
	clean := make(map[string]any, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		at := fmt.Sprintf("%s[%q]", path, key)
		if v, ok := n.value(at, m[key], depth); ok {
			clean[key] = v
		} else {
			n.leftOut = append(n.leftOut, at)
		}
	}

	return clean
}

func (n *normalizer) value(path string, v any, depth int) (any, bool) {
	switch v := v.(type) {
	case string, bool, float64:
		return v, true
	case float32:
		return float64(v), true
	case []byte:
		return slices.Clone(v), true
	case []string:
		return slices.Clone(v), true
	case map[string]any:
		if depth+1 >= maxDepth {
			return nil, false
		}

		return n.mapping(path, v, depth+1), true
	default:
		return integer(v)
	}
}

func integer(v any) (any, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint:
		return int64(v), uint64(v) <= math.MaxInt64
	case uint64:
		return int64(v), v <= math.MaxInt64
	case uint32:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint8:
		return int64(v), true
	default:
		return nil, false
	}
}
