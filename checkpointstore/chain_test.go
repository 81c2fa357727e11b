package checkpointstore_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

// chain is all of steps as a store has it that appends.
func chain(tb testing.TB, all []cs.Checkpoint) (data []byte, ends []int) {
	tb.Helper()
	data = encode(tb, all[0])
	ends = []int{len(data)}
	for i := range len(all) - 1 {
		d, ok := cs.Diff(all[i], all[i+1])
		require.True(tb, ok, "step %d", i)
		more, err := cs.EncodeDelta(d)
		require.NoError(tb, err)
		data = append(data, more...)
		ends = append(ends, len(data))
	}

	return data, ends
}

func TestChainRoundTrips(t *testing.T) {
	t.Parallel()
	all := steps()
	data, ends := chain(t, all)
	for i, end := range ends {
		for _, decode := range []func(string, []byte) (cs.Checkpoint, error){cs.DecodeFor, cs.DecodeAppended} {
			got, err := decode("run-7", data[:end])
			require.NoError(t, err)
			assert.Equal(t, all[i], got, "after %d deltas", i)
		}
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "version-1-deltas.checkpoint"))
	require.NoError(t, err)
	assert.Equal(t, string(golden), string(data))
	at := 0
	for i, end := range ends {
		h, err := cs.DecodeHeader(data[at:min(at+cs.MaxHeaderBytes, len(data))])
		require.NoError(t, err)
		assert.Equal(t, cs.Header{Version: cs.Version, RunID: "run-7", Fence: all[i].Fence(), Delta: i > 0, Bytes: end - at}, h)
		at = end
	}
}

// TestChainCutAtEveryByte: for most stores half a delta is damage; on a medium where a crash leaves such, it was not added.
func TestChainCutAtEveryByte(t *testing.T) {
	t.Parallel()
	all := steps()
	data, ends := chain(t, all)
	whole := 0
	for i := range data {
		if whole < len(ends)-1 && i == ends[whole] {
			whole++

			continue
		}
		known, err := cs.Decode(data[:i])
		require.ErrorIs(t, err, cs.ErrCorrupt, "cut at %d", i)
		got, err := cs.DecodeAppended("run-7", data[:i])
		if i < ends[0] {
			require.ErrorIs(t, err, cs.ErrCorrupt, "cut at %d", i)

			continue
		}
		require.NoError(t, err, "cut at %d", i)
		require.Equal(t, all[whole-1], got, "cut at %d", i)
		require.Equal(t, got.Fence(), known.Fence())
		zeros := append(bytes.Clone(data[:i]), make([]byte, 4096)...)
		got, err = cs.DecodeAppended("run-7", zeros)
		require.NoError(t, err, "zeros from %d", i)
		require.Equal(t, all[whole-1], got)
	}
}

func TestEveryFlippedBitOfADeltaIsNoticed(t *testing.T) {
	t.Parallel()
	all := steps()[:3]
	data, ends := chain(t, all)
	for i := ends[0]; i < len(data); i++ {
		for bit := range 8 {
			data[i] ^= 1 << bit
			_, err := cs.Decode(data)
			require.ErrorIs(t, err, cs.ErrCorrupt, "byte %d, bit %d", i, bit)
			got, err := cs.DecodeAppended("run-7", data)
			if i < ends[1] {
				require.ErrorIs(t, err, cs.ErrCorrupt, "byte %d, bit %d: another delta stands behind it", i, bit)
				require.Equal(t, all[0].Fence(), got.Fence())
				require.Empty(t, got.Text)
			} else {
				require.NoError(t, err)
				require.Equal(t, all[1], got)
			}
			data[i] ^= 1 << bit
		}
	}
}

