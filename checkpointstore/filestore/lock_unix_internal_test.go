//go:build unix && !aix && !solaris

package filestore

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A child that the program starts at that moment has the open files of its parent until it becomes its program. It must
// not keep a lock that its parent gives back.
func TestACopyOfALockFileKeepsNoLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := newStore(dir, osDisk{})
	unlock, err := s.locks.try("run.checkpoint")
	require.NoError(t, err)
	locks, err := filepath.Glob(filepath.Join(dir, "lock-*"))
	require.NoError(t, err)
	require.Len(t, locks, 1)
	want, err := os.Stat(locks[0])
	require.NoError(t, err)
	ino := want.Sys().(*syscall.Stat_t).Ino //nolint:errcheck,forcetypeassert // it is what Unix has
	copies := 0
	for fd := range 256 {
		var stat syscall.Stat_t
		if syscall.Fstat(fd, &stat) == nil && stat.Ino == ino {
			dup, err := syscall.Dup(fd)
			require.NoError(t, err)
			defer syscall.Close(dup)
			copies++
		}
	}
	require.Positive(t, copies)
	require.NoError(t, unlock())
	unlock, err = newStore(dir, osDisk{}).locks.try("run.checkpoint")
	require.NoError(t, err)
	require.NoError(t, unlock())
}
