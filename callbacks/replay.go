package callbacks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// MaxLine is the longest line, in bytes, that [Replay] reads as a record. Records of events are far shorter.
	MaxLine = 1 << 20
	// MaxBadLines is how many lines that cannot be read [Replay] names; it counts all of them.
	MaxBadLines = 20
)

// Replayed tells what a log held.
type Replayed struct {
	Events   int       // handed to the handler
	Others   int       // records of something else
	BadLines int       // that are no record, or hold a field that cannot be read
	Bad      []BadLine // the first of them, at most MaxBadLines
}

// BadLine is a line that could not be read.
type BadLine struct {
	Number int // from 1
	Err    error
}

// Replay reads a log, line by line as [slog.JSONHandler] writes it, and hands its events to h in their order. What is in
// the log besides is counted, and does not end it; empty lines are nothing. The error is that of r, or of ctx; what was
// read before it has been handed on. At most [MaxLine] bytes are held.
//
// A log holds what its level lets through: for the numbers of [Stats] it has to be INFO or lower. The msg and the fields
// must have the handler's own names: no group around them (WithGroup) and no others in their place (ReplaceAttr). Fields
// before them (With) are fine.
func Replay(ctx context.Context, r io.Reader, h Handler) (Replayed, error) {
	var done Replayed
	lines := bufio.NewReader(r)
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return done, err
		}
		line, long, err := readLine(lines)
		if long {
			done.bad(number, fmt.Errorf("callbacks: longer than %d bytes", MaxLine))
		} else if line = bytes.TrimSpace(line); len(line) > 0 {
			done.line(ctx, number, line, h)
		}
		switch {
		case err == io.EOF: //nolint:errorlint // the end of a reader is io.EOF itself
			return done, nil
		case err != nil:
			return done, err
		}
	}
}

func (d *Replayed) line(ctx context.Context, number int, line []byte, h Handler) {
	e, err := ParseRecord(line)
	switch {
	case errors.Is(err, ErrNotARecord):
		d.Others++
	case err != nil:
		d.bad(number, err)
	default:
		d.Events++
		h.Handle(ctx, e)
	}
}

func (d *Replayed) bad(number int, err error) {
	if d.BadLines++; len(d.Bad) < MaxBadLines {
		d.Bad = append(d.Bad, BadLine{Number: number, Err: err})
	}
}

// readLine returns the next line. Of one that is too long nothing is kept. The error comes with the last line.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}
