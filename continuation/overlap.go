package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// overlap is what the beginning of a continuation has in common with the end of the text.
type overlap struct {
	n          int // bytes that repeat the text and are no accident
	confidence callbacks.Confidence
	open       bool // more bytes may show a repetition
	doubt      bool // some bytes are the same, but too few or too common to tell
}

// findOverlap looks for the longest beginning of x with which the text ends.
func (j *joiner) findOverlap(x string, final bool) overlap {
	var o overlap
	tail := j.text[max(0, len(j.text)-joinWindow):]
	for i := range len(tail) {
		s := tail[i:]
		if len(s) > len(x) {
			o.open = o.open || strings.HasPrefix(s, x)

			continue
		}
		rest, ok := strings.CutPrefix(x, s)
		if !ok {
			continue
		}
		c, ok := j.repeats(s, rest)
		switch {
		case rest == "" && !final:
			o.open = true
		case !ok:
			o.doubt = true
		case !final && (strings.HasPrefix(s, rest) || strings.HasPrefix(j.trimmed, rest)):
			o.open = true // what follows tells a repetition from a text that goes round
		case o.n == 0:
			o.n, o.confidence = len(s), c
		}
	}
	if o.open && !final {
		o.n = 0
	}

	return o
}

// repeats reports whether s, with which the text ends and the continuation begins, is a repetition: it must have stood
// once, for what stands more often ("ha ha", equal rows, closing braces) repeats by design. So does a text in which what
// stands before s ends as s does: it goes round with the length of s.
func (j *joiner) repeats(s, rest string) (callbacks.Confidence, bool) {
	before := j.text[:len(j.text)-len(s)]
	if !utf8.RuneStart(s[0]) || strings.Contains(j.text[:len(j.text)-1], s) || periodic(s) {
		return "", false
	}
	if goesRound(before, s) {
		return "", false
	}
	letters := countLetters(s)
	switch {
	case strings.HasPrefix(rest, s):
		return "", false
	case len(s) >= joinOverlap && letters > 0:
		return callbacks.ConfidenceHigh, true
	case letters < joinWord:
		return "", false
	case j.whole && len(s) == len(j.text):
		return callbacks.ConfidenceMedium, true
	case j.trimmed == "" && isPartWord(j.text, s, rest):
		return callbacks.ConfidenceMedium, true
	default:
		return "", false
	}
}

// goesRound reports whether the text that ends with s repeats itself with the length of s: what stands before s ends as s
// does, by more than an accident.
func goesRound(before, s string) bool {
	n := commonSuffix(before, s)

	return n >= max(joinRound, len(s)/4) || n > 0 && n == len(before) && len(s) <= joinPeriod
}

// isPartWord reports whether s is the whole of the text's last word, and rest goes on with that word.
func isPartWord(text, s, rest string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(s)])
	after, _ := utf8.DecodeRuneInString(rest)

	return !isWord(before) && unicode.IsLetter(after)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func countLetters(s string) int {
	n := 0
	for _, r := range s {
		if isWord(r) {
			n++
		}
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

// periodic reports whether s is one piece said at least twice over.
func periodic(s string) bool {
	for p := 1; 2*p <= len(s)+1; p++ {
		if s[p:] == s[:len(s)-p] {
			return true
		}
	}

	return false
}
