package filestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// replace puts data in the place of the file at path, so that at any moment, and after a power cut at any moment, the
// old or the new content is there. The caller holds the lock of path.
func (s *Store) replace(ctx context.Context, path string, data []byte) error {
	tmp := strings.TrimSuffix(path, suffix) + tmpSuffix
	err := s.entered(ctx, func() error {
		err := s.write(tmp, data)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = s.disk.rename(tmp, path)
		}
		if err != nil {
			return errors.Join(err, removeFile(s.disk, tmp))
		}

		return nil
	})
	if err != nil {
		return err
	}

	return s.names.sync()
}

// write makes the file at path, which is on the disk then. What a writer that died left there is not written into: it may
// have other rights, or be a link.
func (s *Store) write(path string, data []byte) error {
	f, err := s.disk.create(path)
	if errors.Is(err, fs.ErrExist) {
		if err := removeFile(s.disk, path); err != nil {
			return err
		}
		f, err = s.disk.create(path)
	}
	if err != nil {
		return err
	}

	return errors.Join(writeSynced(f, data), f.Close())
}

func writeSynced(f file, data []byte) error {
	if len(data) > 0 {
		if _, err := f.Write(data); err != nil {
			return err
		}
	}

	return f.Sync()
}

// extend writes data behind the size bytes of the file at path, and returns when all of it is on the disk. What a write that
// fails has added it takes away again; where that fails as well, or the power goes, readers take half of it for nothing.
// The caller holds the lock of path.
func (s *Store) extend(ctx context.Context, path string, size int64, data []byte) error {
	return s.entered(ctx, func() error {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, err := s.disk.reopen(path)
		if err != nil {
			return err
		}
		if err = writeSynced(f, data); err != nil {
			err = errors.Join(err, f.Truncate(size))
		}

		return errors.Join(err, f.Close())
	})
}

// remove removes the file at path for good, also after a power cut. The caller holds the lock of path.
func (s *Store) remove(ctx context.Context, path string) error {
	err := s.entered(ctx, func() error { return s.disk.remove(path) })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	return s.names.sync()
}

// entered runs do when few enough others write. Each writer waits for the disk in a thread of its own, and the directory is
// one for all: more of them at once write less.
func (s *Store) entered(ctx context.Context, do func() error) error {
	select {
	case s.writers <- struct{}{}:
		defer func() { <-s.writers }()

		return do()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func removeFile(d disk, path string) error {
	if err := d.remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	return nil
}

// list returns the paths in dir that end in suffix.
func list(dir, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}

	return paths, nil
}

// makeDir makes dir and what is missing above it, for good.
func makeDir(dir string) error {
	var made []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		made = append(made, d)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, d := range made {
		if err := syncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}

	return nil
}

// removeLeftovers removes the files that writers which died were writing. Whoever writes one now holds its lock.
func (s *Store) removeLeftovers() error {
	leftovers, err := list(s.dir, tmpSuffix)
	if err != nil {
		return err
	}
	for _, tmp := range leftovers {
		unlock, err := s.locks.try(tmp)
		if errors.Is(err, errLocked) {
			continue
		}
		if err != nil {
			return err
		}
		if err := errors.Join(removeFile(s.disk, tmp), unlock()); err != nil {
			return err
		}
	}

	return nil
}
