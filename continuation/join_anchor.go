package continuation

import (
	"strings"

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

// findLineAnchor looks for whole lines that have a place of their own in the text: the head of the table that it stops
// in, its last heading, an item of the list that it stops in.
func (j *joiner) findLineAnchor(x string, full bool) overlap {
	line, _, ended := strings.Cut(x, "\n")
	if !ended && !full {
		return overlap{open: j.beginsAnchor(line)}
	}
	found, count := -1, 0
	for i, s := range j.lines {
		if s == line {
			found = i
			count++
		}
	}
	switch {
	case count == 0:
		return overlap{}
	case count > 1 || !j.isAnchor(found):
		return overlap{doubt: weight(line) >= joinOverlap}
	default:
		return j.readLines(x, found, full)
	}
}

// beginsAnchor reports whether a line that begins with s is an anchor.
func (j *joiner) beginsAnchor(s string) bool {
	for i, line := range j.lines {
		if strings.HasPrefix(line, s) && j.isAnchor(i) {
			return true
		}
	}

	return false
}

// isTop reports whether line i is where the answer begins.
func (j *joiner) isTop(i int) bool {
	return i == 0 && (j.textAt == 0 || j.table.whole() && j.table.at == 0)
}

// isAnchor reports whether a line like line i is out of place where the text stops.
func (j *joiner) isAnchor(i int) bool {
	line, after := j.lines[i], j.lines[i+1:]
	kind := kindOfLine(line)
	if kind == lineTable {
		return j.isHead(i)
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

// readLines reads off x the lines that follow line first of the text, and decides how x goes on behind them.
func (j *joiner) readLines(x string, first int, full bool) overlap {
	least, c := 1, callbacks.ConfidenceMedium
	if isRuler(j.lines[first+1]) {
		least, c = 2, callbacks.ConfidenceHigh
	}
	end, count := 0, 0
	for i := first; i < len(j.lines)-1; i++ {
		line, _, ended := strings.Cut(x[min(len(x), end+min(count, 1)):], "\n")
		if !ended && strings.HasPrefix(j.lines[i], line) || first < j.gap && i == j.gap {
			return overlap{open: !full, doubt: full}
		}
		if line != j.lines[i] {
			break
		}
		end += min(count, 1) + len(line)
		if count++; count > least {
			c = callbacks.ConfidenceMedium
		}
		if count > least && j.isTop(first) {
			return overlap{} // the answer begun anew
		}
	}
	if count < least {
		return overlap{}
	}

	return j.joinLines(x, end, c, first, full)
}

// joinLines decides how much to cut of x, whose first end bytes are lines of the text. What follows may repeat the line
// that the text stops in.
func (j *joiner) joinLines(x string, end int, c callbacks.Confidence, first int, full bool) overlap {
	if len(x)-end < 2 && !full {
		return overlap{open: true}
	}
	next := strings.TrimPrefix(x[end:], "\n")
	last, kind := j.lines[len(j.lines)-1], kindOfLine(j.lines[first])
	if kind == lineTable && next != "" && next[0] != '|' {
		c = callbacks.ConfidenceLow
	}
	if hasLineBreak(j.trimmed) {
		return joinWholeLines(x, next, last, c, full)
	}
	switch {
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

// joinWholeLines does so behind a line that has ended. Next is what of x follows the lines; last is the text's last line.
func joinWholeLines(x, next, last string, c callbacks.Confidence, full bool) overlap {
	rest, again := strings.CutPrefix(next, last)
	within := strings.HasPrefix(last, next)
	switch {
	case !full && (within || again && rest == ""):
		return overlap{open: true}
	case again && (rest == "" || rest[0] == '\n'):
		return overlap{n: len(x) - len(strings.TrimPrefix(rest, "\n")), confidence: callbacks.ConfidenceMedium}
	case within && next != "":
		return overlap{n: len(x) - len(next), confidence: callbacks.ConfidenceLow}
	default:
		return overlap{n: len(x) - len(next), confidence: c}
	}
}
