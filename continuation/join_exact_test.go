package continuation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/eino-carryon/carryon/callbacks"
)

// TestJoinOfAPrefillThatWasClosed: a template that closes the partial answer makes the model start over, though the
// provider is one that continues to the byte. Nothing is delivered twice.
func TestJoinOfAPrefillThatWasClosed(t *testing.T) {
	t.Parallel()
	text := "Water boils at one hundred degrees Celsius at sea level, and lower up on a mountain. "
	rest := "Salt raises it a little."
	for _, size := range []int{1, 7, 1 << 20} {
		for _, long := range []int{1, 12} { // longer than what may be held, too
			before := strings.TrimSpace(strings.Repeat("Let us see what is known of it. ", long*2)) + " " + text
			before = "First: " + before
			got, j := continueWith(t, before, true, split(before+rest, size))
			assert.Equal(t, rest, got)
			assert.Equal(t, callbacks.JoinRestart, j.kind)
			assert.Equal(t, len(before), j.overlap)

			got, j = continueWith(t, before, true, split(before[:len(before)-20]+"quite another end", size))
			if len(before) < joinWindow {
				assert.Equal(t, callbacks.ConfidenceLow, j.confidence, got)
			} else {
				assert.Equal(t, joinRejected, j.state)
				assert.Empty(t, got)
			}
		}
	}
}
