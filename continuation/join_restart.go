package continuation

import (
	"sort"
	"strings"

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
	if at == 0 {
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

// isRestart reports whether x, which has the first bytes of the answer or block, has enough of them to be that begun anew.
// A start that stands again inside the text proves nothing.
func (j *joiner) isRestart(x string) bool {
	return weight(x) >= joinRestart && countLetters(x) > 0 && !periodic(x) &&
		!strings.Contains(j.text[j.afterStart():], x)
}

// afterStart is where in the text a second occurrence of the start would begin.
func (j *joiner) afterStart() int {
	return min(max(0, j.start+1-j.textAt), len(j.text))
}

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

// awaitsAnchor reports whether x may yet turn out to be the head of the table that the answer begins with, and is in: that
// said again looks like the answer begun anew.
func (j *joiner) awaitsAnchor(x string) bool {
	return j.doc == nil && !j.fence.is() && j.findLineAnchor(x, false).open
}
