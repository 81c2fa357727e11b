package filestore

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// tryLock locks f until it is closed, or returns errLocked.
func tryLock(f *os.File) error {
	const (
		failImmediately = 1
		exclusive       = 2
		lockViolation   = syscall.Errno(33)
	)
	lockFileEx := syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")
	var overlapped syscall.Overlapped
	ok, _, err := lockFileEx.Call(f.Fd(), failImmediately|exclusive, 0, 1, 0, uintptr(unsafe.Pointer(&overlapped)))
	switch {
	case ok != 0:
		return nil
	case errors.Is(err, lockViolation):
		return errLocked
	default:
		return os.NewSyscallError("LockFileEx", err)
	}
}

func release(*os.File) error { return nil } // closing it does
