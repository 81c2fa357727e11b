package storetest

import (
	"math"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// sample is a checkpoint with a value in every field and every type that Extra may hold.
func sample(runID string) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{
		Version: checkpointstore.Version, RunID: runID, Fingerprint: "sha256:f00", Provider: "OpenAI", Model: "model-1", Owner: "host-1/42 \xff",
		Text: "Hello \"wörld\"\n\x00\x1f\u2028\\ 🙂", Reasoning: "cut in a rune: \xf0\x9f",
		ToolCalls: []checkpointstore.ToolCall{
			{Index: 0, ID: "call_a", Type: "function", Name: "search", Arguments: `{ "q" : "x" }`, Extra: sampleExtra()},
			{Index: 2, Arguments: "{}"},
		},
		OpenToolCall: &checkpointstore.ToolCall{Index: 3, ID: "call_b", Name: "write", Arguments: `{"path":"/`, Extra: map[string]any{"signature": []byte{0, 1, 255}}},
		Dropped:      []string{"read", "read"},
		Extra:        sampleExtra(),
		Usage:        checkpointstore.Usage{Known: true, Prompt: 1, Cached: 2, Completion: 3, Reasoning: 4, Total: 5, Unreported: 6},
		Done:         true, FinishReason: "stop", Interruptions: 6, Takeovers: 7,
		Epoch: 8, Seq: math.MaxUint64, UpdatedAt: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.UTC),
	}
}

func sampleExtra() map[string]any {
	return map[string]any{
		"string": "text", "": "no key", "not utf-8": "\xff\xfe", "bool": true, "false": false,
		"int64": int64(math.MaxInt64), "min": int64(math.MinInt64), "whole": float64(3), "float64": 0.1, "inf": math.Inf(1), "-inf": math.Inf(-1),
		"bytes": []byte("\x00\xff\"\n{}"), "no bytes": []byte{}, "strings": []string{"a", "", "\xff"}, "no strings": []string{},
		"map": map[string]any{"in": map[string]any{"int64": int64(3), "float64": float64(3), "bytes": []byte{1}}},
	}
}
