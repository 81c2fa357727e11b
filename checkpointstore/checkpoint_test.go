package checkpointstore_test

import (
	"math"
	"time"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

// full is a checkpoint with every field set and every type that Extra may hold.
func full() cs.Checkpoint {
	extra := map[string]any{
		"string": "text", "empty": "", "not utf-8": "\xff\xfe", "key \xff": true, "true": true, "false": false,
		"int64": int64(math.MaxInt64), "min": int64(math.MinInt64), "float64": 1.5, "small": math.SmallestNonzeroFloat64,
		"inf": math.Inf(1), "-inf": math.Inf(-1), "-0": math.Copysign(0, -1),
		"bytes": []byte("\x00\xff\"\n"), "no bytes": []byte{}, "nil bytes": []byte(nil),
		"strings": []string{"a", "", "\xff"}, "no strings": []string{}, "nil strings": []string(nil),
		"map": map[string]any{"in": map[string]any{"float64": float64(3), "int64": int64(3)}}, "nil map": map[string]any(nil), "no map": map[string]any{},
	}

	return cs.Checkpoint{
		Version: cs.Version, RunID: "run-7/a1b2c3d4", Fingerprint: "f", Provider: "p", Model: "m", Owner: "host-1 \xff",
		Text: "Hello \"wörld\"\x00\x1f\u2028\n\\ \xf0\x9f", Reasoning: "quote \" slash \\ line\n nul\x00 esc\x1f del\x7f \u2028 <>& 🙂",
		ToolCalls:    []cs.ToolCall{{Index: 0, ID: "a", Type: "function", Name: "search", Arguments: `{"q":"x"}`, Extra: extra}, {Index: 2}},
		OpenToolCall: &cs.ToolCall{Index: 3, ID: "b", Name: "write", Arguments: `{"path":"/`, Extra: map[string]any{"sig": []byte{1}}},
		Dropped:      []string{"read", ""}, Extra: extra,
		Usage: cs.Usage{Known: true, Prompt: 1, Cached: 2, Completion: 3, Reasoning: 4, Total: 5},
		Done:  true, FinishReason: "stop", Interruptions: 6, Takeovers: 7,
		Epoch: math.MaxUint64, Seq: math.MaxUint64 - 1, UpdatedAt: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.UTC),
	}
}
