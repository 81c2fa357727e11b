package callbacks

import (
	"strings"
	"unicode/utf8"
)

// BoundMessage returns s as an event may hold it: at most [MaxErrorMessage] bytes, cut between two runes, and valid
// UTF-8, each invalid byte being replaced by U+FFFD. What is short and valid comes back as it is. It reads no more of s
// than it keeps. Safe for concurrent use.
func BoundMessage(s string) string {
	if len(s) <= MaxErrorMessage && utf8.ValidString(s) {
		return s
	}

	var b strings.Builder
	b.Grow(MaxErrorMessage)
	for _, r := range s { // an invalid byte comes as U+FFFD
		if b.Len()+utf8.RuneLen(r) > MaxErrorMessage {
			break
		}
		b.WriteRune(r)
	}

	return b.String()
}
