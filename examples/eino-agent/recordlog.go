package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/eino-carryon/carryon/callbacks"
)

// recordLog is the file that the structured log is written to. The zero recordLog writes nothing.
type recordLog struct {
	file *os.File

	mu  sync.Mutex
	err error // the first that a write met, which slog keeps to itself
}

// openRecordLog begins a new file. An empty path is no file. The caller closes it.
func openRecordLog(path string) (*recordLog, error) {
	if path == "" {
		return &recordLog{}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--log: %w", err)
	}

	return &recordLog{file: f}, nil
}

// handlers returns what writes the events, if there is a file.
func (l *recordLog) handlers() []callbacks.Handler {
	if l.file == nil {
		return nil
	}

	return []callbacks.Handler{callbacks.Slog(slog.New(slog.NewJSONHandler(l, nil)))}
}

// Write writes to the file.
func (l *recordLog) Write(b []byte) (int, error) {
	n, err := l.file.Write(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err == nil {
		l.err = err
	}

	return n, err
}

// Close closes the file. It returns the first error that a write met.
func (l *recordLog) Close() error {
	if l.file == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()

	return errors.Join(l.err, l.file.Close())
}
