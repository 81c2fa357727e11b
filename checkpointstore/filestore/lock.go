package filestore

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"time"
)

// lockCount is how many locks the runs of a directory share. A lock file for each run could not be removed safely:
// somebody may be waiting for it.
const lockCount = 64

// How long to wait before asking again for a lock that another process holds. It holds it for one write.
const (
	firstLockWait = time.Millisecond
	maxLockWait   = 20 * time.Millisecond
)

var errLocked = errors.New("locked")

// lockSet are locks between goroutines (the channels) and processes (the files).
type lockSet struct {
	dir   string
	local [lockCount]chan struct{}
}

func newLockSet(dir string) lockSet {
	l := lockSet{dir: dir}
	for i := range l.local {
		l.local[i] = make(chan struct{}, 1)
	}

	return l
}

func (l *lockSet) index(path string) int {
	name := filepath.Base(path)
	name = name[:len(name)-len(filepath.Ext(name))]
	h := fnv.New32a()
	h.Write([]byte(name))

	return int(h.Sum32() % lockCount)
}

// try takes the lock of path, or returns errLocked if another has it.
func (l *lockSet) try(path string) (unlock func() error, err error) {
	i := l.index(path)
	select {
	case l.local[i] <- struct{}{}:
	default:
		return nil, errLocked
	}

	return l.tryFile(i)
}

// lock takes the lock of path and waits for it until ctx ends.
func (l *lockSet) lock(ctx context.Context, path string) (unlock func() error, err error) {
	i := l.index(path)
	for wait := firstLockWait; ; wait = min(2*wait, maxLockWait) {
		select {
		case l.local[i] <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		unlock, err := l.tryFile(i)
		if !errors.Is(err, errLocked) {
			return unlock, err
		}
		// A blocking lock would neither end with the context nor leave its thread alone.
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryFile takes the lock between processes for the holder of the one between goroutines, or gives the latter back.
func (l *lockSet) tryFile(i int) (unlock func() error, err error) {
	f, err := os.OpenFile(filepath.Join(l.dir, fmt.Sprintf("lock-%02d", i)), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		if err = tryLock(f); err != nil {
			f.Close() //nolint:errcheck // nothing was written to it
		}
	}
	if err != nil {
		<-l.local[i]

		return nil, err
	}

	return func() error {
		err := errors.Join(release(f), f.Close())
		<-l.local[i]

		return err
	}, nil
}

// locked runs do with the lock of a run.
func (s *Store) locked(ctx context.Context, runID string, do func(path string) error) error {
	return s.lockedPath(ctx, s.path(runID), do)
}

func (s *Store) lockedPath(ctx context.Context, path string, do func(path string) error) error {
	unlock, err := s.locks.lock(ctx, path)
	if err == nil {
		err = errors.Join(do(path), unlock())
	}
	if err != nil {
		return fmt.Errorf("filestore: %w", err)
	}

	return nil
}
