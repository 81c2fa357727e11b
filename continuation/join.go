package continuation

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// Limits of a join.
const (
	joinWindow  = 512 // bytes of a continuation held back at most, and of the text before it that it is compared with
	joinContext = 4096
	joinOverlap = 12  // bytes that a repetition must have to be no accident
	joinWord    = 3   // letters that a repeated beginning of a word must have
	joinRestart = 16  // bytes after which equality with the start of the text counts as a restart
	joinRound   = 4   // bytes alike before and at the end of a repetition that show a text that goes round
	joinPeriod  = 128 // up to this length, a text is waited for to come again whole: it may go round
)

// joiner decides how a continuation meets the text before it: what of its first stretch repeats that text and is cut.
// It holds at most joinWindow bytes back, decides once, and never takes back what it let pass. It is pure: the caller
// keeps the time and the chunks.
type joiner struct {
	prefix  prefix
	text    string // the end of what the model was shown
	trimmed string // white space that was delivered behind it and not shown
	exact   bool   // the provider continues to the byte
	whole   bool   // text is all that the model was shown

	state  joinState
	held   []byte
	offset int // while swallowing: how much of the prefix was repeated

	kind       callbacks.JoinKind
	overlap    int
	confidence callbacks.Confidence
}

// prefix is the text that was delivered. The accumulator is one.
type prefix interface {
	TextLen() int
	Tail(n int) string
	HasTextAt(offset int, s string) bool
}

type joinState int

const (
	joinHolding    joinState = iota // undecided
	joinSwallowing                  // the continuation repeats the whole text from its start
	joinDone                        // decided: the rest passes
	joinRejected                    // a restart in other words: nothing of it may be delivered
)

func newJoiner(p prefix, trimmed string, exact bool) *joiner {
	text := p.Tail(joinContext + len(trimmed))
	text = text[:max(0, len(text)-len(trimmed))]

	return &joiner{
		prefix: p, text: text, trimmed: trimmed, exact: exact,
		whole: len(text)+len(trimmed) == p.TextLen(),
	}
}

// take reads the next text of the continuation and returns how many bytes to cut: while holding, nothing is known yet;
// when it has just decided, from the start of all that was held, s included; while swallowing, from the start of s.
func (j *joiner) take(s string) int {
	switch j.state {
	case joinHolding:
		j.held = append(j.held, s...)

		return j.decide(string(j.held), false)
	case joinSwallowing:
		return j.swallow(s)
	default:
		return 0
	}
}

// end decides at the end of the continuation, or when something other than text follows.
func (j *joiner) end() int {
	if j.state != joinHolding {
		return 0
	}
	if len(j.held) == 0 {
		return j.settle(callbacks.JoinEmpty, 0, callbacks.ConfidenceHigh)
	}

	return j.decide(string(j.held), true)
}

// expire decides when the time for holding back has run out.
func (j *joiner) expire() int {
	if j.state != joinHolding {
		return 0
	}

	return j.decide(string(j.held), true)
}

// sure reports whether what is held would be joined for a reason if nothing more came.
func (j *joiner) sure() bool {
	if j.state != joinHolding {
		return true
	}
	end := *j
	end.decide(string(j.held), true)

	return end.state == joinDone && end.kind != callbacks.JoinUndecided && end.kind != callbacks.JoinRestart
}

func (j *joiner) settle(k callbacks.JoinKind, overlap int, c callbacks.Confidence) int {
	j.state, j.kind, j.overlap, j.confidence = joinDone, k, overlap, c

	return overlap
}

// decide looks for the ways in which x can meet the text, the surest first. A way that more bytes could still open keeps x
// held, unless this is all there is.
func (j *joiner) decide(x string, final bool) int {
	if x == "" {
		return 0
	}
	full := final || len(x) >= joinWindow
	space := commonPrefix(x, j.trimmed)
	if j.exact || j.text == "" {
		return j.decideSpace(x, space, false, full)
	}
	switch o := j.findOverlap(x, final); {
	case o.n >= joinOverlap || o.n > 0 && space == 0:
		return j.settle(j.overlapKind(o.n), o.n+commonPrefix(x[o.n:], j.trimmed), o.confidence)
	case o.open && space > 0 && !full:
		return 0
	case space > 0:
		return j.decideSpace(x, space, o.doubt, full)
	default:
		return j.decideRestart(x, o, full)
	}
}

// decideSpace cuts what x repeats of the white space that the model was not shown.
func (j *joiner) decideSpace(x string, space int, doubt, full bool) int {
	switch {
	case space == len(x) && space < len(j.trimmed) && !full:
		return 0
	case space == 0:
		return j.settle(callbacks.JoinPlain, 0, callbacks.ConfidenceHigh)
	case doubt:
		return j.settle(callbacks.JoinSpace, space, callbacks.ConfidenceLow)
	default:
		return j.settle(callbacks.JoinSpace, space, callbacks.ConfidenceHigh)
	}
}

// decideRestart looks whether x is the whole answer begun anew; if not, it is joined as it is.
func (j *joiner) decideRestart(x string, o overlap, full bool) int {
	again := j.commonStart(x)
	if j.isRestart(x[:again]) {
		switch {
		case again < len(x) && again < j.prefix.TextLen():
			j.state = joinRejected

			return 0
		case full || len(j.text) > joinPeriod:
			j.state, j.kind, j.confidence = joinSwallowing, callbacks.JoinRestart, callbacks.ConfidenceHigh

			return j.swallow(x)
		}
	}
	switch {
	case !o.open && again < len(x):
		return j.settle(callbacks.JoinPlain, 0, j.plainConfidence(x, o.doubt))
	case full:
		return j.settle(callbacks.JoinUndecided, 0, callbacks.ConfidenceLow)
	default:
		return 0
	}
}

// commonStart returns how many bytes x and the whole text have in common from their starts on.
func (j *joiner) commonStart(x string) int {
	n := min(len(x), j.prefix.TextLen())
	if j.prefix.HasTextAt(0, x[:n]) {
		return n
	}

	return sort.Search(n, func(n int) bool { return !j.prefix.HasTextAt(0, x[:n+1]) })
}

func (j *joiner) overlapKind(n int) callbacks.JoinKind {
	if j.whole && n == len(j.text) {
		return callbacks.JoinRestart
	}

	return callbacks.JoinOverlap
}

// isRestart reports whether x, which has the text's first bytes, has enough of them to be the answer begun anew. A start
// that stands again inside the text proves nothing.
func (j *joiner) isRestart(x string) bool {
	return len(x) >= joinRestart && j.prefix.TextLen() >= joinRestart && countLetters(x) > 0 && !periodic(x) &&
		!strings.Contains(j.text[j.afterStart():], x)
}

// afterStart is where in the text a second occurrence of the answer's start would begin.
func (j *joiner) afterStart() int {
	if j.whole {
		return min(1, len(j.text))
	}

	return 0
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
	j.overlap = j.offset

	return n
}

// plainConfidence tells how sure it is that x goes on where the text stops. Two letters that meet may be one word or
// the beginning of something else; doubt says that x begins with what the text ends with.
func (j *joiner) plainConfidence(x string, doubt bool) callbacks.Confidence {
	before, _ := utf8.DecodeLastRuneInString(j.text)
	after, _ := utf8.DecodeRuneInString(x)
	switch {
	case doubt:
		return callbacks.ConfidenceLow
	case j.trimmed != "" || !isWord(before) || !isWord(after):
		return callbacks.ConfidenceHigh
	case unicode.IsUpper(after) && !unicode.IsUpper(before):
		return callbacks.ConfidenceLow
	default:
		return callbacks.ConfidenceMedium
	}
}
