package faultllm

import (
	"fmt"
	"slices"
)

// Position is a place in the stream of one response. Pieces and bytes are counted in that response alone, not over the
// responses that it continues. The zero value is [AtStart]. A fault whose position the answer never reaches does not
// happen, and its record says so.
type Position struct {
	kind positionKind
	call int
	n    int
}

type positionKind int

const (
	posStart positionKind = iota
	posHeaders
	posFrames
	posReasoning
	posText
	posTextBytes
	posCallBytes
	posCallEnd
	posFinished
	posBytes
)

// BeforeHeaders is before any byte of the response. A fault that needs a body happens at [AtStart] instead.
func BeforeHeaders() Position { return Position{kind: posHeaders} }

// AtStart is behind the headers (status 200) and before the first frame.
func AtStart() Position { return Position{} }

// AfterFrames is behind n frames, the first frame of the wire being the first: with chat completions the role.
func AfterFrames(n int) Position { return Position{kind: posFrames, n: n} }

// InReasoning is behind n pieces of reasoning; 0 is before the first piece.
func InReasoning(n int) Position { return Position{kind: posReasoning, n: n} }

// InText is behind n pieces of text; 0 is before the first piece.
func InText(n int) Position { return Position{kind: posText, n: n} }

// InTextBytes is behind n bytes of text, cutting a piece if need be, moved back to the start of a rune.
func InTextBytes(n int) Position { return Position{kind: posTextBytes, n: n} }

// InTool is inside tool call i (from 0) behind n bytes of its arguments, as [InTextBytes]; with n = 0 only the id and
// the name of the call have been sent. On wires on which a call comes in one piece (Gemini, Ollama) it is before the
// call.
func InTool(i, n int) Position { return Position{kind: posCallBytes, call: i, n: n} }

// AfterTool is behind the last byte of tool call i (from 0).
func AfterTool(i int) Position { return Position{kind: posCallEnd, call: i} }

// Finished is behind the frame with the finish reason.
func Finished() Position { return Position{kind: posFinished} }

// AtByte is behind n bytes of the body. Inside a frame the faults that need a frame of their own (errors in the stream,
// keep-alives, comments) come behind it, and the ways to cut or break a line are all the same.
func AtByte(n int) Position { return Position{kind: posBytes, n: n} }

// String returns the expression that makes the position.
func (p Position) String() string {
	switch p.kind {
	case posStart:
		return "AtStart()"
	case posHeaders:
		return "BeforeHeaders()"
	case posFrames:
		return fmt.Sprintf("AfterFrames(%d)", p.n)
	case posReasoning:
		return fmt.Sprintf("InReasoning(%d)", p.n)
	case posText:
		return fmt.Sprintf("InText(%d)", p.n)
	case posTextBytes:
		return fmt.Sprintf("InTextBytes(%d)", p.n)
	case posCallBytes:
		return fmt.Sprintf("InTool(%d, %d)", p.call, p.n)
	case posCallEnd:
		return fmt.Sprintf("AfterTool(%d)", p.call)
	case posFinished:
		return "Finished()"
	case posBytes:
		return fmt.Sprintf("AtByte(%d)", p.n)
	}
	return fmt.Sprintf("Position(%d)", p.kind)
}

// place cuts the events at p. It reports false, with all events in head, if they never get there.
func (p Position) place(events []event) (head, tail []event, ok bool) {
	switch p.kind {
	case posStart, posHeaders:
		return nil, events, true
	case posFrames:
		return cutAt(events, p.n)
	case posReasoning:
		return cutPieces(events, p.n, func(e event) bool { return e.kind == eventReasoning })
	case posText:
		return cutPieces(events, p.n, func(e event) bool { return e.kind == eventText })
	case posTextBytes:
		return cutBytes(events, p.n, func(e event) bool { return e.kind == eventText })
	case posCallBytes:
		return p.placeInCall(events)
	case posCallEnd:
		return p.placeAfterCall(events)
	case posFinished:
		i := slices.IndexFunc(events, func(e event) bool { return e.kind == eventFinish })
		return cutAt(events, i+1)
	case posBytes: // the frames say where it is.
	}
	return events, nil, false
}

func (p Position) placeInCall(events []event) (head, tail []event, ok bool) {
	i := slices.IndexFunc(events, func(e event) bool { return e.kind == eventCall && e.call == p.call })
	switch {
	case i < 0:
		return events, nil, false
	case events[i].text != "": // the call is whole.
		if p.n > len(events[i].text) {
			return events, nil, false
		}
		return cutAt(events, i)
	case p.n > 0:
		return cutBytes(events, p.n, func(e event) bool { return e.kind == eventArgs && e.call == p.call })
	}
	return cutAt(events, i+1)
}

func (p Position) placeAfterCall(events []event) (head, tail []event, ok bool) {
	end := 0
	for i, e := range events {
		if (e.kind == eventCall || e.kind == eventArgs) && e.call == p.call {
			end = i + 1
		}
	}
	if end == 0 {
		return events, nil, false
	}
	return cutAt(events, end)
}

func cutAt(events []event, i int) (head, tail []event, ok bool) {
	if i < 0 || i > len(events) {
		return events, nil, false
	}
	return events[:i], events[i:], true
}

// cutPieces cuts behind the n-th event of a kind.
func cutPieces(events []event, n int, is func(event) bool) (head, tail []event, ok bool) {
	seen := 0
	for i, e := range events {
		if !is(e) {
			continue
		}
		if n == 0 {
			return cutAt(events, i)
		}
		if seen++; seen == n {
			return cutAt(events, i+1)
		}
	}
	return events, nil, false
}

// cutBytes cuts behind n bytes of the events of a kind, and through one of them if need be.
func cutBytes(events []event, n int, is func(event) bool) (head, tail []event, ok bool) {
	if n <= 0 {
		return cutPieces(events, 0, is)
	}
	for i, e := range events {
		if !is(e) {
			continue
		}
		if n > len(e.text) {
			n -= len(e.text)
			continue
		}
		n = runeStart(e.text, n)
		if n == 0 {
			return cutAt(events, i)
		}
		if n == len(e.text) {
			return cutAt(events, i+1)
		}
		first, second := e.split(n)
		return append(slices.Clone(events[:i]), first), append([]event{second}, events[i+1:]...), true
	}
	return events, nil, false
}
