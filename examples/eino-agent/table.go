package main

import (
	"strings"
	"unicode/utf8"
)

// table is text in columns.
type table struct {
	columns []column
	rows    [][]string
}

// column is one column's heading; columns with the same group in a row share a heading above their own.
type column struct {
	group string
	title string
	left  bool // aligned to the left, not to the right
}

const gap = "  "

// add appends a row. A cell of several lines makes as many rows of it.
func (t *table) add(cells ...string) {
	for more := true; more; {
		row := make([]string, len(cells))
		more = false
		for i, cell := range cells {
			first, rest, cut := strings.Cut(cell, "\n")
			row[i], cells[i] = first, rest
			more = more || cut
		}
		t.rows = append(t.rows, row)
	}
}

// lines returns the two lines of headings and the rows.
func (t table) lines() []string {
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	widths := t.widths(titles)
	lines := []string{t.groups(widths), t.row(titles, widths)}
	for _, row := range t.rows {
		lines = append(lines, t.row(row, widths))
	}

	return lines
}

// widths returns how wide the columns are. Under a wide heading of a group, its last column is.
func (t table) widths(titles []string) []int {
	widths := make([]int, len(t.columns))
	for _, row := range append([][]string{titles}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, g := range t.groupList() {
		width := g.width(widths)
		widths[g.to-1] += max(0, utf8.RuneCountInString(g.title)-width)
	}

	return widths
}

func (t table) row(cells []string, widths []int) string {
	aligned := make([]string, len(cells))
	for i, cell := range cells {
		space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if t.columns[i].left {
			aligned[i] = cell + space
		} else {
			aligned[i] = space + cell
		}
	}

	return strings.TrimRight(strings.Join(aligned, gap), " ")
}

// groups returns the headings of groups, each in the middle of a rule above its columns.
func (t table) groups(widths []int) string {
	var headings []string
	for _, g := range t.groupList() {
		width := g.width(widths)
		rule := width - utf8.RuneCountInString(g.title) - 2
		heading := g.title + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(g.title)))
		if g.title != "" && rule > 0 {
			heading = strings.Repeat("─", rule/2) + " " + g.title + " " + strings.Repeat("─", rule-rule/2)
		}
		headings = append(headings, heading)
	}

	return strings.TrimRight(strings.Join(headings, gap), " ")
}

// group is a run of columns under one heading.
type group struct {
	title    string
	from, to int
}

func (g group) width(widths []int) int {
	n := len(gap) * (g.to - g.from - 1)
	for _, w := range widths[g.from:g.to] {
		n += w
	}

	return n
}

func (t table) groupList() []group {
	var groups []group
	for i, c := range t.columns {
		if n := len(groups); n > 0 && c.group != "" && groups[n-1].title == c.group {
			groups[n-1].to = i + 1
		} else {
			groups = append(groups, group{title: c.group, from: i, to: i + 1})
		}
	}

	return groups
}
