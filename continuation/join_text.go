package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// weight measures s in characters as the Latin script counts them: a rune that writes a syllable or a word counts two.
func weight(s string) int {
	n := 0
	for _, r := range s {
		n++
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n++
		}
	}

	return n
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

func isWord(r rune) bool { return isLetter(r) || unicode.IsDigit(r) }

// countLetters counts letters and digits.
func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}

	return n
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)

	return r
}

func lastRune(s string) rune {
	r, _ := utf8.DecodeLastRuneInString(s)

	return r
}

// isCapital reports whether s begins with a capital letter. Most scripts of the world have none.
func isCapital(s string) bool { return unicode.IsUpper(firstRune(s)) }

func startsWithSpace(s string) bool { return unicode.IsSpace(firstRune(s)) }

func hasLineBreak(s string) bool { return strings.ContainsAny(s, "\n\r") }

// isClause reports whether text stops where a clause is still going on: behind a letter, a digit or a comma.
func isClause(text string) bool {
	r := lastRune(text)

	return isWord(r) || strings.ContainsRune(",;，、；،", r)
}

// startsGrapheme reports whether s, which stands behind before, begins with a character of its own, and not with what
// belongs to the one before: an accent, a skin tone, the second half of a flag or of a joined emoji.
func startsGrapheme(before, s string) bool {
	const joiner = '\u200d'
	r := firstRune(s)
	switch {
	case r == utf8.RuneError:
		return false
	case unicode.IsMark(r), r == joiner, r == '\u200c', r >= 0x1F3FB && r <= 0x1F3FF, r >= 0x1160 && r <= 0x11FF:
		return false
	case lastRune(before) == joiner:
		return false
	}

	return !isFlagHalf(r) || flagHalves(before)%2 == 0
}

func isFlagHalf(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// flagHalves counts the halves of flags at the end of s.
func flagHalves(s string) int {
	n := 0
	for isFlagHalf(lastRune(s)) {
		s = s[:len(s)-4]
		n++
	}

	return n
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}

	return n
}

func commonSuffix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}

	return n
}

// periodic reports whether s is one piece said at least twice over. Of a long s the beginning tells.
func periodic(s string) bool {
	s = s[:min(len(s), joinContext)]
	for p := 1; 2*p <= len(s)+1; p++ {
		if s[p:] == s[:len(s)-p] {
			return true
		}
	}

	return false
}
