package filestore_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// A write that fails halfway, as on a full disk, leaves what was there and no litter. The limit is that of this process,
// so the test does not run beside others.
func TestWriteThatFailsHalfway(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	old := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Text: "old"}
	require.NoError(t, s.Put(t.Context(), old))
	size := func() int64 {
		info, err := os.Stat(files(t, dir)[0])
		require.NoError(t, err)

		return info.Size()
	}
	was := size()

	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: before.Max}))
	large := old
	large.Seq, large.Text = 1, strings.Repeat("x", 1<<20)
	err := s.Put(t.Context(), large)
	delta := checkpointstore.Delta{RunID: "run", Owner: "a", Seq: 1, Text: strings.Repeat("x", 1<<20)}
	appendErr := s.Append(t.Context(), delta)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))

	require.ErrorIs(t, err, syscall.EFBIG)
	var path *os.PathError
	require.ErrorAs(t, err, &path)
	c, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "old", c.Text)
	assert.Len(t, files(t, dir), 1)

	require.ErrorIs(t, appendErr, syscall.EFBIG)
	assert.Equal(t, was, size(), "what had been appended was taken away again")
	require.NoError(t, s.Append(t.Context(), delta))
	c, err = s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Len(t, c.Text, len("old")+1<<20)
	require.NoError(t, s.Put(t.Context(), large))
}
