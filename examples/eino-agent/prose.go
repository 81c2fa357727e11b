package main

import (
	"io"
	"strings"
	"unicode/utf8"
)

const (
	indent    = "       "
	lineWidth = 92 // columns, indent included
)

// prose writes text that comes in pieces as indented lines, broken between words. A word is written when it has come
// whole, or when the line is ended.
type prose struct {
	out    io.Writer
	paint  paint
	column int // of the line under way; 0 if it has not begun
	space  bool
	word   strings.Builder
}

func (p *prose) write(paint paint, text string) {
	if text == "" {
		return
	}
	p.paint = paint
	for _, r := range text {
		switch r {
		case ' ', '\t':
			p.endWord()
			p.space = p.column > 0
		case '\n':
			p.endLine()
		default:
			p.word.WriteRune(r)
		}
	}
}

func (p *prose) endWord() {
	word := p.word.String()
	if word == "" {
		return
	}
	p.word.Reset()
	width := utf8.RuneCountInString(word)
	if p.column > 0 && p.column+1+width > lineWidth {
		p.newline()
	}
	before := ""
	switch {
	case p.column == 0:
		before = indent
	case p.space:
		before = " "
	}
	p.column += len(before) + width
	p.space = false
	_, _ = io.WriteString(p.out, before+p.paint(word))
}

// endLine ends the line, if one has begun.
func (p *prose) endLine() {
	p.endWord()
	if p.column > 0 {
		p.newline()
	}
}

func (p *prose) newline() {
	p.column, p.space = 0, false
	_, _ = io.WriteString(p.out, "\n")
}
