package filestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

const (
	suffix    = ".checkpoint"
	tmpSuffix = ".tmp" // a checkpoint being written, by the holder of its lock
)

// Store is a checkpointstore.Store in a directory. It is also a ConditionalDeleter, an Appender and a Cleaner,
// and safe for concurrent use, also with other Stores on the directory. It keeps no file open between calls.
type Store struct {
	dir     string
	disk    disk
	names   *dirSyncer
	locks   lockSet
	writers chan struct{}
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
	_ checkpointstore.Appender           = (*Store)(nil)
	_ checkpointstore.Cleaner            = (*Store)(nil)
)

// New returns a store in dir. It makes dir, with mode 0700, if it is not there, and removes what writers that died left
// in it. The mode of a directory that is there stays as it is; the files have mode 0600.
func New(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir) // the process may change its working directory
	if err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	if err := makeDir(dir); err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}
	s := newStore(dir, osDisk{})
	if err := s.removeLeftovers(); err != nil {
		return nil, fmt.Errorf("filestore: %w", err)
	}

	return s, nil
}

func newStore(dir string, d disk) *Store {
	return &Store{
		dir: dir, disk: d, names: newDirSyncer(d, dir), locks: newLockSet(dir), writers: make(chan struct{}, writersAtOnce()),
	}
}

// Put implements checkpointstore.Store.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}

	return s.locked(ctx, c.RunID, func(path string) error {
		stored, found, err := readChain(path, c.RunID)
		if err != nil {
			return err
		}
		if found {
			if err := checkpointstore.AllowPut(stored.fence, c.Fence()); err != nil {
				return err
			}
		}

		return s.replace(ctx, path, data)
	})
}

// Append implements checkpointstore.Appender. More than MaxBytes together is ErrTooLarge. A file to which a crash has added
// half a delta takes no more: that is ErrNoBase, as is one that is a link or has other rights than Put gives it.
func (s *Store) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := checkpointstore.Begin(ctx, d.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}

	return s.locked(ctx, d.RunID, func(path string) error {
		stored, found, err := readChain(path, d.RunID)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("%w: nothing is stored of %q", checkpointstore.ErrNoBase, d.RunID)
		}
		again, err := checkpointstore.AllowAppend(stored.fence, d)
		size := stored.size + int64(len(data))
		switch {
		case err != nil:
			return err
		case stored.end == 0:
			return fmt.Errorf("%w: the checkpoint of %q is cut off", checkpointstore.ErrNoBase, d.RunID)
		case again: // the Append before may have failed at its sync
			return s.extend(ctx, path, stored.size, nil)
		case stored.end < stored.size:
			return fmt.Errorf("%w: %d bytes of no delta stand behind it", checkpointstore.ErrNoBase, stored.size-stored.end)
		case size > checkpointstore.MaxBytes:
			return fmt.Errorf("%w: together they take %d bytes, %d are allowed", checkpointstore.ErrTooLarge, size, checkpointstore.MaxBytes)
		default:
			return s.extend(ctx, path, stored.size, data)
		}
	})
}

// Get implements checkpointstore.Store. It waits for no lock. Half a delta that a crash has left was not appended.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	data, err := read(s.path(runID), checkpointstore.MaxBytes+1) // one more shows that it is too much
	if errors.Is(err, fs.ErrNotExist) {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	if err != nil {
		return checkpointstore.Checkpoint{}, fmt.Errorf("filestore: %w", err)
	}

	return checkpointstore.DecodeAppended(runID, data)
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}

	return s.locked(ctx, runID, func(path string) error { return s.remove(ctx, path) })
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}

	return s.locked(ctx, c.RunID, func(path string) error {
		stored, found, err := readChain(path, c.RunID)
		if err != nil {
			return err
		}
		if found {
			if err := checkpointstore.AllowDelete(stored.fence, c.Fence()); err != nil {
				return err
			}
		}

		return s.remove(ctx, path)
	})
}

// DeleteOlderThan implements checkpointstore.Cleaner. It reads every file. Of one that cannot be decoded it takes the
// time of the file.
func (s *Store) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	paths, err := list(s.dir, suffix)
	if err != nil {
		return 0, fmt.Errorf("filestore: %w", err)
	}
	deleted := 0
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return deleted, err
		}
		if !older(path, t) {
			continue
		}
		err := s.lockedPath(ctx, path, func(path string) error {
			if !older(path, t) { // somebody came back for it
				return nil
			}
			err := s.remove(ctx, path)
			if err == nil {
				deleted++
			}

			return err
		})
		if err != nil {
			return deleted, err
		}
	}

	return deleted, ctx.Err()
}

func older(path string, t time.Time) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	updated := info.ModTime()
	if data, err := read(path, checkpointstore.MaxBytes+1); err == nil {
		h, _ := checkpointstore.DecodeHeader(data) // what has none cannot be decoded either
		if c, err := checkpointstore.DecodeAppended(h.RunID, data); err == nil {
			updated = c.UpdatedAt
		}
	}

	return updated.Before(t)
}

func (s *Store) path(runID string) string {
	sum := sha256.Sum256([]byte(runID))

	return filepath.Join(s.dir, hex.EncodeToString(sum[:])+suffix)
}

func read(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written to it

	return io.ReadAll(io.LimitReader(f, limit))
}
