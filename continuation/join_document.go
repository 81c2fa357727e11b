package continuation

import (
	"strings"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// jsonSpace is what may stand between the parts of a JSON value.
const jsonSpace = " \t\r\n"

// joinDepth bounds how deep a JSON value may be nested that is looked after.
const joinDepth = 1000

// document is a JSON object or array that the text stops in.
type document struct {
	start int    // where it begins in the prefix
	text  string // what has come of it
	scan  *snapshot.JSONScanner
}

// openDocument returns the JSON value that text is in, from the byte at on; nil if that is none, or closed.
func openDocument(text string, at int) *document {
	body := strings.TrimLeft(text[at:], jsonSpace)
	if body == "" || body[0] != '{' && body[0] != '[' {
		return nil
	}
	scan := &snapshot.JSONScanner{}
	scan.Write(body)
	if scan.State() != snapshot.JSONOpen || scan.Depth() > joinDepth {
		return nil
	}

	return &document{start: len(text) - len(body), text: body, scan: scan}
}

// accepts reports whether x can follow.
func (d *document) accepts(x string) bool {
	s := d.scan.Clone()
	s.Write(x)

	return s.State() != snapshot.JSONBroken
}

// opensWith reports whether x may be the beginning of the same document.
func (d *document) opensWith(x string) bool {
	if x == "" || x[0] != d.text[0] {
		return false
	}
	s := &snapshot.JSONScanner{}
	s.Write(x)

	return s.State() != snapshot.JSONBroken
}

// tells reports whether there is enough of the document to know it again: an object's first key, or some of an array.
func (d *document) tells() bool {
	if d.text[0] == '{' {
		return strings.Contains(d.text, ":")
	}

	return weight(d.text) >= joinOverlap && countLetters(d.text) > 0
}

// decideDocument looks whether x opens anew the document that the text stops in. It reports false if x does not; if true,
// x is decided, or held.
func (j *joiner) decideDocument(x string, full bool) (int, bool) {
	y := strings.TrimLeft(x, jsonSpace)
	if y == "" && !full {
		return 0, true
	}
	if again, open := j.fencedAgain(y, full); again {
		return j.reject(), true
	} else if open {
		return 0, true
	}
	if !j.doc.opensWith(y) {
		return 0, false
	}

	return j.decideOpened(x, y, full)
}

// decideOpened tells the document that the text stops in from another one, and from a value inside it. Y is x without the
// white space in front.
func (j *joiner) decideOpened(x, y string, full bool) (int, bool) {
	lead := len(x) - len(y)
	same := commonPrefix(y, j.doc.text)
	nested := j.doc.accepts(x[commonPrefix(x, j.trimmed):]) // y may as well be a value inside the document
	switch {
	case same == len(j.doc.text) && j.doc.tells():
		c := callbacks.ConfidenceHigh
		if nested {
			c = callbacks.ConfidenceLow
		}

		return lead + j.align(y, j.doc.start, c), true
	case same == len(y):
		return j.holdDocument(y, lead, nested, full)
	case same == len(j.doc.text) && nested:
		return 0, false
	case same == len(j.doc.text):
		return j.decideFirstKey(y, lead, full)
	case !nested && (full || countLetters(y) >= joinWord):
		return j.reject(), true
	case !nested:
		return 0, true
	default:
		return j.decideNested(x, y, full)
	}
}

// decideFirstKey looks whether y, which begins with all of the document and cannot stand in it, is that begun anew: a key is
// said again, or follows. Without a key it may be a template's brace.
func (j *joiner) decideFirstKey(y string, lead int, full bool) (int, bool) {
	switch {
	case countLetters(j.doc.text) > 0 || strings.Contains(y, `":`):
		return lead + j.align(y, j.doc.start, callbacks.ConfidenceMedium), true
	case full:
		return j.reject(), true
	default:
		return 0, true
	}
}

// holdDocument waits for more of y, which is equal to the start of the document so far.
func (j *joiner) holdDocument(y string, lead int, nested, full bool) (int, bool) {
	switch {
	case !full:
		return 0, true
	case len(y) >= joinWindow && !periodic(y) || !nested:
		return lead + j.align(y, j.doc.start, callbacks.ConfidenceHigh), true
	default:
		return 0, false
	}
}

// decideNested tells a value inside the document from the document in other words: a value is followed by more. The
// answer ends behind a document.
func (j *joiner) decideNested(x, y string, full bool) (int, bool) {
	alone := &snapshot.JSONScanner{}
	rest := y[alone.Write(y):]
	space := commonPrefix(x, j.trimmed)
	c := callbacks.ConfidenceHigh
	if endsAsBegins(j.text, y) {
		c = callbacks.ConfidenceLow
	}
	switch {
	case !full && strings.Contains(j.text, y):
		return 0, true
	case alone.State() == snapshot.JSONWhole && strings.TrimSpace(rest) != "":
		return j.settle(spaceOrPlain(space), space, c), true
	case alone.State() == snapshot.JSONWhole && j.finished:
		return j.reject(), true
	case !full:
		return 0, true
	default:
		return j.settle(spaceOrPlain(space), space, callbacks.ConfidenceMedium), true
	}
}

func spaceOrPlain(space int) callbacks.JoinKind {
	if space > 0 {
		return callbacks.JoinSpace
	}

	return callbacks.JoinPlain
}

// settleInDocument settles, unless that would break the JSON value that the text stops in. Then a repetition, however
// short, is cut if it mends that.
func (j *joiner) settleInDocument(x string, k callbacks.JoinKind, n int, c callbacks.Confidence) int {
	switch {
	case j.doc == nil:
		return j.settle(k, n, c)
	case j.doc.accepts(x[n:]):
		inString := j.doc.scan.InString() && !strings.Contains(x[:n], `"`)
		if k != callbacks.JoinOverlap || inString {
			return j.settle(k, n, c)
		}
		if !j.doc.accepts(x) {
			return j.settle(k, n, callbacks.ConfidenceMedium)
		}
		if j.doc.scan.InArray() && x[0] != '{' && x[0] != '[' { // equal values may stand side by side
			return j.settle(callbacks.JoinPlain, 0, callbacks.ConfidenceLow)
		}

		return j.settle(k, n, callbacks.ConfidenceMedium)
	}
	for s := min(len(x)-1, len(j.text)); s > 0; s-- {
		if !strings.HasSuffix(j.text, x[:s]) {
			continue
		}
		if n := s + commonPrefix(x[s:], j.trimmed); n < len(x) && j.doc.accepts(x[n:]) {
			return j.settle(callbacks.JoinOverlap, n, callbacks.ConfidenceMedium)
		}
	}
	if k != callbacks.JoinSpace {
		n = 0
	}

	return j.settle(callbacks.JoinUndecided, n, callbacks.ConfidenceLow)
}
