package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// sentenceSure is how many characters a sentence must have that is told without a capital letter, or where a sentence may
// begin.
const sentenceSure = 2 * joinOverlap

// isWideStop reports whether r ends a sentence without a space behind it.
func isWideStop(r rune) bool { return strings.ContainsRune("。！？｡", r) }

func isStop(r rune) bool { return isWideStop(r) || strings.ContainsRune(".!?…؟۔।॥", r) }

// isSentenceEnd reports whether text ends with a sentence, its closing quotes included.
func isSentenceEnd(text string) bool {
	return isStop(lastRune(strings.TrimRight(text, "\"'”’»)]*_」』）")))
}

// endsSentence reports whether text ends with a sentence if rest follows.
func endsSentence(text, rest string) bool {
	if !isSentenceEnd(text) {
		return false
	}

	return rest == "" || startsWithSpace(rest) || strings.ContainsFunc(text[len(text)-min(len(text), 6):], isWideStop)
}

// sentenceBegins reports whether a sentence begins in text at the byte at. A line begins one.
func sentenceBegins(text string, at int) bool {
	before := strings.TrimRight(text[:at], " \t")

	return before == "" || hasLineBreak(before[len(before)-1:]) || endsSentence(before, text[len(before):])
}

// findSentenceAnchor looks for whole sentences of the text with which x begins. They are out of place where a sentence is
// still going on; and behind another one of the same paragraph, if x leaves out the space that the text needs there.
func (j *joiner) findSentenceAnchor(x string, full bool) overlap {
	at, same := -1, 0
	for i := strings.LastIndexByte(j.text, x[0]); i >= 0; i = strings.LastIndexByte(j.text[:i], x[0]) {
		if n := commonPrefix(x, j.text[i:]); n > same && n < len(j.text)-i && sentenceBegins(j.text, i) {
			at, same = i, n
		}
	}
	switch {
	case at < 0 || j.textAt+at == 0:
		return overlap{}
	case same == len(x):
		return overlap{open: !full, doubt: full}
	}
	n, count := lastSentenceEnd(x, same)
	s := x[:n]
	if n == 0 || weight(s) < joinOverlap || countLetters(s) == 0 || strings.Count(j.text, s) > 1 {
		return overlap{}
	}
	if !j.isMisplaced(s, count, at) {
		return overlap{doubt: true}
	}

	return j.joinSentence(x, n, full)
}

// lastSentenceEnd returns the last place in the first n bytes of x where a sentence ends, and how many end up to there.
func lastSentenceEnd(x string, n int) (end, count int) {
	for i, r := range x[:n] {
		at := i + utf8.RuneLen(r)
		if r != utf8.RuneError && at <= n && (isStop(r) || end == i) && endsSentence(x[:at], x[at:]) {
			if isStop(r) {
				count++
			}
			end = at
		}
	}

	return end, count
}

// isMisplaced reports whether s, which is count whole sentences of the text and stands at the byte at, cannot stand where
// the text stops.
func (j *joiner) isMisplaced(s string, count, at int) bool {
	switch {
	case !isClause(j.text):
		return isSentenceEnd(j.text) && !hasLineBreak(j.text[at:]+j.trimmed) && isCapital(s) && weight(s) >= sentenceSure
	case isCapital(s):
		return true
	default:
		return !unicode.IsLower(firstRune(s)) && count > 1 && weight(s) >= sentenceSure
	}
}

// joinSentence decides how much to cut of x, whose first n bytes are sentences of the text.
func (j *joiner) joinSentence(x string, n int, full bool) overlap {
	next := strings.TrimLeft(x[n:], " ")
	if next == "" && !full {
		return overlap{open: true}
	}
	o := overlap{n: len(x) - len(next), confidence: callbacks.ConfidenceMedium}
	if j.trimmed == "" {
		o.n = n // the space is the text's
	}
	if isClause(j.text) && (j.trimmed == "" || isCapital(next)) {
		o.confidence = callbacks.ConfidenceLow
	}

	return o
}
