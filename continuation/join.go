package continuation

import (
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
)

// Limits of a join. Characters are counted by weight.
const (
	joinWindow       = 512 // bytes of a continuation held back at most
	joinContext      = 4096
	joinOverlap      = 12  // characters that a repetition must have to be no accident
	joinWord         = 3   // letters that a repeated beginning of a word must have
	joinRestart      = 16  // characters after which equality with the start of the text counts as a restart
	joinExactRestart = 64  // bytes that must come again for a restart where the provider continues to the byte
	joinRound        = 4   // bytes alike before and at the end of a repetition that show a text that goes round
	joinBlock        = 3   // lines that no longer come again by design, one below the other
	joinPeriod       = 128 // up to this length, a text is waited for to come again whole: it may go round
)

// joiner decides how a continuation meets the text before it: what of its first stretch repeats that text, or only speaks
// of it, and is cut. It holds at most joinWindow bytes back, decides once, and never takes back what it let pass. It is
// pure: the caller keeps the time and the chunks.
type joiner struct {
	prefix  prefix
	text    string // the end of what the model was shown
	textAt  int    // where text stands in the prefix
	trimmed string // white space that was delivered behind it and not shown
	exact   bool   // the provider continues to the byte

	lines []string // of the text
	gap   int      // which of them does not follow the one before; 0: none
	table table    // the long table that the text stops in

	fence        fence     // the code block that the text stops in
	doc          *document // the JSON value that the text stops in; nil if it does not
	keepPreamble bool      // nothing is cut but what repeats the text
	notFrom      int       // a place in the prefix from which the continuation before this one began to repeat it; 0: none
	finished     bool      // nothing follows what has come
	preamble     lead      // what was found of one
	spoken       bool      // and that stays so

	state  joinState
	held   []byte
	start  int // of the prefix, or of the code block that the continuation opened anew: where a restart begins
	indent int // white space that the prefix begins with
	from   int // while swallowing: where in the prefix the repetition began
	offset int // while swallowing: how far in the prefix it got

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
	joinSwallowing                  // the continuation repeats the text from an earlier place on
	joinDone                        // decided: the rest passes
	joinRejected                    // a restart in other words: nothing of it may be delivered
)

// newJoiner returns the joiner of a continuation behind p. Trimmed is the white space at p's end that the model was not
// shown.
func newJoiner(p prefix, trimmed string, exact bool) *joiner {
	text := p.Tail(joinContext + len(trimmed))
	text = text[:max(0, len(text)-len(trimmed))]
	j := &joiner{
		prefix: p, text: text, trimmed: trimmed, exact: exact,
		textAt: max(0, p.TextLen()-len(trimmed)-len(text)),
	}
	if text != "" {
		all := p.Tail(p.TextLen())
		j.fence = openFence(all)
		j.doc = openDocument(all, j.fence.body)
		j.table = openTable(all[:len(all)-len(trimmed)], j.textAt)
		j.findLines()
		j.indent = len(all) - len(strings.TrimLeftFunc(all, unicode.IsSpace))
	}

	return j
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
	if j.exact || j.text == "" {
		return j.decideExact(x, full)
	}
	l := j.findLead(x, full)
	if l.open {
		return 0
	}
	if l.fence > 0 {
		j.start = j.fence.body
	}
	if l.n() == len(x) && !full {
		return 0
	}
	cut := j.decideBody(x[l.n():], final, full, l.doubt)
	if j.state == joinHolding {
		return 0
	}
	j.tellLead(l)

	return l.n() + cut
}

