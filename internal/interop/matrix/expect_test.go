package matrix

import (
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// cell is one client, one fault, one answer and one place in it.
type cell struct {
	client clients.Client
	fault  fault
	answer scripted
	place  place
}

func (c cell) name() string {
	return c.client.String() + "/" + c.fault.name + "/" + c.answer.name + "/" + c.place.name
}

// cells returns the whole table.
func cells() []cell {
	var all []cell
	for _, client := range clients.All() {
		for _, f := range faults() {
			for _, a := range answers() {
				for _, p := range a.places {
					if f.happens(client, p) {
						all = append(all, cell{client, f, a, p})
					}
				}
			}
		}
	}

	return all
}

// want returns what must come out: the rule, after the exception that names the cell has said what its client makes of
// the fault.
func (c cell) want() remedy {
	f, p := c.fault, c.arrived()
	keeps := c.client.KeepsFinish
	if e := c.exception(); e != nil {
		switch e.shows {
		case anError:
			f.harmless, f.clean = false, false
		case anEnd:
			f.harmless, f.clean = false, true
		case anErrorForTheFinish:
			keeps = false
		case nothingYet:
			return below
		case theWholeAnswer:
			return untouched
		case aPiece:
		}
	}
	switch {
	case f.permanent:
		return refused
	case f.harmless:
		return untouched
	case p.name == afterFinish && (f.clean || keeps):
		return untouched // a finish reason that was seen makes the answer whole
	}

	if c.switches() {
		return p.plan(c.client)
	}

	return f.ends(p.plan(c.client))
}

// switches says whether the request that is refused ends in the partial answer, as Ollama is asked: then that may be what is
// refused, and it is asked with a user turn.
func (c cell) switches() bool {
	plan := c.place.plan(c.client)

	return c.fault.refuses && c.client.Vendor == faultllm.Ollama && (plan == continued || plan == beforeTool)
}

// ends returns what comes of a remedy whose request is refused for good.
func (f fault) ends(what remedy) remedy {
	switch {
	case !f.refuses || what == toolUse:
		return what
	case what == reopened:
		return givenUp
	default:
		return stopped
	}
}

// requests returns how many requests the cell takes.
func (c cell) requests() int {
	n := 2
	switch c.want() {
	case untouched, toolUse, refused:
		return 1
	case stopped, givenUp:
		return n
	default:
	}
	if c.fault.next != nil && !c.switches() {
		n++
	}
	if c.prefills() {
		n++
	}

	return n
}

// prefills says whether the answer is to be continued by a prefill.
func (c cell) prefills() bool {
	return (c.switches() || c.fault.noPrefill) && (c.want() == continued || c.want() == beforeTool)
}

// arrived returns the place with what has arrived there: some errors come in one frame with a piece of text.
func (c cell) arrived() place {
	p := c.place
	if e := c.exception(); e != nil && e.shows == aPiece {
		p.text = p.plus
	}

	return p
}
