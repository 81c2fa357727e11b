package interop

import (
	"fmt"
	"os"
	"testing"

	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// TestMain fails the run if a goroutine of the decorator, of a client or of an HTTP connection outlives the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if left := clients.Leftovers(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines left after the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}
