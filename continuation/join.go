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

func (j *joiner) settle(k callbacks.JoinKind, overlap int, c callbacks.Confidence) int {
	j.state, j.kind, j.overlap, j.confidence = joinDone, k, overlap, c

	return overlap
}

// decide looks for the ways in which x can repeat the text, the surest first. A way that more bytes could still open
// keeps x held, unless this is all there is.
func (j *joiner) decide(x string, final bool) int {
	if x == "" {
		return 0
	}
	if j.trimmed != "" {
		if n := commonPrefix(x, j.trimmed); n == len(x) && n < len(j.trimmed) && !final {
			return 0
		} else if n > 0 {
			return j.settle(callbacks.JoinSpace, n, callbacks.ConfidenceHigh)
		}
	}
	if j.exact || j.text == "" {
		return j.settle(callbacks.JoinPlain, 0, callbacks.ConfidenceHigh)
	}

	n, certain, open := j.findOverlap(x, final)
	again := j.commonStart(x)
	restart := j.isRestart(x[:again])
	switch {
	case n > 0:
		return j.settle(j.overlapKind(n), n+commonPrefix(x[n:], j.trimmed), certain)
	case restart && again < len(x) && again < j.prefix.TextLen():
		j.state = joinRejected

		return 0
	case restart && (final || len(x) >= joinWindow || len(j.text) > joinPeriod):
		j.state, j.kind, j.confidence = joinSwallowing, callbacks.JoinRestart, callbacks.ConfidenceHigh

		return j.swallow(x)
	case !open && again < len(x):
		return j.settle(callbacks.JoinPlain, 0, j.plainConfidence(x, again == j.prefix.TextLen()))
	case final || len(x) >= joinWindow:
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

// findOverlap returns the length of the longest beginning of x that repeats the end of the text and is no accident.
// Open says that a longer x could turn out to be one.
func (j *joiner) findOverlap(x string, final bool) (n int, c callbacks.Confidence, open bool) {
	tail := j.text[max(0, len(j.text)-joinWindow):]
	for i := range len(tail) {
		s := tail[i:]
		if len(s) > len(x) {
			open = open || strings.HasPrefix(s, x)

			continue
		}
		rest, ok := strings.CutPrefix(x, s)
		if !ok {
			continue
		}
		conf, ok := j.repeats(s, rest)
		switch {
		case rest == "" && !final:
			open = true
		case !ok:
		case !final && (strings.HasPrefix(s, rest) || strings.HasPrefix(j.trimmed, rest)):
			open = true // what follows tells a repetition from a text that goes round
		case n == 0:
			n, c = len(s), conf
		}
	}
	if open && !final {
		n = 0
	}

	return n, c, open
}

// repeats reports whether s, with which the text ends and the continuation begins, is a repetition: it must have stood
// once, for what stands more often ("ha ha", equal rows, closing braces) repeats by design. So does a text in which what
// stands before s ends as s does: it goes round with the length of s.
func (j *joiner) repeats(s, rest string) (callbacks.Confidence, bool) {
	before := j.text[:len(j.text)-len(s)]
	if !utf8.RuneStart(s[0]) || strings.Contains(j.text[:len(j.text)-1], s) || periodic(s) {
		return "", false
	}
	if n := commonSuffix(before, s); n > 1 || n > 0 && n == len(before) {
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

// isPartWord reports whether s is the whole of the text's last word, and rest goes on with that word.
func isPartWord(text, s, rest string) bool {
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(s)])
	after, _ := utf8.DecodeRuneInString(rest)

	return !isWord(before) && unicode.IsLetter(after)
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
// the beginning of something else; again says that x begins with all of a text too short to tell.
func (j *joiner) plainConfidence(x string, again bool) callbacks.Confidence {
	before, _ := utf8.DecodeLastRuneInString(j.text)
	after, _ := utf8.DecodeRuneInString(x)
	switch {
	case again:
		return callbacks.ConfidenceLow
	case j.trimmed != "" || !isWord(before) || !isWord(after):
		return callbacks.ConfidenceHigh
	case unicode.IsUpper(after) && !unicode.IsUpper(before):
		return callbacks.ConfidenceLow
	default:
		return callbacks.ConfidenceMedium
	}
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
