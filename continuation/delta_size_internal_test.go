package continuation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// TestDeltaSize: what is booked for a delta is what it takes, wherever it is long, and not much more.
func TestDeltaSize(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a \"quoted\" word\n", 1000)
	for name, d := range map[string]checkpointstore.Delta{
		"nothing":    {},
		"text":       {Text: long},
		"reasoning":  {Reasoning: long},
		"a call":     {ToolCalls: []checkpointstore.ToolCall{{ID: "c1", Name: "f", Arguments: long}, {Extra: map[string]any{"signature": []byte(long)}}}},
		"an open":    {OpenToolCall: &checkpointstore.ToolCall{ID: long, Type: long, Name: long, Arguments: long}},
		"extra":      {Extra: map[string]any{"text": long, "bytes": []byte(long), "list": []string{long, long}, "map": map[string]any{"in": long, "n": int64(1)}}},
		"more extra": {ExtraMore: map[string]string{"thought": long}},
		"dropped":    {Dropped: []string{long, long}},
	} {
		d.RunID, d.Seq = "run-7", 1
		data, err := checkpointstore.EncodeDelta(d)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, deltaSize(d), len(data), name)
		assert.LessOrEqual(t, deltaSize(d), len(data)+len(data)/10+deltaEach, name)
	}
}
