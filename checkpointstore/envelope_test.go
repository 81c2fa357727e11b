package checkpointstore_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	cs "github.com/eino-carryon/carryon/checkpointstore"
)

func encode(tb testing.TB, c cs.Checkpoint) []byte {
	tb.Helper()
	data, err := cs.Encode(c)
	require.NoError(tb, err)

	return data
}

func TestEveryFieldRoundTrips(t *testing.T) {
	t.Parallel()
	c := full()
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsZero(), "the test leaves %s out", v.Type().Field(i).Name)
	}
	for name, c := range map[string]cs.Checkpoint{
		"full":  c,
		"zero":  {Version: cs.Version, RunID: "r"},
		"empty": {Version: cs.Version, RunID: "r", ToolCalls: []cs.ToolCall{}, Dropped: []string{}, Extra: map[string]any{}, OpenToolCall: &cs.ToolCall{}},
	} {
		got, err := cs.DecodeFor(c.RunID, encode(t, c))
		require.NoError(t, err, name)
		assert.Equal(t, c, got, name)
	}
}

func TestNaNRoundTrips(t *testing.T) {
	t.Parallel()
	got, err := cs.Decode(encode(t, cs.Checkpoint{RunID: "r", Extra: map[string]any{"nan": math.NaN()}}))
	require.NoError(t, err)
	assert.True(t, math.IsNaN(as[float64](t, got.Extra["nan"])))
}

func TestTimeComesBackInUTCWithoutMonotonicReading(t *testing.T) {
	t.Parallel()
	now := time.Now().In(time.FixedZone("east", 3600))
	got, err := cs.Decode(encode(t, cs.Checkpoint{RunID: "r", UpdatedAt: now}))
	require.NoError(t, err)
	assert.Equal(t, now.Round(0).UTC(), got.UpdatedAt)

	_, err = cs.Encode(cs.Checkpoint{RunID: "r", UpdatedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.ErrorContains(t, err, "year 10000")
}

// The same checkpoint gives the same bytes today, tomorrow, and whatever the order of its maps: testdata was written by
// the first release of version 1, and each later one must read and write it.
func TestFormatIsStable(t *testing.T) {
	t.Parallel()
	golden, err := os.ReadFile(filepath.Join("testdata", "version-1.checkpoint"))
	require.NoError(t, err)
	assert.Equal(t, string(golden), string(encode(t, full())))
	got, err := cs.Decode(golden)
	require.NoError(t, err)
	assert.Equal(t, full(), got)
}

func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	data := encode(t, full())
	header := bytes.IndexByte(data, '\n')
	for i := range data {
		c, err := cs.Decode(data[:i])
		require.ErrorIs(t, err, cs.ErrCorrupt, "cut at %d", i)
		if i > header {
			require.Equal(t, full().Fence(), c.Fence(), "the header is whole")
		} else {
			require.Zero(t, c)
		}
	}
	_, err := cs.Decode(append(bytes.Clone(data), ' '))
	require.ErrorIs(t, err, cs.ErrCorrupt)
}

func TestEveryFlippedBitIsNoticed(t *testing.T) {
	t.Parallel()
	data := encode(t, cs.Checkpoint{RunID: "run", Owner: "owner", Epoch: 3, Seq: 4, Text: "some text"})
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			_, err := cs.Decode(data)
			require.ErrorIs(t, err, cs.ErrCorrupt, "byte %d, bit %d", i, bit)
			data[i] ^= 1 << bit
		}
	}
}

// newer is data as a later version of this format would write it: the header stays, the rest may be anything.
func newer(tb testing.TB, data []byte) []byte {
	tb.Helper()
	sum := func(b string) string {
		return fmt.Sprintf("%08x", crc32.Checksum([]byte(b), crc32.MakeTable(crc32.Castagnoli)))
	}
	line, _, found := strings.Cut(string(data), "\n")
	require.True(tb, found)
	fields := strings.Split(line, " ")
	body := "something else"
	fields[1], fields[6], fields[7] = "2", fmt.Sprint(len(body)), sum(body)
	line = strings.Join(fields[:8], " ")

	return []byte(line + " " + sum(line) + "\n" + body)
}

func TestNewerVersionKeepsItsFence(t *testing.T) {
	t.Parallel()
	c, err := cs.DecodeFor("run-7/a1b2c3d4", newer(t, encode(t, full())))
	require.ErrorIs(t, err, cs.ErrNewerVersion)
	require.NotErrorIs(t, err, cs.ErrCorrupt)
	assert.Equal(t, cs.Checkpoint{Version: 2, RunID: full().RunID, Owner: full().Owner, Epoch: full().Epoch, Seq: full().Seq}, c)
}

func TestCheckpointOfAnotherRun(t *testing.T) {
	t.Parallel()
	c, err := cs.DecodeFor("run-8", encode(t, full()))
	require.ErrorIs(t, err, cs.ErrCorrupt)
	assert.Equal(t, cs.Checkpoint{RunID: "run-8"}, c, "another run's fence means nothing")
}

