package places_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain fails the run if a goroutine of the decorator outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftovers waits for the decorator's goroutines to end, and returns those that do not.
func leftovers() string {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience / 2); ; {
		runtime.GC() // a stream that was dropped ends when it is collected
		var left []string
		stacks := make([]byte, 1<<22)
		for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
			if strings.Contains(stack, "carryon/continuation.") {
				left = append(left, stack)
			}
		}
		if len(left) == 0 {
			return ""
		}
		select {
		case <-limit:
			return strings.Join(left, "\n\n")
		case <-tick.C:
		}
	}
}
