//go:build unix

package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

const badText = "Water boils at 100 degrees."

func badScript() fm.Script {
	return fm.Script{fm.Text("Water "), fm.Text("boils at "), fm.Text("100 degrees."), fm.Finish("stop")}
}

// spoiled is a store whose bytes are written past it.
type spoiled struct {
	checkpointstore.Store
	spoil func(t *testing.T, data []byte)
}

// spoiledStores are the stores on which what is there is spoiled, under the run id "run".
func spoiledStores(t *testing.T) map[string]spoiled {
	t.Helper()
	dir := t.TempDir()
	files, err := place{"file", dir}.open(t.Context())
	require.NoError(t, err)
	dsn := places()["sqlite"](t).Address
	rows, err := place{"sqlite", dsn}.open(t.Context())
	require.NoError(t, err)
	db, err := sql.Open("sqlite", dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	return map[string]spoiled{
		"file": {files, func(t *testing.T, data []byte) {
			t.Helper()
			require.NoError(t, files.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Epoch: 1 << 40}))
			paths, err := filepath.Glob(filepath.Join(dir, "*.checkpoint"))
			require.NoError(t, err)
			require.Len(t, paths, 1)
			require.NoError(t, os.WriteFile(paths[0], data, 0o600))
		}},
		"sqlite": {rows, func(t *testing.T, data []byte) {
			t.Helper()
			require.NoError(t, rows.Delete(t.Context(), "run"))
			require.NoError(t, rows.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Epoch: 1}))
			_, err := db.ExecContext(t.Context(), "UPDATE carryon_checkpoints SET body = ? WHERE run_id = 'run'", data)
			require.NoError(t, err)
		}},
	}
}

// answer asks under a run id and returns the text, the failures of the store that were told of, and the end.
func answer(ctx context.Context, s checkpointstore.Store, inner *fm.Model, question string) (text string, failures int, end error) {
	var mu sync.Mutex
	m := continuation.Wrap(inner, continuation.WithCheckpoints(s, continuation.StartTimeout(20*time.Second)),
		continuation.WithBackoff(func(int) time.Duration { return 0 }), continuation.WithHandler(
			callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
				mu.Lock()
				defer mu.Unlock()
				if _, ok := e.(callbacks.CheckpointFailed); ok {
					failures++
				}
			})))
	r, err := m.Stream(ctx, []*schema.Message{schema.UserMessage(question)})
	if err != nil {
		return "", failures, err
	}
	defer r.Close()
	for {
		c, err := r.Recv()
		if errors.Is(err, io.EOF) {
			return text, failures, nil
		}
		if err != nil {
			return text, failures, err
		}
		text += c.Content
	}
}

// whole returns a checkpoint of the question's answer in its middle, encoded.
func whole(t *testing.T, change func(*checkpointstore.Checkpoint)) []byte {
	t.Helper()
	s, err := place{"file", t.TempDir()}.open(t.Context())
	require.NoError(t, err)
	inner := fm.New(badScript())
	m := continuation.Wrap(inner, continuation.WithCheckpoints(s))
	r, err := m.Stream(continuation.ContextWithRunID(t.Context(), "run"), []*schema.Message{schema.UserMessage("When?")})
	require.NoError(t, err)
	_, err = r.Recv()
	require.NoError(t, err)
	r.Close()
	var c checkpointstore.Checkpoint
	require.Eventually(t, func() bool { // it is written beside the stream
		c, err = s.Get(t.Context(), "run")

		return err == nil
	}, patience, time.Millisecond)
	change(&c)
	data, err := checkpointstore.Encode(c)
	require.NoError(t, err)

	return data
}

// TestSpoiledCheckpoints: whatever stands in the store, the answer is right, an event tells of what cannot be read, and no
// text comes from there.
func TestSpoiledCheckpoints(t *testing.T) {
	t.Parallel()
	good := whole(t, func(*checkpointstore.Checkpoint) {})
	cases := map[string][]byte{
		"nothing":              {},
		"of another run":       whole(t, func(c *checkpointstore.Checkpoint) { c.RunID = "other" }),
		"edited by hand":       []byte(strings.Replace(string(good), "Water", "Vodka", 1)),
		"gigantic":             append(append([]byte(nil), good...), make([]byte, checkpointstore.MaxBytes)...),
		"of a newer version":   newer(string(good)),
		"JSON of another kind": []byte(`{"text": "Vodka "}`),
	}
	for n := range good {
		cases[fmt.Sprintf("cut at byte %d", n)] = good[:n]
	}
	for store, s := range spoiledStores(t) {
		for name, data := range cases {
			s.spoil(t, data)
			inner := fm.Continuer(badScript())
			text, failures, err := answer(continuation.ContextWithRunID(t.Context(), "run"), s, inner, "When?")
			require.NoError(t, err, "%s: %s", store, name)
			require.Equal(t, badText, text, "%s: %s", store, name)
			require.Equal(t, 1, failures, "%s: %s", store, name)
			require.Len(t, inner.Requests(), 1)
			require.Len(t, inner.Requests()[0].Messages, 1, "%s: %s: nothing comes from the store", store, name)
			_, err = s.Get(t.Context(), "run")
			if name == "of a newer version" {
				require.ErrorIs(t, err, checkpointstore.ErrNewerVersion, "%s: it stays for the program that wrote it", store)
				require.NoError(t, s.Delete(t.Context(), "run"))
			} else {
				require.ErrorIs(t, err, checkpointstore.ErrNotFound, "%s: %s: it is replaced", store, name)
			}
		}
		c, err := checkpointstore.Decode(good)
		require.NoError(t, err)
		require.NoError(t, s.Delete(t.Context(), "run"))
		require.NoError(t, s.Put(t.Context(), c))
		inner := fm.Continuer(badScript())
		text, failures, err := answer(continuation.ContextWithRunID(t.Context(), "run"), s, inner, "When?")
		require.NoError(t, err)
		assert.Equal(t, badText, text)
		assert.Zero(t, failures)
		assert.Equal(t, "Water", inner.Requests()[0].Messages[1].Content, "what was spoiled is else gone on with")
	}
}

// newer returns the checkpoint with the next version in its header, as a later program would write it.
func newer(data string) []byte {
	header, body, _ := strings.Cut(data, "\n")
	fields := strings.Split(header, " ")
	fields[1] = fmt.Sprint(checkpointstore.Version + 1)
	line := strings.Join(fields[:len(fields)-1], " ")

	return fmt.Appendf(nil, "%s %08x\n%s", line, crc32.Checksum([]byte(line), crc32.MakeTable(crc32.Castagnoli)), body)
}

// TestClockJumps: a checkpoint from any time is gone on with.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	for store, s := range spoiledStores(t) {
		for _, at := range []time.Time{{}, time.Unix(0, 0), time.Now().AddDate(100, 0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)} {
			require.NoError(t, s.Delete(t.Context(), "run"))
			c, err := checkpointstore.Decode(whole(t, func(c *checkpointstore.Checkpoint) { c.UpdatedAt = at }))
			require.NoError(t, err)
			require.NoError(t, s.Put(t.Context(), c))
			inner := fm.Continuer(badScript())
			text, failures, err := answer(continuation.ContextWithRunID(t.Context(), "run"), s, inner, "When?")
			require.NoError(t, err)
			assert.Equal(t, badText, text, "%s: %v", store, at)
			assert.Zero(t, failures)
			assert.Equal(t, "Water", inner.Requests()[0].Messages[1].Content)
		}
	}
}

// TestRunIDs: one that cannot be a key is told of, and the answer comes without a checkpoint.
func TestRunIDs(t *testing.T) {
	t.Parallel()
	stores := spoiledStores(t)
	for runID, failures := range map[string]int{
		"": 0, "a/b": 0, ".": 0, "..": 0, "../../etc/passwd": 0, "/abs": 0, "ünï cödé": 0, `C:\x`: 0, "CON": 0, strings.Repeat("x", 1024): 0,
		"a\x00b": 1, "line\nbreak": 1, "\xff\xfe": 1, strings.Repeat("x", 1025): 1, strings.Repeat("x", 10<<10): 1,
	} {
		for store, s := range stores {
			inner := fm.Continuer(badScript(), fm.BreakAt(2, fm.Reset()))
			text, told, err := answer(continuation.ContextWithRunID(t.Context(), runID), s, inner, "When?")
			require.NoError(t, err)
			assert.Equal(t, badText, text, "%s: %.20q", store, runID)
			assert.Equal(t, failures, told, "%s: %.20q", store, runID)
		}
	}
}

// TestOneRunIDTwoInputs: two that use one run id for different questions at the same time get their own answers, or are
// told that they were taken over.
func TestOneRunIDTwoInputs(t *testing.T) {
	t.Parallel()
	for store, s := range spoiledStores(t) {
		for range 20 {
			var wg sync.WaitGroup
			for i, want := range []string{badText, "It is blue."} {
				wg.Go(func() {
					script := badScript()
					if i == 1 {
						script = fm.Script{fm.Text("It is "), fm.Text("blue."), fm.Finish("stop")}
					}
					text, _, err := answer(continuation.ContextWithRunID(t.Context(), "run"), s, fm.Continuer(script), fmt.Sprint("question ", i))
					if err != nil {
						assert.ErrorIs(t, err, checkpointstore.ErrStale, store)
						assert.True(t, strings.HasPrefix(want, text), store)
					} else {
						assert.Equal(t, want, text, store)
					}
				})
			}
			wg.Wait()
		}
	}
}
