package testserver

import (
	"errors"
	"os"
	"testing"
)

// Need starts a server for a test and stops it after it. A missing program fails the test where CI is set, since a
// check that passes by not looking is none; elsewhere it skips it and says so.
func Need(tb testing.TB, start func(args ...string) (*Server, error), args ...string) *Server {
	tb.Helper()
	s, err := start(args...)
	if errors.Is(err, ErrMissing) && os.Getenv("CI") == "" {
		tb.Skipf("%v; CONTRIBUTING.md says which packages have it", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Stop(); err != nil {
			tb.Error(err)
		}
	})

	return s
}
