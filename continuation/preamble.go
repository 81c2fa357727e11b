package continuation

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// findPreamble looks for words at the start of x with which a model answers the request to go on, such as "Sure,
// continuing:". They are cut where they cannot be part of the answer: a promise to go on, an answer to somebody, or words
// that make no sense where the text stops.
func (j *joiner) findPreamble(x string, full bool) lead {
	p := phrases{rest: x}
	answers := p.openers()
	resumes := p.any(resumePhrases())
	found := resumes || p.any(restPhrases())
	if found {
		p.any(complements())
	}
	colon, ended := p.end(full)
	if p.open && !full {
		return lead{open: true}
	}
	if !found || !ended {
		return lead{}
	}
	n := len(x) - len(p.rest)
	space := len(p.rest) - len(strings.TrimLeftFunc(p.rest, unicode.IsSpace))
	if space == len(p.rest) && !full {
		return lead{open: true}
	}
	certain := resumes || answers && (isClause(j.text) || hasLineBreak(p.rest[:space])) // behind a sentence somebody may say so
	if !j.isForeign(x, certain, colon) {
		return lead{doubt: true}
	}

	return lead{preamble: n + j.preambleSpace(p.rest[:space])}
}

// isForeign reports whether a preamble with which x begins cannot be part of the answer.
func (j *joiner) isForeign(x string, certain, colon bool) bool {
	if j.doc != nil && !j.doc.accepts(x[:1]) {
		return true
	}
	before := lastRune(j.text)
	switch {
	case strings.ContainsRune(":：\"“„«‹「『(（>—–", before):
		return false // somebody is about to speak
	case unicode.IsLower(firstRune(x)):
		return false // so a clause may go on
	case certain:
		return true
	default:
		return colon && isClause(j.text) && isCapital(x)
	}
}

// preambleSpace returns how much of the white space behind a preamble belongs to the preamble. Line breaks set it off; a
// space may be the answer's.
func (j *joiner) preambleSpace(space string) int {
	switch {
	case !hasLineBreak(space) && !hasLineBreak(j.trimmed):
		return 0
	case !hasLineBreak(space), hasLineBreak(space) && j.trimmed != "" && !hasLineBreak(j.trimmed):
		return len(space)
	case j.trimmed != "" || isClause(j.text):
		return strings.LastIndexAny(space, "\n\r") + 1 // behind it stands the answer's indent
	default:
		return 0
	}
}

// phrases reads phrases off the start of rest. Open says that rest ended where one may go on.
type phrases struct {
	rest string
	open bool
}

// any reads the longest of list that rest begins with, in capitals or not.
func (p *phrases) any(list []string) bool {
	best := 0
	for _, s := range list {
		switch {
		case len(p.rest) < len(s):
			p.open = p.open || strings.EqualFold(p.rest, s[:len(p.rest)])
		case len(s) > best && strings.EqualFold(p.rest[:len(s)], s):
			best = len(s)
		}
	}
	p.rest = p.rest[best:]

	return best > 0
}

// openers reads up to two of what an answer to somebody begins with.
func (p *phrases) openers() bool {
	found := false
	for range 2 {
		before := *p
		if !p.any(openers()) {
			break
		}
		if !p.any([]string{", ", "! ", ". ", " - ", " – ", " — ", "，", "！", "。", "、", "، ", "! \n", "!\n", ".\n"}) {
			p.rest = before.rest

			break
		}
		p.rest = strings.TrimLeft(p.rest, "\n")
		p.open = p.open || p.rest == ""
		found = true
	}

	return found
}

// end reads what sets a preamble off from what follows it, and tells whether that is a colon.
func (p *phrases) end(full bool) (colon, ended bool) {
	switch {
	case p.rest == "":
		p.open = true

		return false, false
	case p.any([]string{":**", ":", " :", "\u00a0:", "：", "...", "…"}):
		return true, true
	case p.any([]string{"。", "\n"}):
		return false, true
	case !p.any([]string{".", "!"}):
		return false, false
	case p.rest == "":
		p.open = !full

		return false, full
	}
	r, _ := utf8.DecodeRuneInString(p.rest)

	return false, unicode.IsSpace(r)
}
