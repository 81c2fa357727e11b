package interop

import (
	"bytes"
	"fmt"
	"os"
	"runtime/pprof"
	"testing"
	"time"
)

// TestMain fails the run if a goroutine of the decorator or of an HTTP connection outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftovers returns the stacks that are still there after a moment; empty if all is well.
func leftovers() string {
	deadline := time.After(5 * time.Second)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		stacks := stacksOf("carryon/continuation.", "net/http.(*persistConn)", "libs/acl/openai.")
		if stacks == "" {
			return ""
		}
		select {
		case <-again.C:
		case <-deadline:
			return stacks
		}
	}
}

// stacksOf returns the stacks of all goroutines in which one of the names stands.
func stacksOf(names ...string) string {
	var all, found bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 2); err != nil {
		return err.Error()
	}
	for stack := range bytes.SplitSeq(all.Bytes(), []byte("\n\n")) {
		for _, name := range names {
			if bytes.Contains(stack, []byte(name)) {
				found.Write(stack)
				found.WriteString("\n\n")

				break
			}
		}
	}

	return found.String()
}
