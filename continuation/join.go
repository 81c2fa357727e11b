package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/eino-carryon/carryon/callbacks"
)

// Limits of a join.
const (
	joinWindow  = 512 // bytes of a continuation held back at most, and of the text before it that it is compared with
	joinContext = 4096
	joinOverlap = 12 // bytes that a repetition must have to be no accident
	joinWord    = 3  // letters that a repeated beginning of a word must have
	joinRestart = 16 // bytes after which equality with the start of the text counts as a restart
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
	if j.state != joinHolding || len(j.held) == 0 {
		return 0
	}

	return j.settle(callbacks.JoinUndecided, 0, callbacks.ConfidenceLow)
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
	switch {
	case n > 0:
		return j.settle(j.overlapKind(n), n+commonPrefix(x[n:], j.trimmed), certain)
	case j.isRestart(x):
		j.state, j.kind, j.confidence = joinSwallowing, callbacks.JoinRestart, callbacks.ConfidenceHigh
		j.overlap = 0

		return j.swallow(x)
	case (open || j.mayRestart(x)) && !final && len(x) < joinWindow:
		return 0
	case (open || j.mayRestart(x)) && !final:
		return j.settle(callbacks.JoinUndecided, 0, callbacks.ConfidenceLow)
	default:
		return j.settle(callbacks.JoinPlain, 0, j.plainConfidence(x))
	}
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
		switch {
		case len(s) > len(x):
			open = open || strings.HasPrefix(s, x)
		case strings.HasPrefix(x, s) && n == 0:
			rest := x[len(s):]
			if rest == "" && !final {
				open = true // what follows tells a repetition from a coincidence
			} else if conf, ok := j.repeats(s, rest); ok {
				n, c = len(s), conf
			}
		}
	}
	if open && !final && n > 0 && n < joinOverlap {
		return 0, "", true
	}

	return n, c, open
}

// repeats reports whether s, with which the text ends and the continuation begins, is a repetition: it must have stood
// once, for what stands more often ("ha ha", equal rows, closing braces) repeats by design.
func (j *joiner) repeats(s, rest string) (callbacks.Confidence, bool) {
	if !utf8.RuneStart(s[0]) || strings.Index(j.text, s) != len(j.text)-len(s) || periodic(s) {
		return "", false
	}
	letters := countLetters(s)
	switch {
	case len(s) >= joinOverlap && letters > 0:
		return callbacks.ConfidenceHigh, true
	case letters < joinWord || strings.HasPrefix(rest, s):
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

// isRestart reports whether x is long enough, and repeats the start of the text closely enough, to be the answer begun
// anew. A start that stands again inside the text proves nothing.
func (j *joiner) isRestart(x string) bool {
	return len(x) >= joinRestart && j.mayRestart(x)
}

func (j *joiner) mayRestart(x string) bool {
	n := min(len(x), j.prefix.TextLen())
	if !j.prefix.HasTextAt(0, x[:n]) {
		return false
	}
	key := x[:min(n, joinRestart)]

	return !strings.Contains(j.text[min(len(j.text), j.afterStart()):], key) && countLetters(key) > 0 && !periodic(key)
}

// afterStart is where in the text a second occurrence of the answer's start would begin.
func (j *joiner) afterStart() int {
	if j.whole {
		return 1
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
// the beginning of something else.
func (j *joiner) plainConfidence(x string) callbacks.Confidence {
	before, _ := utf8.DecodeLastRuneInString(j.text)
	after, _ := utf8.DecodeRuneInString(x)
	switch {
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

// periodic reports whether s is one piece said at least twice over.
func periodic(s string) bool {
	for p := 1; 2*p <= len(s)+1; p++ {
		if s[p:] == s[:len(s)-p] {
			return true
		}
	}

	return false
}
