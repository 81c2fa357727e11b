package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestProse(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a word, élan and ", 20) + "\nnew line\n\n" + strings.Repeat("long", 40)
	for size := 1; size < 9; size++ {
		var b bytes.Buffer
		p := prose{out: &b}
		for rest := []rune(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
			p.write(fmt.Sprint, string(rest[:min(size, len(rest))]))
		}
		p.endLine()
		equal(t, "words", strings.Join(strings.Fields(b.String()), " "), strings.Join(strings.Fields(text), " "))
		for line := range strings.Lines(b.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > lineWidth && strings.Contains(line, "word") {
				t.Errorf("%d columns: %q", n, line)
			}
			if !strings.HasPrefix(line, indent) || strings.HasSuffix(line, " \n") {
				t.Errorf("line %q", line)
			}
		}
	}
}

func TestColours(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := newScreen(&b, newPalette(true))
	s.chunk("hm", "")
	s.call("calculator", "{}")
	s.end()
	has(t, b.String(), "\x1b[2m", "\x1b[36m")

	b.Reset()
	s = newScreen(&b, newPalette(false))
	s.question(1, "why?")
	s.chunk("hm", "")
	s.chunk("", "so")
	s.call("calculator", "{}")
	s.result("7\n8\n9")
	equal(t, "drawn", b.String(),
		"\n1 you  why?\n\n       (thinking) hm\n       so\n       ▸ calculator {}\n       ◂ 7 … 2 lines\n")
}

func TestPipeHasNoColours(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	noError(t, err)
	defer func() { _ = r.Close() }()
	defer func() { _ = w.Close() }()
	if hasColours(w, func(string) string { return "" }) || hasColours(&bytes.Buffer{}, func(string) string { return "" }) {
		t.Error("colours without a terminal")
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tab := table{columns: []column{
		{title: "name", left: true}, {title: "n"}, {group: "a very wide group", title: "x"}, {group: "a very wide group", title: "y"},
	}}
	tab.add("é", "1\n2", "3", "4")
	tab.add("all", "10", "", "5")
	equal(t, "table", "\n"+strings.Join(tab.lines(), "\n"), `
          a very wide group
name   n  x               y
é      1  3               4
       2
all   10                  5`)
}
