package continuation

import (
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/callbacks"
)

// lead is what stands in front of a continuation and is no part of the answer.
type lead struct {
	preamble int  // bytes that speak of continuing, and the white space behind them
	fence    int  // bytes behind these that open the code block anew
	open     bool // more bytes may be part of it
	doubt    bool // it speaks of continuing, but the answer may as well
}

func (l lead) n() int { return l.preamble + l.fence }

// findLead reads the lead of x.
func (j *joiner) findLead(x string, full bool) lead {
	if !j.spoken {
		y := strings.TrimLeftFunc(x, unicode.IsSpace)
		j.preamble = j.findPreamble(y, full)
		j.spoken = !j.preamble.open
		if j.preamble.preamble > 0 && (j.keepPreamble || len(y) < len(x)) { // behind a space the answer may say so
			j.preamble = lead{doubt: true}
		}
	}
	l := j.preamble
	rest := x[l.preamble:]
	fence := rest
	if l.preamble > 0 {
		fence = strings.TrimLeft(rest, " \r\n")
	}
	if l.open || fence == "" {
		return l
	}
	n, open := j.reopened(fence, full)
	if n > 0 {
		l.fence = len(rest) - len(fence) + n
	}
	l.open = open
	if l.preamble > 0 && !open && n == 0 {
		j.skipSpace(&l, rest, full)
	}

	return l
}

// skipSpace adds to l the spaces behind a preamble if the answer begins anew behind them.
func (j *joiner) skipSpace(l *lead, rest string, full bool) {
	x := strings.TrimLeft(rest, " ")
	again := j.commonStart(x, j.origin(x))
	switch {
	case len(x) == len(rest):
	case j.isRestart(x[:again]):
		l.preamble += len(rest) - len(x)
	case again == len(x) && !full:
		l.open = true
	}
}

// tellLead adds to what the joiner tells what the lead was.
func (j *joiner) tellLead(l lead) {
	if l.n() == 0 || j.state == joinRejected {
		return
	}
	if l.fence > 0 {
		j.overlap += l.fence
	}
	if j.confidence == callbacks.ConfidenceHigh {
		j.confidence = callbacks.ConfidenceMedium
	}
	switch {
	case j.kind == callbacks.JoinOverlap || j.kind == callbacks.JoinRestart:
	case l.preamble > 0:
		j.kind = callbacks.JoinPreamble
	default:
		j.kind = callbacks.JoinOverlap
	}
}
