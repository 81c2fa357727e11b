//go:build !race

package matrix

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// TestAllVendorsAreThere is what makes the tests run once more without the race detector: Claude's client has a race of its
// own.
func TestAllVendorsAreThere(t *testing.T) {
	for _, v := range faultllm.Vendors() {
		_, there := clients.Of(v)
		assert.True(t, there, "there is no client of %v", v)
	}
}