func TestChainOfTheWrongParts(t *testing.T) {
	t.Parallel()
	all := steps()
	data, ends := chain(t, all)
	first, second, third := data[:ends[0]], data[ends[0]:ends[1]], data[ends[1]:ends[2]]
	for name, parts := range map[string][][]byte{
		"one is missing": {first, third}, "out of order": {first, third, second}, "twice": {first, second, second},
		"two checkpoints": {first, first}, "begins with a delta": {second, third}, "a delta alone": {second},
	} {
		_, err := cs.DecodeFor("run-7", bytes.Join(parts, nil))
		require.ErrorIs(t, err, cs.ErrCorrupt, name)
	}
	_, err := cs.DecodeAppended("run-7", append(bytes.Clone(first), first...))
	require.ErrorIs(t, err, cs.ErrCorrupt, "no Append leaves that")
	later, err := cs.DecodeAppended("run-7", append(bytes.Clone(first), newer(t, second)...))
	require.ErrorIs(t, err, cs.ErrNewerVersion, "what a later version has added is not overwritten as damage")
	assert.Equal(t, all[0].Fence(), later.Fence())
	other, err := cs.DecodeAppended("run-8", data)
	require.ErrorIs(t, err, cs.ErrCorrupt)
	assert.Equal(t, cs.Checkpoint{RunID: "run-8"}, other)
}

// TestDecodingAChainIsLinear: a long answer with very many deltas behind it is read in a time that grows with its size.
//
//nolint:paralleltest // it counts what the process allocates
func TestDecodingAChainIsLinear(t *testing.T) {
	cost := func(deltas int) uint64 {
		c := cs.Checkpoint{RunID: "r", Text: strings.Repeat("x", 1<<20), OpenToolCall: &cs.ToolCall{Arguments: "["}, Extra: map[string]any{"k": ""}}
		data := encode(t, c)
		for range deltas {
			next := c
			next.Seq, next.Text, next.OpenToolCall = c.Seq+1, c.Text+"y", &cs.ToolCall{Arguments: c.OpenToolCall.Arguments + "0,"}
			next.Extra = map[string]any{"k": fmt.Sprint(c.Extra["k"], "z")}
			d, ok := cs.Diff(c, next)
			require.True(t, ok)
			more, err := cs.EncodeDelta(d)
			require.NoError(t, err)
			data, c = append(data, more...), next
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := cs.Decode(data)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)

		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := cost(10), cost(200)
	assert.Less(t, many, 2*few+200*8<<10, "bytes allocated")
}

func TestRandomChains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		c := cs.Checkpoint{Version: cs.Version, RunID: "r", Owner: "o"}
		data := encode(t, c)
		for range 12 {
			next := grownAtRandom(r, c)
			d, ok := cs.Diff(c, next)
			require.True(t, ok, "seed %d", seed)
			more, err := cs.EncodeDelta(d)
			require.NoError(t, err)
			data, c = append(data, more...), next
		}
		got, err := cs.Decode(data)
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, c, got, "seed %d", seed)
	}
}

func grownAtRandom(r *rand.Rand, c cs.Checkpoint) cs.Checkpoint {
	piece := func() string { return strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(4)) }
	c.Seq += 1 + r.Uint64N(3)
	c.Text, c.Reasoning = c.Text+piece(), c.Reasoning+piece()
	extra := map[string]any{}
	for key, v := range c.Extra {
		extra[key] = v
		if s, ok := v.(string); ok && r.IntN(2) == 0 {
			extra[key] = s + piece()
		}
	}
	extra[fmt.Sprint(r.IntN(5))] = []any{piece(), int64(r.IntN(3)), []byte(piece())}[r.IntN(3)]
	c.Extra = extra
	if c.OpenToolCall != nil && r.IntN(2) == 0 {
		c.ToolCalls = append(slices.Clip(c.ToolCalls), *c.OpenToolCall)
		c.ToolCalls[len(c.ToolCalls)-1].Arguments += piece()
		c.OpenToolCall = nil
	}
	if r.IntN(2) == 0 {
		c.OpenToolCall = &cs.ToolCall{Index: len(c.ToolCalls), Arguments: piece()}
	}

	return c
}