// decideExact joins what needs no cut but of white space that was not shown, or of all that was. What would be cut, or left,
// of another continuation is no cause to cut it here; but it is told, and held until it is known.
func (j *joiner) decideExact(x string, full bool) int {
	if cut, ok := j.decideWholeRestart(x, full); ok {
		return cut
	}
	space := commonPrefix(x, j.trimmed)
	if space == len(x) && !full {
		return 0
	}
	inexact := *j
	inexact.exact = false
	if j.text != "" && inexact.decide(x, full) == 0 && inexact.state == joinHolding {
		return 0
	}
	cut := j.decideSpace(x, space, false, full)
	switch {
	case j.state != joinDone || j.text == "":
	case !inexact.isSurelyPlain():
		j.confidence = callbacks.ConfidenceLow
	case inexact.confidence == callbacks.ConfidenceMedium && (j.doc != nil || startsWithSpace(x[cut:]) || beginsSentence(j.text, x[cut:])):
		j.confidence = callbacks.ConfidenceMedium
	}

	return cut
}

// isSurelyPlain reports whether nothing but white space was cut, and not with doubt.
func (j *joiner) isSurelyPlain() bool {
	return j.state == joinDone && j.confidence != callbacks.ConfidenceLow &&
		(j.kind == callbacks.JoinPlain || j.kind == callbacks.JoinSpace || j.kind == callbacks.JoinEmpty)
}

// decideBody joins what is left of a continuation when what stands in front of it is gone.
func (j *joiner) decideBody(x string, final, full, doubt bool) int {
	if x == "" {
		return j.settle(callbacks.JoinEmpty, 0, callbacks.ConfidenceMedium)
	}
	if j.doc != nil {
		if cut, ok := j.decideDocument(x, full); ok {
			return cut
		}
	}
	if len(x) >= joinWindow {
		at := j.replayedFrom(x)
		if at > j.start && at != j.notFrom {
			return j.align(x, at, callbacks.ConfidenceHigh)
		}
		doubt = doubt || at > j.start
	}
	if cut, ok := j.decideSpacedRestart(x, full); ok {
		return cut
	}
	o := j.findOverlap(x, final)
	if o.n == 0 && (full || !o.open) {
		o = o.or(j.findAnchor(x, full))
	}
	o.doubt = o.doubt || doubt

	return j.meet(x, o, full)
}

// meet joins x, which repeats of the text what o says.
func (j *joiner) meet(x string, o overlap, full bool) int {
	space := commonPrefix(x, j.trimmed)
	switch {
	case o.anchor:
		return j.settle(callbacks.JoinOverlap, o.n, o.confidence)
	case o.n > 0 && (space == 0 || weight(x[:o.n]) >= joinOverlap):
		return j.settleInDocument(x, j.overlapKind(o.n), o.n+commonPrefix(x[o.n:], j.trimmed), o.confidence)
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
	case space == 0 && j.trimmed != "" && j.text != "":
		return j.settleInDocument(x, callbacks.JoinPlain, 0, j.unspacedConfidence())
	case space == 0:
		return j.settleInDocument(x, callbacks.JoinPlain, 0, callbacks.ConfidenceHigh)
	case doubt || j.beginsAnew(x):
		return j.settleInDocument(x, callbacks.JoinSpace, space, callbacks.ConfidenceLow)
	default:
		return j.settleInDocument(x, callbacks.JoinSpace, space, j.spaceConfidence(x))
	}
}

// decideRestart looks whether x is the answer begun anew; if not, it is joined as it is.
func (j *joiner) decideRestart(x string, o overlap, full bool) int {
	at := j.origin(x)
	again := j.commonStart(x, at)
	if j.isRestart(x[:again]) && !j.extends(x, at, again) && (full || !o.anchorOpen && !j.awaitsAnchor(x)) {
		switch {
		case again < len(x) && again < j.prefix.TextLen()-at:
			return j.reject()
		case full || len(j.text) > joinPeriod:
			return j.align(x, at, callbacks.ConfidenceHigh)
		}
	}
	switch {
	case !o.open && again < len(x):
		return j.settleInDocument(x, callbacks.JoinPlain, 0, j.plainConfidence(x, o.doubt))
	case full:
		return j.settle(callbacks.JoinUndecided, 0, callbacks.ConfidenceLow)
	default:
		return 0
	}
}

func (j *joiner) overlapKind(n int) callbacks.JoinKind {
	if j.start == 0 && j.isStart(n) {
		return callbacks.JoinRestart
	}

	return callbacks.JoinOverlap
}
