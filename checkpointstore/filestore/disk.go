package filestore

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// errNotOurs: a Put makes a file of its own, whatever has the name; an Append would write into it.
var errNotOurs = fmt.Errorf("%w: the file is a link, has a second name or another mode than 0600", checkpointstore.ErrNoBase)

// disk is what a store asks of the operating system when it writes. The tests have one that fails, and that remembers the
// order of what was asked.
type disk interface {
	create(path string) (file, error) // fs.ErrExist if there is one
	reopen(path string) (file, error) // to write at its end; errNotOurs if a create would not have left it so
	rename(from, to string) error
	remove(path string) error
	syncDir(dir string) error // makes what was renamed and removed in it lasting
}

// file is a file that is being written.
type file interface {
	io.WriteCloser
	Sync() error
	Truncate(size int64) error
}

type osDisk struct{}

func (osDisk) create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (osDisk) reopen(path string) (file, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !private(info) {
		return nil, errNotOurs
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) {
		err = errNotOurs
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

func (osDisk) rename(from, to string) error { return os.Rename(from, to) }
func (osDisk) remove(path string) error     { return os.Remove(path) }
func (osDisk) syncDir(dir string) error     { return syncDir(dir) }

// writersAtOnce is how many may write. Each of them takes up a core until the runtime notices that its thread waits for the
// disk, and a directory is one for all: more at once would write less, and hold up what else the program does.
func writersAtOnce() int { return 2 * runtime.GOMAXPROCS(0) }

// dirSyncer syncs a directory for many at once: a sync that begins after a change holds for it, whoever asked.
type dirSyncer struct {
	disk disk
	dir  string

	turn chan struct{} // who syncs holds it

	mu   sync.Mutex
	next *dirSync // the one that has not begun
}

// dirSync is one sync of the directory.
type dirSync struct {
	done chan struct{}
	err  error
}

func newDirSyncer(d disk, dir string) *dirSyncer {
	return &dirSyncer{disk: d, dir: dir, turn: make(chan struct{}, 1)}
}

// sync returns when a sync has ended that began after the call.
func (s *dirSyncer) sync() error {
	s.mu.Lock()
	if s.next == nil {
		s.next = &dirSync{done: make(chan struct{})}
	}
	mine := s.next
	s.mu.Unlock()
	select {
	case <-mine.done:
		return mine.err
	case s.turn <- struct{}{}:
	}
	defer func() { <-s.turn }()
	s.mu.Lock()
	begun := s.next != mine
	if !begun {
		s.next = nil
	}
	s.mu.Unlock()
	if begun { // and ended, since the turn is ours
		return mine.err
	}
	mine.err = s.disk.syncDir(s.dir)
	close(mine.done)

	return mine.err
}

// syncDir makes renamed and removed names lasting.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" { // a directory cannot be synced there
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}

	return errors.Join(f.Sync(), f.Close())
}
