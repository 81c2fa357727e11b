package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// overlap is what the beginning of a continuation has in common with the text.
type overlap struct {
	n          int // bytes that repeat the text and are no accident
	confidence callbacks.Confidence
	open       bool // more bytes may show a repetition
	doubt      bool // some bytes are the same, but too few or too common to tell
	anchor     bool // it repeats a piece from inside the text, not its end
	anchorOpen bool // more bytes may show such a piece
}

// findOverlap looks for the longest beginning of x with which the text ends.
func (j *joiner) findOverlap(x string, final bool) overlap {
	var o overlap
	for i := strings.IndexByte(j.text, x[0]); i >= 0; i = nextByte(j.text, x[0], i) {
		j.compare(&o, j.text[i:], x, final)
		if o.open && !final {
			return overlap{open: true}
		}
	}

	return o
}

// compare adds to o what x has in common with s, an end of the text.
func (j *joiner) compare(o *overlap, s, x string, final bool) {
	rest, ok := strings.CutPrefix(x, s)
	if !ok {
		o.open = o.open || strings.HasPrefix(s, x)

		return
	}
	c, ok := j.repeats(s, rest)
	if rest == "" && !final {
		o.open = true

		return
	}
	round, open := false, false
	if ok {
		round, open = goesRoundWith(j.text, s, x)
	}
	if round && j.isStart(len(s)) { // all of it again is more than a round
		round, c = false, callbacks.ConfidenceMedium
	}
	switch {
	case !ok || round:
		o.doubt = true
	case !final && (open || j.mayGoOn(s, rest)):
		o.open = true // what follows tells a repetition from a text that goes round
	case o.n == 0:
		o.n, o.confidence = len(s), c
	}
}

// mayGoOn reports whether more of rest, which follows the repetition s, may show that it is none.
func (j *joiner) mayGoOn(s, rest string) bool {
	return strings.HasPrefix(s, rest) || j.trimmed != "" && strings.TrimSpace(rest) == ""
}

// nextByte returns where c stands in s behind i, or -1.
func nextByte(s string, c byte, i int) int {
	n := strings.IndexByte(s[i+1:], c)
	if n < 0 {
		return -1
	}

	return i + 1 + n
}

// repeats reports whether s, with which the text ends and the continuation begins, is a repetition.
func (j *joiner) repeats(s, rest string) (callbacks.Confidence, bool) {
	before := j.text[:len(j.text)-len(s)]
	if j.isByDesign(before, s, rest) {
		return "", false
	}
	letters := countLetters(s)
	switch {
	case startsWithSpace(s), hasLineBreak(s) && before != "" && !unicode.IsSpace(lastRune(before)):
		return callbacks.ConfidenceMedium, isNoAccident(s)
	case weight(s) >= joinOverlap && letters > 0, isTable(s) && letters > 0:
		return callbacks.ConfidenceHigh, true
	case letters < joinWord:
		return "", false
	case j.isStart(len(s)):
		return callbacks.ConfidenceMedium, true
	case j.trimmed == "" && isPartWord(before, s, rest):
		return callbacks.ConfidenceMedium, true
	default:
		return "", false
	}
}

// isByDesign reports whether s, which stands behind before, may well stand twice: a repetition must have stood once, for what
// stands more often ("ha ha", equal rows, closing braces) repeats by design. So does a text in which what stands before s ends
// as s does: it goes round with the length of s.
func (j *joiner) isByDesign(before, s, rest string) bool {
	switch {
	case !utf8.RuneStart(s[0]), strings.Contains(j.text[:len(j.text)-1], s), periodic(s):
		return true
	case !startsGrapheme(before, s), goesRound(before, s), isCode(s, rest):
		return true
	default:
		return strings.HasPrefix(rest, s) || j.leavesSpaceOut(rest)
	}
}

// leavesSpaceOut reports whether rest, behind what may be a repetition, does not begin with the white space that stands there:
// then a longer word, or line, begins as the last one did.
func (j *joiner) leavesSpaceOut(rest string) bool {
	next := strings.TrimLeftFunc(rest, unicode.IsSpace)
	if j.trimmed == "" || next == "" || j.spaceIsFree() {
		return false
	}
	space := rest[:len(rest)-len(next)]

	return space == "" || hasLineBreak(j.trimmed) && !hasLineBreak(space)
}

