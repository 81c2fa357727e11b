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

	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 64 << 10, Max: before.Max}))
	large := old
	large.Seq, large.Text = 1, strings.Repeat("x", 1<<20)
	err := s.Put(t.Context(), large)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))

	require.ErrorIs(t, err, syscall.EFBIG)
	var path *os.PathError
	require.ErrorAs(t, err, &path)
	c, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "old", c.Text)
	assert.Len(t, files(t, dir), 1)
	require.NoError(t, s.Put(t.Context(), large))
}
