package continuation

import "bytes"

// jsonScan reads one JSON object or array byte by byte and knows whether what came is the beginning of one, a whole one, or
// neither. Of a number it only knows the bytes that one can have. The zero value is ready.
type jsonScan struct {
	state   jsonState
	stack   []byte // the containers that are open: '{' and '['
	key     bool   // the string being read is a key
	literal string // what must follow of the literal being read
	hex     int    // digits that must follow of the escape being read
}

type jsonState uint8

const (
	jsonStart      jsonState = iota // white space only
	jsonKeyOrEnd                    // behind '{'
	jsonKey                         // behind ',' in an object
	jsonColon                       // behind a key
	jsonValue                       // behind ':', and behind ',' in an array
	jsonValueOrEnd                  // behind '['
	jsonAfter                       // behind a value
	jsonNumber
	jsonString
	jsonEscape
	jsonHex
	jsonLiteral
	jsonClosed // whole: whatever follows is not part of it
	jsonBad
)

// clone returns a scan that goes on by itself.
func (s *jsonScan) clone() *jsonScan {
	c := *s
	c.stack = bytes.Clone(s.stack)

	return &c
}

// inArray reports whether what is open innermost is an array.
func (s *jsonScan) inArray() bool { return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '[' }

// write reads p up to the end of the value and returns how many bytes of it belong to that.
func (s *jsonScan) write(p string) int {
	for i := range len(p) {
		if s.state == jsonClosed || s.state == jsonBad {
			return i
		}
		s.state = s.next(p[i])
	}

	return len(p)
}

func (s *jsonScan) next(c byte) jsonState {
	switch s.state {
	case jsonString:
		return s.inString(c)
	case jsonEscape:
		return s.inEscape(c)
	case jsonHex:
		if s.hex--; !isHex(c) {
			return jsonBad
		} else if s.hex > 0 {
			return jsonHex
		}

		return jsonString
	case jsonLiteral:
		return s.inLiteral(c)
	case jsonNumber:
		if isNumberByte(c) {
			return jsonNumber
		}
		s.state = jsonAfter
	default:
	}
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return s.state
	}

	return s.structure(c)
}

// structure reads a byte that stands between values, or begins one.
func (s *jsonScan) structure(c byte) jsonState {
	switch s.state {
	case jsonStart:
		if c == '{' || c == '[' {
			return s.value(c)
		}
	case jsonKeyOrEnd, jsonKey:
		switch {
		case c == '"':
			s.key = true

			return jsonString
		case c == '}' && s.state == jsonKeyOrEnd:
			return s.pop()
		}
	case jsonColon:
		if c == ':' {
			return jsonValue
		}
	case jsonValueOrEnd:
		if c == ']' {
			return s.pop()
		}

		return s.value(c)
	case jsonValue:
		return s.value(c)
	case jsonAfter:
		return s.after(c)
	default:
	}

	return jsonBad
}

func (s *jsonScan) value(c byte) jsonState {
	switch {
	case c == '{':
		s.stack = append(s.stack, c)

		return jsonKeyOrEnd
	case c == '[':
		s.stack = append(s.stack, c)

		return jsonValueOrEnd
	case c == '"':
		s.key = false

		return jsonString
	case c == '-' || c >= '0' && c <= '9':
		return jsonNumber
	case c == 't':
		s.literal = "rue"
	case c == 'f':
		s.literal = "alse"
	case c == 'n':
		s.literal = "ull"
	default:
		return jsonBad
	}

	return jsonLiteral
}

func (s *jsonScan) after(c byte) jsonState {
	object := s.stack[len(s.stack)-1] == '{'
	switch {
	case c == ',' && object:
		return jsonKey
	case c == ',':
		return jsonValue
	case c == '}' && object, c == ']' && !object:
		return s.pop()
	default:
		return jsonBad
	}
}

func (s *jsonScan) pop() jsonState {
	s.stack = s.stack[:len(s.stack)-1]
	if len(s.stack) == 0 {
		return jsonClosed
	}

	return jsonAfter
}

func (s *jsonScan) inString(c byte) jsonState {
	switch {
	case c == '"' && s.key:
		return jsonColon
	case c == '"':
		return jsonAfter
	case c == '\\':
		return jsonEscape
	case c < 0x20:
		return jsonBad
	default:
		return jsonString
	}
}

func (s *jsonScan) inEscape(c byte) jsonState {
	switch {
	case c == 'u':
		s.hex = 4

		return jsonHex
	case bytes.IndexByte([]byte(`"\/bfnrt`), c) >= 0:
		return jsonString
	default:
		return jsonBad
	}
}

func (s *jsonScan) inLiteral(c byte) jsonState {
	if c != s.literal[0] {
		return jsonBad
	}
	if s.literal = s.literal[1:]; s.literal == "" {
		return jsonAfter
	}

	return jsonLiteral
}

func isNumberByte(c byte) bool {
	return c >= '0' && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '-' || c == '+'
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
