package filestore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// What a Put would replace an Append must not write into: a file that a link leads to, that has a second name, such as in a
// backup, or that others may read.
func TestAppendWritesOnlyIntoAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Text: "text"}
	d := checkpointstore.Delta{RunID: "run", Owner: "a", Seq: 1, Text: ", more"}
	for name, change := range map[string]func(path, outside string) error{
		"a link": func(path, outside string) error {
			if err := os.Rename(path, outside); err != nil {
				return err
			}

			return os.Symlink(outside, path)
		},
		"a second name":       func(path, outside string) error { return os.Link(path, outside) },
		"readable for others": func(path, _ string) error { return os.Chmod(path, 0o644) },
	} {
		dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
		s := open(t, dir)
		require.NoError(t, s.Put(t.Context(), c))
		path := files(t, dir)[0]
		require.NoError(t, change(path, outside))
		before, err := os.ReadFile(path)
		require.NoError(t, err)

		require.ErrorIs(t, s.Append(t.Context(), d), checkpointstore.ErrNoBase, name)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, before, after, name)

		next := c
		next.Seq, next.Text = d.Seq, c.Text+d.Text
		require.NoError(t, s.Put(t.Context(), next), name)
		d2 := d
		d2.After, d2.Seq = d.Seq, d.Seq+1
		require.NoError(t, s.Append(t.Context(), d2), name)
		info, err := os.Lstat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), name)
		if left, err := os.ReadFile(outside); err == nil {
			assert.Equal(t, before, left, name)
		}
	}
}

// The chain does not grow to what Get refuses.
func TestTooLargeTogether(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir())
	delta := func(after uint64, n int) checkpointstore.Delta {
		return checkpointstore.Delta{RunID: "run", Owner: "a", After: after, Seq: after + 1, Text: strings.Repeat("y", n)}
	}
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "a", Text: strings.Repeat("x", checkpointstore.MaxBytes-2<<20)}))
	require.NoError(t, s.Append(t.Context(), delta(0, 1<<20)))
	require.ErrorIs(t, s.Append(t.Context(), delta(1, 1<<20)), checkpointstore.ErrTooLarge)
	require.NoError(t, s.Append(t.Context(), delta(1, 1<<19)))
	c, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Len(t, c.Text, checkpointstore.MaxBytes-2<<20+1<<20+1<<19)
}

// Half a delta does not hide when its checkpoint was written.
func TestCleaningByTheTimeBeforeHalfADelta(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	written := time.Now().Add(-time.Hour)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "a", UpdatedAt: written}))
	require.NoError(t, s.Append(t.Context(), checkpointstore.Delta{RunID: "run", Owner: "a", Seq: 1, UpdatedAt: written.Add(time.Minute)}))
	require.NoError(t, s.Append(t.Context(), checkpointstore.Delta{RunID: "run", Owner: "a", After: 1, Seq: 2, UpdatedAt: written.Add(2 * time.Minute)}))
	path := files(t, dir)[0]
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()-1))
	for _, test := range []struct {
		before time.Time
		want   int
	}{{written.Add(time.Minute), 0}, {written.Add(time.Minute + time.Second), 1}} {
		n, err := s.DeleteOlderThan(t.Context(), test.before)
		require.NoError(t, err)
		assert.Equal(t, test.want, n)
	}
}
