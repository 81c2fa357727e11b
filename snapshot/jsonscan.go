package snapshot

import "bytes"

// JSONScanner reads one JSON value as it comes, in pieces of any size, and knows at each byte whether what came is the
// beginning of a value, a whole one, or neither. It follows RFC 8259, builds nothing and never looks back: the cost is
// linear in the bytes, and the memory in the depth, which has no limit. Strings are read as bytes; UTF-8 is not checked.
// The zero value is ready. It is not safe for concurrent use.
type JSONScanner struct {
	state scanState
	key   bool   // the string being read is a key
	stack []byte // the containers that are open: '{' and '['
	rest  string // what must follow of the literal being read
}

// JSONState is what a [JSONScanner] knows of the bytes that it has read.
type JSONState uint8

// The states of a value.
const (
	JSONEmpty  JSONState = iota // white space at most
	JSONOpen                    // the beginning of a value, to which something is missing
	JSONWhole                   // a value; of a number, more may follow
	JSONBroken                  // neither: nothing that follows can make it a value
)

func (s JSONState) String() string {
	switch s {
	case JSONEmpty:
		return "empty"
	case JSONOpen:
		return "open"
	case JSONWhole:
		return "whole"
	default:
		return "broken"
	}
}

// Write reads p, which continues what was read before, up to the end of the value, and returns how many bytes of p belong
// to it; white space in front of it does. It reads nothing behind a whole or a broken value. The byte that breaks one does
// not belong to it.
func (s *JSONScanner) Write(p string) int {
	for i := 0; i < len(p); i++ {
		switch s.state {
		case scanEnd, scanBad:
			return i
		case scanString:
			i = s.skipString(p, i)
		default:
			s.state = s.next(p[i])
		}
		switch s.state {
		case scanPast:
			s.state = scanEnd

			return i
		case scanBad:
			return i
		default:
		}
	}

	return len(p)
}

// State tells what the bytes are that were read so far.
func (s *JSONScanner) State() JSONState {
	switch s.state {
	case scanStart:
		return JSONEmpty
	case scanEnd:
		return JSONWhole
	case scanBad:
		return JSONBroken
	case scanZero, scanInt, scanFraction, scanExponent:
		if len(s.stack) == 0 {
			return JSONWhole
		}
	default:
	}

	return JSONOpen
}

// Depth returns how many objects and arrays are open.
func (s *JSONScanner) Depth() int { return len(s.stack) }

// InArray reports whether the innermost container that is open is an array.
func (s *JSONScanner) InArray() bool { return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '[' }

// InString reports whether the bytes stop inside a string, which may be a key.
func (s *JSONScanner) InString() bool { return s.state >= scanString && s.state <= scanHex1 }

// Clone returns a scanner that has read the same and goes on by itself. It costs a copy of what is open.
func (s *JSONScanner) Clone() *JSONScanner {
	c := *s
	c.stack = bytes.Clone(s.stack)

	return &c
}
