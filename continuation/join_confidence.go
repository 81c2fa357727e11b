package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// plainConfidence tells how sure it is that x, of which nothing was cut, goes on where the text stops. Doubt says that x
// begins with what stands in the text.
func (j *joiner) plainConfidence(x string, doubt bool) callbacks.Confidence {
	after := firstRune(x)
	switch {
	case doubt || j.beginsAnew(x) || strings.HasPrefix(x, "..") || strings.HasPrefix(x, "…"): // dots are said for what is left out
		return callbacks.ConfidenceLow
	case j.spaceIsFree():
		return callbacks.ConfidenceHigh
	case isClosing(after):
		return j.closingConfidence(after)
	case unicode.IsSpace(after):
		return j.spaceConfidence(x)
	case j.trimmed == " " && (unicode.IsLower(after) || unicode.IsDigit(after)):
		return callbacks.ConfidenceHigh
	case j.breaksWord(x):
		return callbacks.ConfidenceLow
	default: // white space may be missing here; two letters may be one word or two; so begins an answer, too
		return callbacks.ConfidenceMedium
	}
}

// spaceConfidence tells how sure it is that the white space at the start of x is what stands between the text and the rest.
// Two spaces may be one too many, other space than was trimmed may be meant instead of that.
func (j *joiner) spaceConfidence(x string) callbacks.Confidence {
	space := x[:len(x)-len(strings.TrimLeftFunc(x, unicode.IsSpace))]
	if strings.HasPrefix(space, " \n") || len(space) > 1 && !hasLineBreak(space) || j.trimmed != "" && commonPrefix(space, j.trimmed) == 0 {
		return callbacks.ConfidenceMedium
	}

	return callbacks.ConfidenceHigh
}

// spaceIsFree reports whether white space makes no difference where the text stops: between the parts of a JSON value.
func (j *joiner) spaceIsFree() bool { return j.doc != nil && !j.doc.scan.InString() }

// unspacedConfidence tells how sure it is that a continuation to the byte, which leaves out the white space that was not
// shown, goes on behind that and not in the middle of a word.
func (j *joiner) unspacedConfidence() callbacks.Confidence {
	if j.spaceIsFree() {
		return callbacks.ConfidenceHigh
	}

	return callbacks.ConfidenceMedium
}

// beginsAnew reports whether x begins as the answer does, with too little to tell a restart by. Inside a line a word is
// enough for that.
func (j *joiner) beginsAnew(x string) bool {
	least := joinRestart / 2
	if j.trimmed == " " || isClause(j.text) && !hasLineBreak(j.trimmed) {
		least = joinWord
	}
	for _, x := range []string{x, strings.TrimLeftFunc(x, unicode.IsSpace)} {
		at := j.origin(x)
		again := x[:j.commonStart(x, at)]
		all := at+len(again) == j.prefix.TextLen()-len(j.trimmed)
		if letters := countLetters(again); again != "" && all || letters >= joinWord && weight(again) >= least {
			return true
		}
	}

	return false
}

// breaksWord reports whether x begins with a capital behind a small letter: another answer in the middle of a word. Behind
// white space there is none.
func (j *joiner) breaksWord(x string) bool {
	before := lastRune(j.text)

	return j.trimmed == "" && isWord(before) && !unicode.IsUpper(before) && unicode.IsUpper(firstRune(x))
}

// beginsSentence reports whether x begins a sentence directly behind text.
func beginsSentence(text, x string) bool {
	r := firstRune(strings.TrimLeftFunc(x, func(r rune) bool { return !isWord(r) && !unicode.IsSpace(r) }))
	stop := lastRune(text)

	return unicode.IsUpper(r) || isLetter(r) && isStop(stop) && !isWideStop(stop)
}

// closingConfidence tells how sure it is that r, which closes something, goes on where the text stops.
func (j *joiner) closingConfidence(r rune) callbacks.Confidence {
	switch {
	case closesNothing(j.text, r):
		return callbacks.ConfidenceLow
	case j.trimmed == " ":
		return callbacks.ConfidenceMedium
	default:
		return callbacks.ConfidenceHigh
	}
}

// closesNothing reports whether r is a bracket that nothing in the text's last paragraph has opened.
func closesNothing(text string, r rune) bool {
	const opening, closing = "([{（「『【《", ")]}）」』】》"
	i := strings.IndexRune(closing, r)
	if i < 0 {
		return false
	}
	opener := []rune(opening)[utf8.RuneCountInString(closing[:i])]
	deep := 0
	for _, b := range text[strings.LastIndex(text, "\n\n")+1:] {
		switch b {
		case opener:
			deep++
		case r:
			deep = max(0, deep-1)
		}
	}

	return deep == 0
}

// isClosing reports whether r stands behind a word without a space.
func isClosing(r rune) bool {
	return strings.ContainsRune(".,…)]”’%、。，；：！？）」』】》،۔।", r)
}
