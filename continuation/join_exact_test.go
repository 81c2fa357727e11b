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

// TestJoinToTheByteTellsOfDoubt: what a provider that continues to the byte sends is delivered as it is, but what cannot be a
// continuation is not called one.
func TestJoinToTheByteTellsOfDoubt(t *testing.T) {
	t.Parallel()
	low, medium, high := callbacks.ConfidenceLow, callbacks.ConfidenceMedium, callbacks.ConfidenceHigh
	for _, c := range []struct {
		name, prefix, continuation string
		kind                       callbacks.JoinKind
		want                       callbacks.Confidence
	}{
		{"the rest of a word", "The quick bro", "wn fox", callbacks.JoinPlain, high},
		{"the next word", "The quick", " brown fox", callbacks.JoinPlain, high},
		{"the next line", "The quick\n", "\nbrown fox", callbacks.JoinSpace, high},
		{"a word that openers begin with", "The quick", "suresh", callbacks.JoinPlain, high},
		{"a preamble", "abc", "Sure, continuing: def", callbacks.JoinPlain, low},
		{"a preamble behind a space", "It is the ", " Sure, continuing:\n\nquick fox", callbacks.JoinSpace, low},
		{"a preamble that the answer may say", "He said: ", "Continuing: def", callbacks.JoinPlain, low},
		{"another answer in a word", "The quick bro", "Here is the answer", callbacks.JoinPlain, low},
		{"a code block anew", "Code:\n\n```go\nx := 1\n", "```go\ny := 2\n", callbacks.JoinPlain, low},
		{"the space left out", "over the ", "re it is", callbacks.JoinPlain, medium},
		{"the space left out of JSON", `{"a": `, `1}`, callbacks.JoinPlain, high},
		{"what JSON cannot have", `{"a": 1, `, `Here it is: {"a": 1, "b": 2}`, callbacks.JoinUndecided, low},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 4, 1 << 20} {
				got, j := continueWith(t, c.prefix, true, split(c.continuation, size))
				shown := strings.TrimSpace(c.prefix)
				space := commonPrefix(c.continuation, c.prefix[len(shown):])
				assert.Equal(t, c.continuation[space:], got, "no more than white space is cut")
				assert.Equal(t, c.kind, j.kind)
				assert.Equal(t, c.want, j.confidence, "in pieces of %d", size)
			}
		})
	}
}
