package main

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"
)

const (
	modulePath   = "module github.com/eino-carryon/carryon\n"
	ownFolder    = "examples/eino-agent"
	maxFileBytes = 16 << 10 // more would only fill the model's context
)

//go:embed prices.csv
var embedded embed.FS

// library holds the files that the agent may read: those of the repository it runs in, else the ones built into the
// program, under the same paths.
type library struct {
	root *os.Root // nil if the program runs elsewhere
}

// openLibrary looks for the repository in dir and above it. The caller closes the library.
func openLibrary(dir string) library {
	for {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(mod, []byte(modulePath)) {
			if root, err := os.OpenRoot(dir); err == nil {
				return library{root: root}
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return library{}
		}
		dir = parent
	}
}

// Close lets go of the repository's folder.
func (l library) Close() error {
	if l.root == nil {
		return nil
	}

	return l.root.Close()
}

// read returns a text file. No path leaves the repository, also not through a link.
func (l library) read(path string) (string, error) {
	path = filepath.ToSlash(filepath.Clean(path))
	if !fs.ValidPath(path) {
		return "", fmt.Errorf("%s is not a path inside the repository", path)
	}
	f, err := l.open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFileBytes:
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxFileBytes)
	case !utf8.Valid(text):
		return "", errors.New(path + " is not a text file")
	}

	return string(text), nil
}

func (l library) open(path string) (fs.File, error) {
	if l.root != nil {
		return l.root.FS().Open(path)
	}
	own, err := filepath.Rel(ownFolder, path)
	if err != nil {
		return nil, err
	}

	return embedded.Open(filepath.ToSlash(own))
}
