package continuation

import (
	"fmt"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/snapshot"
)

// maxCauseText is how many bytes an error of this package tells of one of its causes, and how many an agent's checkpoint
// keeps of it: providers, and proxies before them, put whole pages into their errors. The cause itself stays whole.
const maxCauseText = 1 << 10

// causeText returns what a cause says, without its middle if that is too much: such texts begin with what was done and end
// with what went wrong.
func causeText(err error) string { return middleCut(fmt.Sprint(err)) }

// middleCut returns s, or what stands at both of its ends with a note of what is left out, in at most maxCauseText bytes, so that
// nothing is cut twice. It cuts between runes.
func middleCut(s string) string {
	if len(s) <= maxCauseText {
		return s
	}
	const note = 40 // with the largest number
	half := (maxCauseText - note) / 2
	head, tail := s[:half], s[len(s)-half:]
	head = head[:len(head)-snapshot.PartialRune(head)]
	for n := 0; n < utf8.UTFMax && tail != "" && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}

	return fmt.Sprintf("%s … %d bytes … %s", head, len(s)-len(head)-len(tail), tail)
}
