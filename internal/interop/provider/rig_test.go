package provider

import (
	"fmt"
	"os"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestMain fails the run if a goroutine outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := clients.Leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// newRig is a rig that is closed at the end of the test.
func newRig(t *testing.T, c clients.Client, w rig.Wiring, cfg faultllm.Config) *rig.Rig {
	t.Helper()
	r := rig.New(t, c, w, cfg)
	t.Cleanup(func() { r.Close(t) })

	return r
}

// brief is a short answer of text.
func brief() faultllm.Script {
	return faultllm.Reply(faultllm.Say("We leave ", "at ten, ", "not later."))
}

// seen is what came of one call that broke.
type seen struct {
	class  continuation.Class // of the first error that the client returned; zero if it returned none
	err    error              // the same
	chunks []*schema.Message
	end    error // of the stream
}

// breakOnce answers briefly, breaks the first answers, and asks DefaultClassifier for the class of what the client makes
// of it.
func breakOnce(t *testing.T, c clients.Client, w rig.Wiring, f ...faultllm.Fault) (*rig.Rig, seen) {
	t.Helper()
	r := newRig(t, c, w, faultllm.Config{Script: brief(), Plan: faultllm.InOrder(f...)})
	var s seen
	s.chunks, s.end = rig.Stream(t.Context(), r.Wrap(continuation.WithClassifier(func(err error) continuation.Class {
		class := continuation.DefaultClassifier(err)
		if s.err == nil {
			s.err, s.class = err, class
		}

		return class
	})), rig.Question())

	return r, s
}
