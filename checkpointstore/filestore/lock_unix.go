//go:build unix && !aix && !solaris

package filestore

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks f until it is closed, or returns errLocked.
func tryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		default:
			return os.NewSyscallError("flock", err)
		}
	}
}

// release unlocks f before it is closed: a child that is just being started has a copy of it, which would keep the lock.
func release(f *os.File) error {
	return os.NewSyscallError("flock", syscall.Flock(int(f.Fd()), syscall.LOCK_UN))
}
