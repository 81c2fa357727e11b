package filestore_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func open(tb testing.TB, dir string) *filestore.Store {
	tb.Helper()
	s, err := filestore.New(dir)
	require.NoError(tb, err)

	return s
}

// files are the files in dir but for the locks.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(tb, err)
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "lock-") {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}

	return names
}

func TestContract(t *testing.T) {
	t.Parallel()
	var dirs sync.Map // the rules run in parallel
	dirOf := func(tb testing.TB, s checkpointstore.Store) string {
		tb.Helper()
		dir, _ := dirs.Load(s)

		return fmt.Sprint(dir)
	}
	storetest.Run(t, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()
		dir := filepath.Join(tb.TempDir(), "sub [*?", "check points")
		s := open(tb, dir)
		dirs.Store(s, dir)

		return s
	}, storetest.WithPeer(func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store {
		tb.Helper()

		return open(tb, dirOf(tb, s))
	}), storetest.WithPlant(func(tb testing.TB, s checkpointstore.Store, _ string, data []byte) {
		tb.Helper()
		names := files(tb, dirOf(tb, s))
		require.Len(tb, names, 1)
		require.NoError(tb, os.WriteFile(names[0], data, 0o600))
	}))
}

func TestModesAndNames(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, dir)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "../../secret"}))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	names := files(t, dir)
	require.Len(t, names, 1)
	assert.NotContains(t, names[0], "secret")
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		info, err := e.Info()
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), e.Name())
	}
}

func TestNewNeedsADirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := filestore.New(file)
	require.Error(t, err)
	_, err = filestore.New(filepath.Join(file, "below"))
	require.Error(t, err)
}

// What a writer that died at some point of a Put leaves behind harms nobody, and goes.
func TestLeftoversAreHarmlessAndGo(t *testing.T) {
	t.Parallel()
	old := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: "old"}
	next := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Seq: 1, Text: "next"}
	whole, err := checkpointstore.Encode(next)
	require.NoError(t, err)
	for name, leftover := range map[string][]byte{"created": {}, "half written": whole[:len(whole)/2], "written": whole} {
		dir := t.TempDir()
		s := open(t, dir)
		require.NoError(t, s.Put(t.Context(), old))
		tmp := strings.TrimSuffix(files(t, dir)[0], ".checkpoint") + ".tmp"
		plant := func() { require.NoError(t, os.WriteFile(tmp, leftover, 0o400)) }

		plant()
		c, err := s.Get(t.Context(), "run")
		require.NoError(t, err, name)
		assert.Equal(t, "old", c.Text, name)

		open(t, dir)
		assert.NoFileExists(t, tmp, "New removes it")

		plant()
		require.NoError(t, s.Put(t.Context(), next), name)
		c, err = s.Get(t.Context(), "run")
		require.NoError(t, err, name)
		assert.Equal(t, "next", c.Text, name)
		assert.Len(t, files(t, dir), 1, "Put uses it up")
	}
}

// A link where the next file is to be written must not lead out of the directory.
func TestLeftoverLinkIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	s := open(t, dir)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run"}))
	require.NoError(t, os.WriteFile(outside, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(outside, strings.TrimSuffix(files(t, dir)[0], ".checkpoint")+".tmp"))
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Seq: 1}))
	data, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))
}

func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: "text"}
	require.NoError(t, s.Put(t.Context(), c))
	path := files(t, dir)[0]
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range whole {
		require.NoError(t, os.WriteFile(path, whole[:i], 0o600))
		_, err := s.Get(t.Context(), "run")
		require.ErrorIs(t, err, checkpointstore.ErrCorrupt, "cut at %d", i)
	}
	require.NoError(t, s.Put(t.Context(), c))
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "text", got.Text)
}

func TestGiganticFileIsNotReadWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 4}))
	require.NoError(t, os.Truncate(files(t, dir)[0], 1<<40)) // a sparse terabyte
	c, err := s.Get(t.Context(), "run")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
	assert.Equal(t, uint64(4), c.Epoch)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "b", Epoch: 5}))
}

func TestFileUnderAnotherName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "a", Epoch: 7}))
	a := files(t, dir)[0]
	data, err := os.ReadFile(a)
	require.NoError(t, err)
	require.NoError(t, os.Remove(a))
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "b"}))
	require.NoError(t, os.WriteFile(files(t, dir)[0], data, 0o600))
	_, err = s.Get(t.Context(), "b")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "b", Epoch: 1}), "another run's epoch means nothing")
}

func TestCleaningTakesGarbageByTheTimeOfTheFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	path := filepath.Join(dir, strings.Repeat("0", 64)+".checkpoint")
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), 10), 0o600))
	written := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, written, written))
	for _, test := range []struct {
		before time.Time
		want   int
	}{{written.Add(-time.Minute), 0}, {written.Add(time.Minute), 1}} {
		n, err := s.DeleteOlderThan(t.Context(), test.before)
		require.NoError(t, err)
		assert.Equal(t, test.want, n)
	}
}