func TestDecodeHeaderNeedsOnlyTheHeader(t *testing.T) {
	t.Parallel()
	c := cs.Checkpoint{RunID: strings.Repeat("é", cs.MaxRunIDBytes/2), Owner: strings.Repeat("\xff", cs.MaxOwnerBytes), Epoch: math.MaxUint64, Seq: math.MaxUint64, Text: strings.Repeat("x", 1<<20)}
	data := encode(t, c)
	h, err := cs.DecodeHeader(data[:cs.MaxHeaderBytes])
	require.NoError(t, err)
	assert.True(t, h == cs.Header{Version: cs.Version, RunID: c.RunID, Fence: c.Fence(), Bytes: len(data)}, "%+v", h.Bytes)
	got, err := cs.Decode(data)
	require.NoError(t, err)
	assert.Equal(t, c.Text, got.Text)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]cs.Checkpoint{
		"text":  {RunID: "r", Text: strings.Repeat("x", cs.MaxBytes)},
		"owner": {RunID: "r", Owner: strings.Repeat("x", cs.MaxOwnerBytes+1)},
	} {
		_, err := cs.Encode(c)
		require.ErrorIs(t, err, cs.ErrTooLarge, name)
	}
	_, err := cs.Encode(cs.Checkpoint{RunID: "\x00"})
	require.ErrorIs(t, err, cs.ErrInvalidRunID)
}

// A self-made file with sound sums is still not trusted.
func TestBodyThatIsNone(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "{}", "[]", `{"updated_at":"yesterday"}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k",{"int":"x"}]]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k",{"new":"x"}]]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k",{"int":"1","float":"1"}]]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k",null]]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k"]]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","text":{"b64":"!"}}`,
		`{"updated_at":"2026-01-01T00:00:00Z","tool_calls":[{"extra":[["k",1]]}]}`,
		`{"updated_at":"2026-01-01T00:00:00Z","open_tool_call":{"extra":[["k",1]]}}`,
		`{"updated_at":"2026-01-01T00:00:00Z","extra":` + strings.Repeat(`[["k",{"map":`, 20) + "[]" + strings.Repeat(`}]]`, 20) + `}`,
	} {
		c, err := cs.Decode(cs.Seal(cs.Checkpoint{RunID: "r", Epoch: 2}, body))
		require.ErrorIs(t, err, cs.ErrCorrupt, body)
		assert.Equal(t, uint64(2), c.Epoch, body)
	}
}

func FuzzDecode(f *testing.F) {
	data := encode(f, full())
	f.Add(data, data[bytes.IndexByte(data, '\n')+1:])
	f.Add(newer(f, data), []byte(`{"updated_at":"2026-01-01T00:00:00Z","extra":[["k",{"map":[["l",{"b64":"/w=="}]]}]]}`))
	f.Fuzz(func(t *testing.T, data, body []byte) {
		if _, err := cs.Decode(data); err != nil && !errors.Is(err, cs.ErrCorrupt) && !errors.Is(err, cs.ErrNewerVersion) {
			t.Fatal(err)
		}
		// Past the sums, which a fuzzer cannot guess: what is read can be written and read again.
		c, err := cs.Decode(cs.Seal(cs.Checkpoint{RunID: "r"}, string(body)))
		if err != nil {
			require.ErrorIs(t, err, cs.ErrCorrupt)

			return
		}
		again, err := cs.Encode(c)
		require.NoError(t, err)
		got, err := cs.Decode(again)
		require.NoError(t, err)
		third, err := cs.Encode(got)
		require.NoError(t, err)
		assert.Equal(t, string(again), string(third))
	})
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("run", "owner", "text\x00\"\\\u2028", "reasoning \xff", `{"a":1}`, "key", []byte{0, 255}, int64(-1), 1.5, uint64(1), uint64(2), true)
	f.Fuzz(func(t *testing.T, runID, owner, text, reasoning, args, key string, b []byte, n int64, fl float64, epoch, seq uint64, done bool) {
		c := cs.Checkpoint{
			Version: cs.Version, RunID: runID, Owner: owner, Text: text, Reasoning: reasoning, Epoch: epoch, Seq: seq, Done: done,
			Extra:        map[string]any{key: b, key + "f": fl, key + "n": n, key + "m": map[string]any{key: []string{text, args}, "s": text}},
			OpenToolCall: &cs.ToolCall{ID: key, Arguments: args, Extra: map[string]any{text: done}},
			ToolCalls:    []cs.ToolCall{{Name: owner, Arguments: args}}, Dropped: []string{reasoning},
			UpdatedAt: time.Unix(n%1e10, n&0xffffff).UTC(),
		}
		data, err := cs.Encode(c)
		if cs.ValidateRunID(runID) != nil {
			require.ErrorIs(t, err, cs.ErrInvalidRunID)

			return
		}
		if len(owner) > cs.MaxOwnerBytes {
			require.ErrorIs(t, err, cs.ErrTooLarge)

			return
		}
		require.NoError(t, err)
		got, err := cs.DecodeFor(runID, data)
		require.NoError(t, err)
		if fl != fl {
			c.Extra[key+"f"], got.Extra[key+"f"] = nil, nil
		}
		require.Equal(t, c, got)
	})
}
