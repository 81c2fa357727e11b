package continuation

import (
	"slices"
	"strings"
)

// table is the Markdown table that a text stops in, if its head is too far back to be kept with the text.
type table struct {
	at   int      // where its head begins in the text
	head []string // the head, the ruler below and the first row
}

func (t table) whole() bool { return len(t.head) == tableHead }

// tableHead is how many lines of a table are kept: its head, and the row that tells the head said again from the table.
const tableHead = 3

// openTable returns the table that text stops in if that begins before the byte at.
func openTable(text string, at int) table {
	begin := len(text)
	for end := len(text); end >= 0; {
		line := strings.LastIndexByte(text[:end], '\n') + 1
		if !strings.HasPrefix(text[line:], "|") {
			break
		}
		begin, end = line, line-1
	}
	if begin >= at {
		return table{}
	}
	head := strings.SplitN(text[begin:], "\n", tableHead+1)
	if len(head) <= tableHead {
		return table{}
	}

	return table{at: begin, head: head[:tableHead]}
}

// findLines splits the text into lines. The first one may be the end of a line, and is left out; the head of the table that
// the text stops in takes its place.
func (j *joiner) findLines() {
	j.lines = strings.Split(j.text, "\n")
	if j.textAt > 0 && len(j.lines) > 1 {
		j.lines = j.lines[1:]
	}
	if j.table.whole() {
		j.gap = len(j.table.head)
		j.lines = slices.Concat(j.table.head, j.lines)
	}
}

// isHead reports whether line i is the head of the table that the text stops in.
func (j *joiner) isHead(i int) bool {
	line, after := j.lines[i], j.lines[i+1:]
	switch {
	case strings.Count(j.trimmed, "\n") > 1: // the table has ended
		return false
	case len(after) == 0, countLetters(line) == 0, i > 0 && kindOfLine(j.lines[i-1]) == lineTable:
		return false
	default:
		return (isRuler(after[0]) || weight(line) >= joinOverlap) && onlyLines(after, lineTable)
	}
}
