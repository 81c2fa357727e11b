package filestore

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// One who waits for a lock, of a goroutine or of a process, stops when its context ends.
func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	holder, err := New(dir)
	require.NoError(t, err)
	other, err := New(dir) // what another process would have: a file of its own
	require.NoError(t, err)
	unlock, err := holder.locks.lock(t.Context(), holder.path("run"))
	require.NoError(t, err)
	for name, s := range map[string]*Store{"goroutine": holder, "process": other} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		require.ErrorIs(t, s.Put(ctx, checkpointstore.Checkpoint{RunID: "run"}), context.DeadlineExceeded, name)
		cancel()
	}
	waiting := make(chan error)
	go func() { waiting <- other.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run"}) }()
	require.NoError(t, unlock())
	require.NoError(t, <-waiting)
}

// A file that is being written is not a leftover.
func TestNewLeavesWhatIsBeingWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := New(dir)
	require.NoError(t, err)
	path := s.path("run")
	tmp := path[:len(path)-len(suffix)] + tmpSuffix
	unlock, err := s.locks.lock(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, newStore("", osDisk{}).write(tmp, []byte("half")))
	_, err = New(dir)
	require.NoError(t, err)
	assert.FileExists(t, tmp)
	require.NoError(t, unlock())
	_, err = New(dir)
	require.NoError(t, err)
	assert.NoFileExists(t, tmp)
}
