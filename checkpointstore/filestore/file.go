package filestore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// replace puts data in the place of the file at path, so that at any moment, and after a power cut at any moment, the
// old or the new content is there. The caller holds the lock of path.
func replace(ctx context.Context, path string, data []byte) error {
	tmp := strings.TrimSuffix(path, suffix) + tmpSuffix
	// What a writer that died left is not written into: it may have other rights, or be a link.
	if err := removeFile(tmp); err != nil {
		return err
	}
	err := write(tmp, data)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeFile(tmp))
	}

	return syncDir(filepath.Dir(path))
}

func write(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}

	return errors.Join(err, f.Close())
}

// remove removes the file at path for good, also after a power cut. The caller holds the lock of path.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	return syncDir(filepath.Dir(path))
}

func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
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
		if err := errors.Join(removeFile(tmp), unlock()); err != nil {
			return err
		}
	}

	return nil
}
