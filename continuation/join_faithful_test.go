package continuation

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// joinCuts calls f for each place where a text can break, with what the request shows of it, until f returns false.
func joinCuts(text string, f func(at int, shown string) bool) {
	for at := 1; at < len(text); at++ {
		shown := strings.TrimRightFunc(text[:at], unicode.IsSpace)
		if utf8.RuneStart(text[at]) && shown != "" && !f(at, shown) {
			return
		}
	}
}

// TestJoinIsByteExactForEveryText: whatever the text and wherever it breaks, a model that goes on where the request stops
// is joined to the byte, in every dialect and however its text comes.
func TestJoinIsByteExactForEveryText(t *testing.T) {
	for _, c := range joinCorpus() {
		t.Run(c.name, func(t *testing.T) {
			joinCuts(c.text, func(at int, shown string) bool {
				for _, size := range []int{1, 7, 1 << 20} {
					for _, exact := range []bool{false, true} {
						got, j := continueWith(t, c.text[:at], exact, split(c.text[len(shown):], size))
						if !assert.Equal(t, c.text[at:], got, "cut behind %q, pieces of %d, exact %v: %s", shown, size, exact, j.kind) {
							return false
						}
					}
				}

				return true
			})
		})
	}
}

// TestJoinOfAModelThatSkipsSpace: nor does it need the white space that the request has left out.
func TestJoinOfAModelThatSkipsSpace(t *testing.T) {
	for _, c := range append(append(joinProse(), joinStructured()...), joinExtending()...) {
		t.Run(c.name, func(t *testing.T) {
			joinCuts(c.text, func(at int, shown string) bool {
				if len(shown) == at || startsWithSpace(c.text[at:]) {
					return true
				}
				for _, size := range []int{1, 7, 1 << 20} {
					got, j := continueWith(t, c.text[:at], false, split(c.text[at:], size))
					if !assert.Equal(t, c.text[at:], got, "cut behind %q, pieces of %d: %s", shown, size, j.kind) {
						return false
					}
				}

				return true
			})
		})
	}
}
