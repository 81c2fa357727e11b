package matrix

import (
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/snapshot"
)

// The places at which answers break.
const (
	beforeHeaders = "before the headers"
	beforeContent = "before content"
	inReasoning   = "in the reasoning"
	afterThought  = "behind the reasoning"
	inText        = "in the text"
	inCall        = "in the tool call"
	betweenCalls  = "between the calls"
	inSecondCall  = "in the second call"
	lastByte      = "behind the last byte"
	afterFinish   = "after the finish"
)

// places lists them in the order of an answer.
func places() []string {
	return []string{
		beforeHeaders, beforeContent, inReasoning, afterThought, inText, inCall, betweenCalls, inSecondCall, lastByte, afterFinish,
	}
}

// place is where an answer breaks, and what has arrived there.
type place struct {
	name  string
	at    faultllm.Position
	text  string
	think bool   // some reasoning has arrived
	open  bool   // a tool call has begun and is not whole
	whole int    // tool calls that are whole
	plus  string // the text with the piece that comes next, if that is text
}

// plan returns the remedy for what has arrived, if the attempt broke and its finish reason was not seen.
func (p place) plan(c clients.Client) remedy {
	open := p.open && !c.WholeCalls // a call in one piece has not come at all
	switch {
	case p.whole > 0:
		return toolUse
	case strings.TrimSpace(p.text) != "" && open:
		return beforeTool
	case strings.TrimSpace(p.text) != "":
		return continued
	case p.think || open:
		return restarted
	default:
		return reopened
	}
}

// remedy is how an answer is brought to its end.
type remedy string

const (
	untouched  remedy = "whole" // nothing is lost
	reopened   remedy = "again" // nothing had come: the request is made again
	below      remedy = "below" // the same, and the HTTP client did it
	refused    remedy = "error" // the client's error is returned at once
	continued  remedy = "R1"
	toolUse    remedy = "R2"
	beforeTool remedy = "R3"
	restarted  remedy = "R4"
	stopped    remedy = "partial"      // the next request was refused for good: that error, with what had come
	givenUp    remedy = "again, error" // nothing had come, and the next request was refused for good
)

// plan returns the plan that the events must name, and whether there is one.
func (r remedy) plan() (snapshot.Plan, bool) {
	switch r {
	case continued:
		return snapshot.ContinueText, true
	case toolUse:
		return snapshot.SynthesizeToolUse, true
	case beforeTool:
		return snapshot.TruncateBeforeTool, true
	case restarted:
		return snapshot.WholeRestart, true
	default:
		return 0, false
	}
}

// scripted is an answer and the places where it breaks.
type scripted struct {
	name   string
	answer faultllm.Answer
	places []place
}

func answers() []scripted {
	return []scripted{text(), tool(), twoTools(), thoughtText(), thoughtTool()}
}

// around adds the places before and behind everything that was said.
func around(a faultllm.Answer, inside ...place) []place {
	think, calls := a.Reasoning() != "", len(a.ToolCalls())
	last := faultllm.AfterTool(calls - 1)
	if calls == 0 {
		last = faultllm.InTextBytes(len(a.Text()))
	}
	all := []place{{name: beforeHeaders, at: faultllm.BeforeHeaders()}, {name: beforeContent, at: faultllm.AtStart()}}

	return append(append(all, inside...),
		place{name: lastByte, at: last, text: a.Text(), think: think, whole: calls},
		place{name: afterFinish, at: faultllm.Finished(), text: a.Text(), think: think, whole: calls})
}

func text() scripted {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say("The tide ", "turns at ", "noon; ", "über dem Riff ", "is room ", "enough.\n\n", "Be there."),
	}}

	return scripted{"text", a, around(a, place{name: inText, at: faultllm.InText(3), text: "The tide turns at noon; ", plus: "The tide turns at noon; über dem Riff "})}
}

func tool() scripted {
	const said = "Let me look. "
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say("Let me ", "look. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban",`, `"day":3}`),
	}}

	return scripted{
		"tool call", a, around(
			a, place{name: inText, at: faultllm.InText(1), text: "Let me ", plus: "Let me look. "},
			place{name: inCall, at: faultllm.InTool(0, 11), text: said, open: true},
		),
	}
}

func twoTools() scripted {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call("call_b", "order", `{"tea":`, `{"cups":2}`, `}`),
	}}

	return scripted{
		"two tool calls", a, around(
			a, place{name: inCall, at: faultllm.InTool(0, 8), open: true},
			place{name: betweenCalls, at: faultllm.AfterTool(0), whole: 1},
			place{name: inSecondCall, at: faultllm.InTool(1, 17), whole: 1, open: true},
		),
	}
}

func thoughtText() scripted {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("Springs run ", "early, so "), faultllm.Say("We leave ", "at ten, ", "not later."),
	}}

	return scripted{
		"reasoning, text", a, around(
			a, place{name: inReasoning, at: faultllm.InReasoning(1), think: true},
			place{name: afterThought, at: faultllm.InReasoning(2), think: true, plus: "We leave "},
			place{name: inText, at: faultllm.InText(1), think: true, text: "We leave ", plus: "We leave at ten, "},
		),
	}
}

func thoughtTool() scripted {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("I need ", "the table. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`),
	}}

	return scripted{
		"reasoning, tool call", a, around(
			a, place{name: inReasoning, at: faultllm.InReasoning(1), think: true},
			place{name: inCall, at: faultllm.InTool(0, 8), think: true, open: true},
		),
	}
}

// trimmed is what a continuation's request carries of the text.
func trimmed(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }
