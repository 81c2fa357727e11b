package filestore

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// toNext is a delta from a sequence of the run of at to the next one.
func toNext(after uint64) checkpointstore.Delta {
	return checkpointstore.Delta{RunID: "run", Epoch: 1, Owner: "a", After: after, Seq: after + 1, Text: fmt.Sprintf(", more %d", after+1)}
}

// idle is the real disk without its syncs, for tests of what is on it and not of when.
type idle struct{ osDisk }

func (d idle) create(path string) (file, error) { return unsynced(d.osDisk.create(path)) }
func (d idle) reopen(path string) (file, error) { return unsynced(d.osDisk.reopen(path)) }
func (idle) syncDir(string) error               { return nil }

type idleFile struct{ file }

func (idleFile) Sync() error { return nil }

func unsynced(f file, err error) (file, error) { return idleFile{f}, err }

// appended puts a checkpoint and appends n deltas, and returns the file and where its records end.
func appended(tb testing.TB, s *Store, n uint64) (path string, ends []int) {
	tb.Helper()
	path = s.path("run")
	for seq := range n + 1 {
		if seq == 0 {
			require.NoError(tb, s.Put(tb.Context(), at(0)))
		} else {
			require.NoError(tb, s.Append(tb.Context(), toNext(seq-1)))
		}
		ends = append(ends, len(contents(tb, path)))
	}

	return path, ends
}

func contents(tb testing.TB, path string) []byte {
	tb.Helper()
	data, err := os.ReadFile(path)
	require.NoError(tb, err)

	return data
}

// TestOrderOfAnAppend: a delta is on the disk before Append returns, behind what is there and without any other name; and it
// is synced once more, not written once more, if it is there already.
func TestOrderOfAnAppend(t *testing.T) {
	t.Parallel()
	d := &noting{left: 1000}
	s := newStore(t.TempDir(), d)
	path, _ := appended(t, s, 0)
	for seq := range uint64(2) {
		before := contents(t, path)
		d.steps = nil
		require.NoError(t, s.Append(t.Context(), toNext(seq)))
		assert.Equal(t, []string{"reopen .checkpoint", "write", "sync", "close"}, d.steps)
		delta, err := checkpointstore.EncodeDelta(toNext(seq))
		require.NoError(t, err)
		assert.Equal(t, string(before)+string(delta), string(contents(t, path)))

		before = contents(t, path)
		d.steps = nil
		require.NoError(t, s.Append(t.Context(), toNext(seq)))
		assert.Equal(t, []string{"reopen .checkpoint", "sync", "close"}, d.steps)
		assert.Equal(t, before, contents(t, path))
	}
	d.steps = nil
	require.ErrorIs(t, s.Append(t.Context(), toNext(0)), checkpointstore.ErrStale)
	require.ErrorIs(t, s.Append(t.Context(), toNext(7)), checkpointstore.ErrNoBase)
	assert.Empty(t, d.steps, "what is refused touches nothing")
}

// TestPowerCutInAnAppend: whatever the last step was, and whether the disk has kept what was not synced or not, what is found
// is the checkpoint before or the one after, and after a sync it is the one after.
func TestPowerCutInAnAppend(t *testing.T) {
	t.Parallel()
	const written, synced, steps = 2, 3, 4 // of an Append
	for cut := range steps + 1 {
		for _, kept := range []bool{true, false} {
			dir := t.TempDir()
			s, err := New(dir)
			require.NoError(t, err)
			path, ends := appended(t, s, 1)
			err = newStore(dir, &noting{left: cut}).Append(t.Context(), toNext(1))
			if cut < steps {
				require.ErrorIs(t, err, errPower, "step %d", cut)
			} else {
				require.NoError(t, err)
			}
			if cut < synced && !kept {
				require.NoError(t, os.Truncate(path, int64(ends[1])))
			}

			want := uint64(1)
			if cut >= synced || cut >= written && kept {
				want = 2
			}
			s, err = New(dir)
			require.NoError(t, err)
			goesOn(t, s, want, fmt.Sprintf("step %d, kept %v", cut, kept))
		}
	}
}

// sees demands that the checkpoint of a sequence is what readers and the fence see, and says whether something is behind it.
func sees(tb testing.TB, s *Store, seq uint64, what string) (c checkpointstore.Checkpoint, torn bool) {
	tb.Helper()
	c, err := s.Get(tb.Context(), "run")
	require.NoError(tb, err, what)
	require.Equal(tb, seq, c.Seq, what)
	want := at(0).Text
	for after := range seq {
		want += toNext(after).Text
	}
	require.Equal(tb, want, c.Text, what)
	stored, found, err := readChain(s.path("run"), "run")
	require.NoError(tb, err, what)
	require.True(tb, found, what)
	require.Equal(tb, c.Fence(), stored.fence, "%s: the fence is that of what is read", what)

	return c, stored.end < stored.size
}

// goesOn demands what sees does, and that the checkpoint's writer and the next one can go on.
func goesOn(tb testing.TB, s *Store, seq uint64, what string) {
	tb.Helper()
	c, torn := sees(tb, s, seq, what)
	path := s.path("run")
	found := contents(tb, path)
	err := s.Append(tb.Context(), toNext(seq))
	if torn {
		require.ErrorIs(tb, err, checkpointstore.ErrNoBase, what)
		require.Equal(tb, found, contents(tb, path), what)
	} else {
		require.NoError(tb, err, what)
		require.NoError(tb, os.WriteFile(path, found, 0o600))
	}
	require.NoError(tb, s.Put(tb.Context(), at(seq)), what)
	require.NoError(tb, s.Append(tb.Context(), toNext(seq)), what)
	require.NoError(tb, os.WriteFile(path, found, 0o600))
	require.NoError(tb, s.DeleteIf(tb.Context(), c), "%s: who has read it can delete it", what)
}

// TestWhatACrashLeavesOfADelta: of the bytes of a delta that was not synced any may be there, in place of any other there may
// be zeros, and the file may have its new length or not.
func TestWhatACrashLeavesOfADelta(t *testing.T) {
	t.Parallel()
	s := newStore(t.TempDir(), idle{})
	path, ends := appended(t, s, 2)
	whole := contents(t, path)
	for i := ends[1]; i < ends[2]; i++ {
		zeros := make([]byte, ends[2]-i)
		for what, left := range map[string][]byte{
			"cut":                   whole[:i],
			"zeros from there":      slices.Concat(whole[:i], zeros),
			"and up to a page":      slices.Concat(whole[:i], zeros, make([]byte, 4096)),
			"zeros up to there":     slices.Concat(whole[:ends[1]], make([]byte, i-ends[1]+1), whole[i+1:]),
			"one byte is zero":      slices.Concat(whole[:i], []byte{0}, whole[i+1:]),
			"something else behind": slices.Concat(whole[:i], bytes.Repeat([]byte("#"), 100)),
		} {
			what = fmt.Sprintf("%s, byte %d of the delta", what, i-ends[1])
			require.NoError(t, os.WriteFile(path, left, 0o600))
			if i%16 == 0 { // it writes
				goesOn(t, s, 1, what)

				continue
			}
			_, torn := sees(t, s, 1, what)
			require.Equal(t, len(left) > ends[1], torn, what)
			err := s.Append(t.Context(), toNext(1))
			if torn {
				require.ErrorIs(t, err, checkpointstore.ErrNoBase, what)
			} else {
				require.NoError(t, err, what)
			}
		}
	}
}

// TestHalfACheckpoint: nothing is added to it, be it the one that the delta goes on from or the one that it leads to.
func TestHalfACheckpoint(t *testing.T) {
	t.Parallel()
	s := newStore(t.TempDir(), idle{})
	whole, err := checkpointstore.Encode(at(1))
	require.NoError(t, err)
	for i := range whole {
		require.NoError(t, os.WriteFile(s.path("run"), whole[:i], 0o600))
		_, err := s.Get(t.Context(), "run")
		require.ErrorIs(t, err, checkpointstore.ErrCorrupt, "byte %d", i)
		for after := range uint64(3) {
			require.ErrorIs(t, s.Append(t.Context(), toNext(after)), checkpointstore.ErrNoBase, "byte %d", i)
		}
	}
}

// countedReads counts the bytes that are read.
type countedReads struct {
	io.ReaderAt
	n int
}

func (r *countedReads) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, off)
	r.n += n

	return n, err
}

// TestWhatAnAppendReads: to find the end of the chain takes the headers and the last delta, however long the checkpoint is.
func TestWhatAnAppendReads(t *testing.T) {
	t.Parallel()
	base, err := checkpointstore.Encode(checkpointstore.Checkpoint{RunID: "run", Epoch: 1, Owner: "a", Text: strings.Repeat("x", 1<<20)})
	require.NoError(t, err)
	data := base
	const deltas, size = 4, 100_000
	for seq := range uint64(deltas) {
		d := toNext(seq)
		d.Text = strings.Repeat("y", size)
		delta, err := checkpointstore.EncodeDelta(d)
		require.NoError(t, err)
		data = append(data, delta...)
	}
	f := &countedReads{ReaderAt: bytes.NewReader(data)}
	c, found, err := walk(f, int64(len(data)), "run")
	require.NoError(t, err)
	require.True(t, found)
	assert.Equal(t, chain{fence: checkpointstore.Fence{Epoch: 1, Seq: deltas, Owner: "a"}, end: int64(len(data)), size: int64(len(data))}, c)
	assert.Less(t, f.n, (deltas+2)*checkpointstore.MaxHeaderBytes+size+1000)
}
