package storetest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder is a testing.TB that keeps its failures to itself.
type recorder struct {
	testing.TB

	mu      sync.Mutex
	failed  bool
	skipped bool
	log     strings.Builder
}

// record runs a rule and returns what it recorded.
func record(t *testing.T, r rule, s suite) *recorder {
	t.Helper()
	rec := &recorder{TB: t}
	done := make(chan struct{})
	go func() { // a failing test ends its goroutine
		defer close(done)
		r.run(rec, s)
	}()
	<-done

	return rec
}

func (r *recorder) Logf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintf(&r.log, format+"\n", args...)
}

func (r *recorder) Errorf(format string, args ...any) {
	r.Logf(format, args...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

func (r *recorder) Skip(...any) {
	r.skipped = true
	runtime.Goexit()
}
