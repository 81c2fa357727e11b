package continuation

import (
	"sort"
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
)

func (j *joiner) reject() int {
	j.state = joinRejected

	return 0
}

// align begins to swallow: x repeats the prefix from at on.
func (j *joiner) align(x string, at int, c callbacks.Confidence) int {
	j.state, j.from, j.offset = joinSwallowing, at, at
	j.kind, j.confidence = callbacks.JoinOverlap, c
	if j.start == 0 && j.isOrigin(at) {
		j.kind = callbacks.JoinRestart
	}

	return j.swallow(x)
}

// swallow compares s with the prefix and returns how much of it repeats that. At the first difference the attempt is
// not a continuation at all.
func (j *joiner) swallow(s string) int {
	n := min(len(s), j.prefix.TextLen()-j.offset)
	if !j.prefix.HasTextAt(j.offset, s[:n]) {
		j.state = joinRejected

		return len(s)
	}
	j.offset += n
	if j.offset == j.prefix.TextLen() {
		j.state = joinDone
	}
	j.overlap = j.offset - j.from

	return n
}

// commonStart returns how many bytes x and the text from at on have in common.
func (j *joiner) commonStart(x string, at int) int {
	n := max(0, min(len(x), j.prefix.TextLen()-at))
	if j.prefix.HasTextAt(at, x[:n]) {
		return n
	}

	return sort.Search(n, func(n int) bool { return !j.prefix.HasTextAt(at, x[:n+1]) })
}

// replayed returns where in the prefix the continuation began, if it was left since it went on otherwise than the text there:
// one that begins there again means it. 0 for a restart of the answer: that is never delivered.
func (j *joiner) replayed() int {
	if j.state != joinRejected || j.isOrigin(j.from) {
		return 0
	}

	return j.from
}

// isRestart reports whether x, which has the first bytes of the answer or block, has enough of them to be that begun anew.
// A start that stands again inside the text proves nothing.
func (j *joiner) isRestart(x string) bool {
	return weight(x) >= joinRestart && countLetters(x) > 0 && !periodic(x) &&
		!strings.Contains(j.text[j.behind(j.origin(x)):], x)
}

// origin is where in the prefix a restart x begins: behind the white space there, if x has none.
func (j *joiner) origin(x string) int {
	if j.start == 0 && !startsWithSpace(x) {
		return j.indent
	}

	return j.start
}

// isOrigin reports whether a restart may begin at the byte at.
func (j *joiner) isOrigin(at int) bool { return at == j.start || j.start == 0 && at == j.indent }

// behind is where in the text what begins at the byte at of the prefix may stand a second time.
func (j *joiner) behind(at int) int { return min(max(0, at+1-j.textAt), len(j.text)) }

// replayedFrom returns where the beginning of x, as much of it as may be held, stands in the prefix, or -1. It must stand
// there once.
func (j *joiner) replayedFrom(x string) int {
	x = x[:joinWindow]
	if startsWithSpace(x) || periodic(x) || countLetters(x) == 0 {
		return -1
	}
	all := j.prefix.Tail(j.prefix.TextLen())
	at := strings.Index(all, x)
	if at < 0 || strings.Contains(all[at+1:], x) || !startsGrapheme(all[:at], x) {
		return -1
	}

	return at
}

// decideSpacedRestart looks whether x is the answer begun anew behind white space. It reports false if x is not, or if white
// space may lead to a refrain: where a line or a sentence has ended. If true, x is decided, or held.
func (j *joiner) decideSpacedRestart(x string, full bool) (int, bool) {
	y := strings.TrimLeftFunc(x, unicode.IsSpace)
	if len(y) == len(x) || j.doc != nil {
		return 0, false
	}
	at := j.origin(y)
	again := j.commonStart(y, at)
	switch {
	case !j.isRestart(y[:again]):
		return 0, !full && again == len(y) && again < j.prefix.TextLen()-at
	case !isClause(j.text) || hasLineBreak(j.trimmed), hasLineBreak(x[:len(x)-len(y)]) && isShortLine(j.text):
		return 0, false // a sentence, or a line, may begin as the first one did
	case again < len(y) && again < j.prefix.TextLen()-at:
		return j.reject(), true
	case full || len(j.text) > joinPeriod:
		return len(x) - len(y) + j.align(y, at, callbacks.ConfidenceMedium), true
	default:
		return 0, true
	}
}

// extends reports whether x, which begins with the again bytes of the prefix from at on, says all that was shown and goes on in
// the same word or line, though white space stands there: then that is the next line, and begins as the only one did.
func (j *joiner) extends(x string, at, again int) bool {
	return at+again == j.textAt+len(j.text) && j.leavesSpaceOut(x[again:])
}

// isShortLine reports whether text is one line that the next one may well begin with.
func isShortLine(text string) bool { return !hasLineBreak(text) && weight(text) < 2*joinRestart }

// decideWholeRestart looks whether x says all that was shown again: a template that closed the partial answer, though the
// provider continues one to the byte, makes the model start over. Less than all of it, or little, proves nothing there, and
// is not cut. It reports
// false if x does not; if true, x is decided, or held.
func (j *joiner) decideWholeRestart(x string, full bool) (int, bool) {
	at := j.origin(x)
	shown := min(j.textAt+len(j.text)-at, joinWindow)
	if shown < joinExactRestart {
		return 0, false
	}
	switch again := j.commonStart(x, at); {
	case again >= shown && j.isRestart(x[:shown]):
		return j.align(x, at, callbacks.ConfidenceMedium), true
	case again == len(x) && again < shown && !full:
		return 0, true
	case again >= joinExactRestart && j.isRestart(x[:again]): // in other words from here on, or it goes on so
		return j.settle(callbacks.JoinPlain, 0, callbacks.ConfidenceLow), true
	default:
		return 0, false
	}
}

// awaitsAnchor reports whether x may yet turn out to be the head of the table that the answer begins with, and is in: that
// said again looks like the answer begun anew.
func (j *joiner) awaitsAnchor(x string) bool {
	return j.doc == nil && !j.fence.is() && j.findLineAnchor(x, false).open
}
