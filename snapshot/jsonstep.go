package snapshot

// scanState is where in the grammar a JSONScanner is.
type scanState uint8

const (
	scanStart     scanState = iota // nothing but white space yet
	scanKeyOrEnd                   // after '{'
	scanKey                        // after ',' in an object
	scanColon                      // after a key
	scanValue                      // after ':' and after ',' in an array
	scanElemOrEnd                  // after '['
	scanAfter                      // after a value in a container
	scanString
	scanEscape
	scanHex4
	scanHex3
	scanHex2
	scanHex1
	scanLiteral
	scanMinus
	scanZero
	scanInt
	scanPoint
	scanFraction
	scanE
	scanESign
	scanExponent
	scanPast // at the first byte behind a number that is not in a container
	scanEnd  // the value ended: what follows is not part of it
	scanBad  // no continuation can make it a value
)

// skipString reads plain string bytes from i on and returns the index of the last byte it read.
func (s *JSONScanner) skipString(p string, i int) int {
	for ; i < len(p); i++ {
		switch c := p[i]; {
		case c == '"':
			s.state = s.ended()
			if s.key {
				s.state = scanColon
			}

			return i
		case c == '\\':
			s.state = scanEscape

			return i
		case c < 0x20:
			s.state = scanBad

			return i
		}
	}

	return i
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// next is the transition for one byte outside a string.
func (s *JSONScanner) next(c byte) scanState {
	switch s.state {
	case scanEscape, scanHex4, scanHex3, scanHex2, scanHex1:
		return s.escape(c)
	case scanLiteral:
		return s.literal(c)
	case scanMinus, scanZero, scanInt, scanPoint, scanFraction, scanE, scanESign, scanExponent:
		return s.number(c)
	default:
		if isSpace(c) {
			return s.state
		}

		return s.structure(c)
	}
}

func (s *JSONScanner) structure(c byte) scanState {
	switch s.state {
	case scanStart, scanValue:
		return s.value(c)
	case scanKeyOrEnd, scanKey:
		if c == '"' {
			s.key = true

			return scanString
		}
		if c == '}' && s.state == scanKeyOrEnd {
			return s.close()
		}
	case scanColon:
		if c == ':' {
			return scanValue
		}
	case scanElemOrEnd:
		if c == ']' {
			return s.close()
		}

		return s.value(c)
	case scanAfter:
		return s.after(c)
	default:
	}

	return scanBad
}

func (s *JSONScanner) value(c byte) scanState {
	switch {
	case c == '{' || c == '[':
		return s.open(c)
	case c == '"':
		s.key = false

		return scanString
	case c == '-':
		return scanMinus
	case c == '0':
		return scanZero
	case isDigit(c):
		return scanInt
	case c == 't':
		s.rest = "rue"
	case c == 'f':
		s.rest = "alse"
	case c == 'n':
		s.rest = "ull"
	default:
		return scanBad
	}

	return scanLiteral
}

func (s *JSONScanner) after(c byte) scanState {
	top := s.stack[len(s.stack)-1]

	switch {
	case c == ',' && top == '{':
		return scanKey
	case c == ',' && top == '[':
		return scanValue
	case c == '}' && top == '{', c == ']' && top == '[':
		return s.close()
	default:
		return scanBad
	}
}

func (s *JSONScanner) open(c byte) scanState {
	s.stack = append(s.stack, c)
	if c == '{' {
		return scanKeyOrEnd
	}

	return scanElemOrEnd
}

func (s *JSONScanner) close() scanState {
	s.stack = s.stack[:len(s.stack)-1]

	return s.ended()
}

// ended is the state behind a value.
func (s *JSONScanner) ended() scanState {
	if len(s.stack) == 0 {
		return scanEnd
	}

	return scanAfter
}

func (s *JSONScanner) escape(c byte) scanState {
	if s.state == scanEscape {
		switch c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			return scanString
		case 'u':
			return scanHex4
		default:
			return scanBad
		}
	}

	if !isDigit(c) && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
		return scanBad
	}
	if s.state == scanHex1 {
		return scanString
	}

	return s.state + 1
}

func (s *JSONScanner) literal(c byte) scanState {
	if c != s.rest[0] {
		return scanBad
	}
	if s.rest = s.rest[1:]; s.rest == "" {
		return s.ended()
	}

	return scanLiteral
}

// number is the transition inside a number. A number has no last byte of its own: the first byte that is not its own
// is read as what follows a value.
func (s *JSONScanner) number(c byte) scanState {
	switch s.state {
	case scanMinus:
		if c == '0' {
			return scanZero
		}
		if isDigit(c) {
			return scanInt
		}
	case scanPoint:
		if isDigit(c) {
			return scanFraction
		}
	case scanE:
		if c == '+' || c == '-' {
			return scanESign
		}
		if isDigit(c) {
			return scanExponent
		}
	case scanESign:
		if isDigit(c) {
			return scanExponent
		}
	default:
		return s.wholeNumber(c)
	}

	return scanBad
}

// wholeNumber is the transition where the number could end.
func (s *JSONScanner) wholeNumber(c byte) scanState {
	switch {
	case isDigit(c) && s.state != scanZero:
		return s.state
	case c == '.' && (s.state == scanZero || s.state == scanInt):
		return scanPoint
	case (c == 'e' || c == 'E') && s.state != scanExponent:
		return scanE
	case len(s.stack) == 0:
		return scanPast
	case isSpace(c):
		return scanAfter
	default:
		return s.after(c)
	}
}
