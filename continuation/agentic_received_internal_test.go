package continuation

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExtraOfChunksIsJoined(t *testing.T) {
	t.Parallel()

	var d received
	d.noteExtra(map[string]any{"s": "a", "n": 1, messageID: "m"})
	d.noteExtra(map[string]any{"s": "b", "n": 2, messageID: "m"})
	early := d.extra["s"]
	d.noteExtra(map[string]any{"s": "c"})
	assert.Equal(t, map[string]any{"s": "abc", "n": 2}, d.extra)
	assert.Equal(t, "ab", early, "what was handed out stays")

	d.noteExtra(map[string]any{"s": true})
	assert.Equal(t, true, d.extra["s"])
	d.noteExtra(map[string]any{"s": "xyz"})
	d.noteExtra(map[string]any{"s": "!"})
	assert.Equal(t, "xyz!", d.extra["s"], "the earlier string was replaced")
}

// TestJoiningExtraIsLinear does not run beside other tests: their allocations would be counted too.
func TestJoiningExtraIsLinear(t *testing.T) {
	piece := map[string]any{"signature": strings.Repeat("x", 32)}
	cost := func(chunks int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var d received
		for range chunks {
			d.noteExtra(piece)
		}
		runtime.ReadMemStats(&after)

		return (after.TotalAlloc - before.TotalAlloc) / uint64(chunks)
	}
	if few, many := cost(1_000), cost(10_000); many > 2*few+64 {
		t.Errorf("%d bytes a chunk for 1000 chunks, %d for 10000", few, many)
	}
}
