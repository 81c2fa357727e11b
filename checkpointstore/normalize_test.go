package checkpointstore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

func TestNormalizeKeepsTypesAndReportsTheRest(t *testing.T) {
	t.Parallel()
	type named string
	self := map[string]any{"ok": true}
	self["self"] = self
	c, leftOut := cs.Normalize(cs.Checkpoint{
		RunID: "r",
		Extra: map[string]any{
			"int": 1, "int8": int8(-8), "int16": int16(-16), "int32": int32(-32), "uint": uint(1), "uint8": uint8(8),
			"uint16": uint16(16), "uint32": uint32(math.MaxUint32), "uint64": uint64(math.MaxInt64), "float32": float32(0.5),
			"too big": uint64(math.MaxInt64 + 1), "too big uint": uint(math.MaxUint), "nil": nil, "named": named("x"), "list": []any{"x"}, "chan": make(chan int),
			"struct": struct{}{}, "map": map[string]any{"error": assert.AnError, "bool": true}, "strings": map[string]string{},
		},
		ToolCalls:    []cs.ToolCall{{}, {Extra: map[string]any{"k": 1i, "l": "x"}}},
		OpenToolCall: &cs.ToolCall{Extra: map[string]any{"k": 1i}},
	})
	assert.Equal(t, map[string]any{
		"int": int64(1), "int8": int64(-8), "int16": int64(-16), "int32": int64(-32), "uint": int64(1), "uint8": int64(8),
		"uint16": int64(16), "uint32": int64(math.MaxUint32), "uint64": int64(math.MaxInt64), "float32": 0.5,
		"map": map[string]any{"bool": true},
	}, c.Extra)
	assert.Equal(t, map[string]any{"l": "x"}, c.ToolCalls[1].Extra)
	assert.Empty(t, c.OpenToolCall.Extra)
	assert.Equal(t, []string{
		`Extra["chan"]`, `Extra["list"]`, `Extra["map"]["error"]`, `Extra["named"]`, `Extra["nil"]`, `Extra["strings"]`, `Extra["struct"]`,
		`Extra["too big uint"]`, `Extra["too big"]`, `OpenToolCall.Extra["k"]`, `ToolCalls[1].Extra["k"]`,
	}, leftOut)

	c, leftOut = cs.Normalize(cs.Checkpoint{RunID: "r", Extra: self})
	require.Len(t, leftOut, 1, "a map that holds itself ends")
	data, err := cs.Encode(c)
	require.NoError(t, err)
	got, err := cs.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, c, got, "what Normalize keeps, Decode reads")
}

func TestNormalizeSharesNothing(t *testing.T) {
	t.Parallel()
	given := full()
	c, leftOut := cs.Normalize(given)
	require.Empty(t, leftOut)
	require.Equal(t, full(), c)
	given.ToolCalls[0].Name = "changed"
	as[[]byte](t, given.ToolCalls[0].Extra["bytes"])[0]++
	as[[]string](t, given.Extra["strings"])[0] = "changed"
	as[map[string]any](t, as[map[string]any](t, given.Extra["map"])["in"])["new"] = true
	given.OpenToolCall.Arguments = "changed"
	as[[]byte](t, given.OpenToolCall.Extra["sig"])[0]++
	given.Dropped[0] = "changed"
	assert.Equal(t, full(), c)
}

func as[T any](t *testing.T, v any) T {
	t.Helper()
	typed, ok := v.(T)
	require.True(t, ok, "%T", v)

	return typed
}
