package continuation

import (
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
)

// or returns o with what a piece from inside the text has shown.
func (o overlap) or(a overlap) overlap {
	if o.n > 0 {
		return o
	}
	o.n, o.confidence, o.anchor = a.n, a.confidence, a.n > 0
	o.open, o.anchorOpen = o.open || a.open, a.open
	o.doubt = o.doubt || a.doubt

	return o
}

// findAnchor looks whether x begins with a whole piece from inside the text and goes on with something else: a model that
// looks for its place in the text begins so. Only a piece that cannot stand where the text stops is told from one that
// comes again by design. So nothing is told in a code block or in JSON, nor of x that begins with white space, as the
// rest of a text does and a piece of it does not.
func (j *joiner) findAnchor(x string, full bool) overlap {
	if j.doc != nil || j.fence.is() || startsWithSpace(x) {
		return overlap{}
	}
	o := j.findLineAnchor(x, full)
	if o.n > 0 || o.open {
		return o
	}

	return o.or(j.findSentenceAnchor(x, full))
}

// lineKind is what a line is in Markdown.
type lineKind int

const (
	lineOther lineKind = iota
	lineBlank
	lineIndented
	lineTable
	lineHeading
	lineBullet
	lineNumber
)

func kindOfLine(s string) lineKind {
	switch {
	case strings.TrimSpace(s) == "":
		return lineBlank
	case startsWithSpace(s):
		return lineIndented
	case s[0] == '|':
		return lineTable
	case strings.HasPrefix(strings.TrimLeft(s, "#"), " ") && s[0] == '#':
		return lineHeading
	case len(s) > 2 && strings.IndexByte("-*+", s[0]) >= 0 && s[1] == ' ':
		return lineBullet
	}
	rest := strings.TrimLeftFunc(s, unicode.IsDigit)
	if len(rest) < len(s) && len(rest) > 2 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' ' {
		return lineNumber
	}

	return lineOther
}

// isRuler reports whether s is the line below a table's head.
func isRuler(s string) bool {
	return strings.HasPrefix(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|-: \t") == ""
}

// findLineAnchor looks for whole lines that have a place of their own in the text: the head of the table that it stops
// in, its last heading, an item of the list that it stops in.
func (j *joiner) findLineAnchor(x string, full bool) overlap {
	lines := strings.Split(j.text, "\n")
	line, _, ended := strings.Cut(x, "\n")
	if !ended && !full {
		return overlap{open: j.beginsAnchor(lines, line)}
	}
	found, count := -1, 0
	for i := j.firstLine(); i < len(lines); i++ {
		if lines[i] == line {
			found = i
			count++
		}
	}
	switch {
	case count == 0:
		return overlap{}
	case count > 1 || !j.isAnchor(lines, found):
		return overlap{doubt: weight(line) >= joinOverlap}
	default:
		return j.readLines(x, lines, found, full)
	}
}

// firstLine returns which line of the kept text is the first whole one.
func (j *joiner) firstLine() int { return min(j.textAt, 1) }

// beginsAnchor reports whether a line that begins with s is an anchor.
func (j *joiner) beginsAnchor(lines []string, s string) bool {
	for i := j.firstLine(); i < len(lines); i++ {
		if strings.HasPrefix(lines[i], s) && j.isAnchor(lines, i) {
			return true
		}
	}

	return false
}

// isTop reports whether line i is where the answer begins.
func (j *joiner) isTop(i int) bool { return j.textAt+i == 0 }

// isAnchor reports whether a line like line i is out of place where the text stops.
func (j *joiner) isAnchor(lines []string, i int) bool {
	line, after := lines[i], lines[i+1:]
	kind := kindOfLine(line)
	if kind == lineTable {
		return j.isHead(lines, i)
	}
	if len(after) == 0 || j.isTop(i) || weight(line) < joinOverlap {
		return false
	}
	switch kind {
	case lineHeading:
		return !hasLine(after, lineHeading)
	case lineBullet:
		return !hasLineBreak(j.trimmed) && onlyLines(after, lineBullet, lineIndented, lineBlank)
	case lineNumber:
		return onlyLines(after, lineNumber, lineBullet, lineIndented, lineBlank)
	default:
		return false
	}
}

// isHead reports whether line i is the head of the table that the text stops in.
func (j *joiner) isHead(lines []string, i int) bool {
	after := lines[i+1:]
	switch {
	case strings.Count(j.trimmed, "\n") > 1: // the table has ended
		return false
	case len(after) == 0, countLetters(lines[i]) == 0, i > 0 && kindOfLine(lines[i-1]) == lineTable:
		return false
	default:
		return (isRuler(after[0]) || weight(lines[i]) >= joinOverlap) && onlyLines(after, lineTable)
	}
}

func onlyLines(lines []string, kinds ...lineKind) bool {
	for _, s := range lines {
		ok := false
		for _, k := range kinds {
			ok = ok || kindOfLine(s) == k
		}
		if !ok {
			return false
		}
	}

	return true
}

func hasLine(lines []string, kind lineKind) bool {
	for _, s := range lines {
		if kindOfLine(s) == kind {
			return true
		}
	}

	return false
}

// readLines reads off x the lines that follow line first of the text, and decides how x goes on behind them.
func (j *joiner) readLines(x string, lines []string, first int, full bool) overlap {
	end, count := 0, 0
	for i := first; i < len(lines)-1; i++ {
		line, _, ended := strings.Cut(x[min(len(x), end+min(count, 1)):], "\n")
		if !ended && strings.HasPrefix(lines[i], line) {
			return overlap{open: !full, doubt: full}
		}
		if line != lines[i] {
			break
		}
		end += min(count, 1) + len(line)
		count++
	}
	least, c := 1, callbacks.ConfidenceMedium
	if isRuler(lines[first+1]) {
		least = 2
		if count == least {
			c = callbacks.ConfidenceHigh
		}
	}
	if count < least || j.isTop(first) && count > least {
		return overlap{}
	}

	return j.joinLines(x, end, c, lines, first, full)
}

// joinLines decides how much to cut of x, whose first end bytes are lines of the text. What follows may repeat the line
// that the text stops in.
func (j *joiner) joinLines(x string, end int, c callbacks.Confidence, lines []string, first int, full bool) overlap {
	if len(x)-end < 2 && !full {
		return overlap{open: true}
	}
	next := strings.TrimPrefix(x[end:], "\n")
	last, kind := lines[len(lines)-1], kindOfLine(lines[first])
	switch {
	case hasLineBreak(j.trimmed):
		return overlap{n: len(x) - len(next), confidence: c}
	case strings.HasPrefix(next, last):
		return overlap{n: len(x) - len(next) + len(last), confidence: c}
	case !full && strings.HasPrefix(last, next):
		return overlap{open: true}
	case kind == lineTable && !strings.HasSuffix(last, "|"):
		return overlap{n: end, confidence: callbacks.ConfidenceLow}
	case kind == lineHeading && isClause(j.text):
		next = strings.TrimLeft(next, "\n")

		return overlap{n: len(x) - len(next), confidence: callbacks.ConfidenceLow}
	default:
		return overlap{n: end, confidence: c}
	}
}
