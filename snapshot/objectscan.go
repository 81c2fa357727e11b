package snapshot

import "strings"

// objectScan reads the arguments of a tool call: one JSON object, and white space around it at most.
type objectScan struct {
	json    JSONScanner
	spoiled bool // something else than an object came, or something behind it
}

func (s *objectScan) empty() bool  { return !s.spoiled && s.json.State() == JSONEmpty }
func (s *objectScan) closed() bool { return !s.spoiled && s.json.State() == JSONWhole }
func (s *objectScan) bad() bool    { return s.spoiled || s.json.State() == JSONBroken }

// write reads p, which continues what was read before.
func (s *objectScan) write(p string) {
	if s.json.State() == JSONEmpty {
		p = strings.TrimLeft(p, jsonSpace)
		s.spoiled = s.spoiled || p != "" && p[0] != '{'
	}
	if !s.spoiled {
		s.spoiled = strings.Trim(p[s.json.Write(p):], jsonSpace) != ""
	}
}

// jsonSpace is what may stand between the parts of a JSON value.
const jsonSpace = " \t\r\n"
