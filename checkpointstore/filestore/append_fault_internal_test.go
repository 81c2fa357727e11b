package filestore

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	errFull    = errors.New("the disk is full")
	errDamaged = errors.New("the disk is damaged")
)

// faulty is a disk on which writes, syncs and truncations fail when they are told to.
type faulty struct {
	idle
	room                  int // bytes that a write still finds
	write, sync, truncate error
}

func (d *faulty) reopen(path string) (file, error) {
	f, err := d.idle.reopen(path)

	return faultyFile{d, f}, err
}

type faultyFile struct {
	d *faulty
	file
}

func (f faultyFile) Write(p []byte) (int, error) {
	if f.d.write == nil {
		return f.file.Write(p)
	}
	n, err := f.file.Write(p[:min(len(p), f.d.room)])

	return n, errors.Join(err, f.d.write)
}

func (f faultyFile) Sync() error { return f.d.sync }

func (f faultyFile) Truncate(size int64) error {
	if f.d.truncate != nil {
		return f.d.truncate
	}

	return f.file.Truncate(size)
}

// TestAppendThatFails: an error of the disk leaves what was there, to the byte where that can be brought about.
func TestAppendThatFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]faulty{
		"a full disk":                       {write: errFull},
		"a disk that becomes full":          {write: errFull, room: 40},
		"a write cut short":                 {write: io.ErrShortWrite, room: 150},
		"no sync":                           {sync: errDamaged},
		"a full disk and no truncation":     {write: errFull, room: 40, truncate: errDamaged},
		"a short write, and no truncation":  {write: io.ErrShortWrite, room: 150, truncate: errDamaged},
		"a full disk, nothing to take away": {write: errFull, truncate: errDamaged},
	} {
		dir := t.TempDir()
		s := newStore(dir, idle{})
		path, _ := appended(t, s, 1)
		before := contents(t, path)
		err := newStore(dir, &fault).Append(t.Context(), toNext(1))
		for _, want := range []error{fault.write, fault.sync, fault.truncate} {
			if want != nil {
				require.ErrorIs(t, err, want, name)
			}
		}
		require.ErrorContains(t, err, "filestore:", name)
		if fault.truncate == nil {
			require.Equal(t, before, contents(t, path), name)
		}
		goesOn(t, s, 1, name)
	}
}
