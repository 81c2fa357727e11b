package main

import (
	"errors"
	"fmt"
	"io"
)

// errIncomplete says that not every answer arrived whole.
var errIncomplete = errors.New("not every answer arrived whole")

// report is what is told at the end.
type report struct {
	palette  palette
	turns    []turn
	unbroken []turn // the same conversation without a break; nil with a real provider
	plain    bool
}

func (r report) write(out io.Writer) {
	t := r.table()
	lines := t.lines()
	fmt.Fprintln(out)
	for i, line := range lines {
		switch {
		case i < 2:
			line = r.palette.faint(line)
		case i == len(lines)-1:
			line = r.palette.title(line)
		}
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	for _, line := range r.summary() {
		fmt.Fprintln(out, line)
	}
}

// err is nil if every answer arrived whole.
func (r report) err() error {
	if r.whole() < len(r.turns) {
		return errIncomplete
	}

	return nil
}

// ending says how a turn ended.
func (r report) ending(i int) string {
	switch t := r.turns[i]; {
	case t.err != nil:
		return lastCause(t.err.Error())
	case r.isWhole(i):
		return "whole"
	default:
		return errCutOff.Error()
	}
}

func (r report) isWhole(i int) bool { return r.turns[i].isWhole(r.unbroken) }

func (r report) whole() int {
	n := 0
	for i := range r.turns {
		if r.isWhole(i) {
			n++
		}
	}

	return n
}
