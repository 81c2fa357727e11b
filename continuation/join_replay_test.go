package continuation

import (
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
)

// joinPlaces returns where one begins to repeat what is shown: at a word that is no accident to find again.
func joinPlaces(shown string) []int {
	var at []int
	for i := range shown {
		s := shown[i:]
		space := i == 0 || unicode.IsSpace(lastRune(shown[:i])) || strings.ContainsRune("。，、", lastRune(shown[:i]))
		if space && !startsWithSpace(s) && weight(s) >= joinOverlap && countLetters(s) > 0 && strings.Count(shown, s) == 1 {
			at = append(at, i)
		}
	}

	return at
}

// TestJoinOfAReplay: a continuation that begins again at an earlier word, and says once more all that followed it, is joined
// to the byte in every language.
func TestJoinOfAReplay(t *testing.T) {
	for _, c := range append(joinProse(), joinStructured()[:5]...) {
		t.Run(c.name, func(t *testing.T) {
			joinCuts(c.text, func(at int, shown string) bool {
				for _, from := range joinPlaces(shown) {
					for _, size := range []int{1 + 8*(at%3), 1 << 20} {
						got, j := continueWith(t, c.text[:at], false, split(c.text[from:], size))
						ok := assert.Equal(t, c.text[at:], got, "cut behind %q, said again from %q, pieces of %d: %s", shown, shown[from:], size, j.kind)
						if !ok || !assert.NotEqual(t, callbacks.ConfidenceLow, j.confidence, "cut behind %q", shown) {
							return false
						}
					}
				}

				return true
			})
		})
	}
}

// TestJoinOfALongReplay: what is said again may be longer than what is held back.
func TestJoinOfALongReplay(t *testing.T) {
	var b strings.Builder
	for i := range 900 {
		fmt.Fprintf(&b, "This is sentence number %d of the text. ", i)
	}
	text := b.String()
	for _, at := range []int{5000, 20_000, len(text) - 3} {
		for _, back := range []int{400, 600, 2000, 4000} {
			from := strings.LastIndex(text[:at-back], "This")
			for _, size := range []int{1, 100, 700, 1 << 20} {
				got, j := continueWith(t, text[:at], false, split(text[from:], size))
				require.Equal(t, joinDone, j.state)
				if at-from < joinContext {
					require.True(t, text[at:] == got, "cut at %d, %d bytes said again, pieces of %d", at, at-from, size)
					require.Equal(t, at-from, j.overlap)
					require.Equal(t, callbacks.JoinOverlap, j.kind)
				}
			}
		}
	}
}

// TestJoinOfAReplayInOtherWords: a long replay that goes another way is no continuation; nothing of it is delivered.
func TestJoinOfAReplayInOtherWords(t *testing.T) {
	text := ""
	for i := range 40 {
		text += fmt.Sprintf("This is sentence number %d of the text. ", i)
	}
	from := strings.Index(text, "This is sentence number 9 ")
	for _, size := range []int{1, 10, 600, 1 << 20} {
		_, j := continueWith(t, text, false, split(text[from:from+600]+"# something else", size))
		assert.Equal(t, joinRejected, j.state, "pieces of %d", size)
	}
}

// TestJoinOfALongRefrain: what stands in the text more than once may stand there again, however long it is.
func TestJoinOfALongRefrain(t *testing.T) {
	verse := strings.TrimSpace(joinLong(700))
	text := "One.\n" + verse + "\nTwo.\n" + verse + "\nThree.\n"
	got, j := continueWith(t, text, false, split(verse+"\nFour.", 50))
	assert.True(t, verse+"\nFour." == got)
	assert.Equal(t, callbacks.JoinUndecided, j.kind)
	assert.Equal(t, callbacks.ConfidenceLow, j.confidence)
}

// TestJoinNeverCutsInsideACharacter: a repetition begins where a character begins, and what is delivered joins its half.
func TestJoinNeverCutsInsideACharacter(t *testing.T) {
	for _, c := range []struct{ name, prefix, continuation, want string }{
		{"an accent comes late", "They met in the small cafe", "the small cafe\u0301 again", "\u0301 again"},
		{"an emoji grows", "They wave their hands 👍", "wave their hands 👍🏽 now", "🏽 now"},
		{"a family grows", "There came a family 👩", "came a family 👩\u200d👧 with bags", "\u200d👧 with bags"},
		{"second half of a flag", "flags 🇩🇪🇯🇵 of all lands", "🇪🇯🇵 of all lands!", "🇪🇯🇵 of all lands!"},
		{"a repetition that begins with an accent", "Voila\u0300 tout le monde", "\u0300 tout le monde", "\u0300 tout le monde"},
		{"a repetition that begins inside an emoji", "Hi 👩\u200d👧 and everybody", "\u200d👧 and everybody", "\u200d👧 and everybody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, size := range []int{1, 3, 1 << 20} {
				got, _ := continueWith(t, c.prefix, false, split(c.continuation, size))
				assert.Equal(t, c.want, got)
				assert.True(t, utf8.ValidString(got))
			}
		})
	}
}

// TestJoinTellsWhenASpaceIsMissing: whether two words or one meet cannot be known.
func TestJoinTellsWhenASpaceIsMissing(t *testing.T) {
	for _, c := range []struct {
		prefix, continuation string
		want                 callbacks.Confidence
	}{
		{"the quick", "brown fox", callbacks.ConfidenceMedium},
		{"It ends here.", "Another begins", callbacks.ConfidenceMedium},
		{"It is example.", "com that we mean", callbacks.ConfidenceMedium},
		{"the quick", " brown fox", callbacks.ConfidenceHigh},
		{"the quick ", "brown fox", callbacks.ConfidenceHigh},
		{"the quick bro", "Here is it", callbacks.ConfidenceLow},
		{"over the la", ") zy dog", callbacks.ConfidenceLow},
		{"over (the la", ") zy dog", callbacks.ConfidenceHigh},
		{"(over) the la", ") zy dog", callbacks.ConfidenceLow},
		{"(over the hill.\n\nThe la", "] zy dog", callbacks.ConfidenceLow},
		{"a moment", ", please", callbacks.ConfidenceHigh},
		{"a moment ", ", please", callbacks.ConfidenceMedium},
		{"f(x,\n", ")", callbacks.ConfidenceHigh},
	} {
		got, j := continueWith(t, c.prefix, false, split(c.continuation, 4))
		assert.Equal(t, c.continuation, got)
		assert.Equal(t, c.want, j.confidence, "%q and %q", c.prefix, c.continuation)
	}
}
