package callbacks

import (
	"strings"
	"unicode/utf8"
)

// BoundMessage returns s as an event may hold it: at most [MaxErrorMessage] bytes, cut between two runes, and valid
// UTF-8, each invalid byte being replaced by U+FFFD. What is short and valid comes back as it is. It reads no more of s
// than it keeps. Safe for concurrent use.
func BoundMessage(s string) string { return bound(s, MaxErrorMessage) }

// maxWord bounds what statistics keep of a name or a word, in bytes.
const maxWord = 128

// boundWord returns s as statistics keep it. A log keeps nothing else of it, so that both count the same.
func boundWord(s string) string { return bound(s, maxWord) }

func bound(s string, limit int) string {
	if len(s) <= limit && utf8.ValidString(s) {
		return s
	}

	var b strings.Builder
	b.Grow(limit)
	for _, r := range s { // an invalid byte comes as U+FFFD
		if b.Len()+utf8.RuneLen(r) > limit {
			break
		}
		b.WriteRune(r)
	}

	return b.String()
}