// isNoAccident reports whether s, which begins with white space, or inside a word and goes over a line break, is a repetition
// all the same. The rest of a text begins so, and the next line often begins as the last one did, and goes on; who repeats
// begins with a line or a word.
func isNoAccident(s string) bool {
	if hasLineBreak(s) {
		return strings.Count(strings.TrimSpace(s), "\n") >= joinBlock-1 && weight(s) >= joinExactRestart
	}

	return weight(s) >= joinOverlap && countLetters(s) >= joinOverlap/2
}

// goesRound reports whether s, which follows before, may be what comes next in a text that says the same again and again:
// before ends with the beginning of what is said, and s does so too. One ending that many words have shows nothing.
func goesRound(before, s string) bool {
	n := commonSuffix(before, s)
	switch {
	case commonSuffix(strings.TrimRight(before, " \n"), s) >= joinOverlap: // white space may be missing between
		return true
	case n == 0 || n == len(s):
		return n > 0
	case n == len(before) && len(s) <= joinPeriod:
		return true
	}
	same := strings.TrimRightFunc(s[len(s)-n:], func(r rune) bool { return !isWord(r) })

	return n >= max(joinRound, len(s)/4) && (same == "" || strings.ContainsFunc(same, func(r rune) bool { return !isWord(r) }))
}

// goesRoundWith looks whether text and x say the same again and again, with a part of s at both ends of what is said: s, with
// which text ends and x begins, is then said once more than can be told. Open says that more of x may show it.
func goesRoundWith(text, s, x string) (round, open bool) {
	for _, b := range borders(s) {
		period := len(s) - b
		before, next := text[:len(text)-period], x[period:]
		n := commonSuffix(before, text)
		switch {
		case n > b && n >= joinOverlap && (n == len(before) || n >= period/4), strings.HasPrefix(next, x[:period]):
			return true, false
		case strings.HasPrefix(x[:period], next):
			open = true
		}
	}

	return false, open
}

// borders returns the lengths, longest first, with which s begins as it ends.
func borders(s string) []int {
	longest := make([]int, len(s)+1) // of the first n bytes
	longest[0] = -1
	for n, k := 1, 0; n < len(s); n++ {
		for k >= 0 && s[k] != s[n] {
			k = longest[k]
		}
		k++
		longest[n+1] = k
	}
	var found []int
	for b := longest[len(s)]; b > 0; b = longest[b] {
		found = append(found, b)
	}

	return found
}

// isCode reports whether s is whole lines of code, their line break first: they may well stand there twice, and who repeats
// begins with the line.
func isCode(s, rest string) bool {
	return s[0] == '\n' && (rest == "" || hasLineBreak(rest[:1])) && strings.IndexByte(")}];{", s[len(s)-1]) >= 0
}

// isTable reports whether s is several rows of a table: that is no accident, however short they are.
func isTable(s string) bool {
	return strings.HasPrefix(s, "|") && strings.Contains(s, "|\n|")
}

// isStart reports whether the last n bytes of the text are all there is of the answer, or of its open code block if the
// continuation opened that anew.
func (j *joiner) isStart(n int) bool { return j.isOrigin(j.textAt + len(j.text) - n) }

// isPartWord reports whether s is the whole of the text's last word, or name in code, and rest goes on with that.
func isPartWord(before, s, rest string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return !isName(r) }) || !strings.ContainsFunc(s, isLetter) {
		return false
	}

	return !isName(lastRune(before)) && isName(firstRune(rest)) && !unicode.IsDigit(firstRune(s))
}

// isName reports whether r may stand in a name, in the prose or the code of most languages.
func isName(r rune) bool { return isWord(r) || r == '_' }

// endsAsBegins reports whether text ends with something that x begins with.
func endsAsBegins(text, x string) bool {
	for n := min(len(text), len(x)); n > 0; n-- {
		if strings.HasSuffix(text, x[:n]) {
			return true
		}
	}

	return false
}
