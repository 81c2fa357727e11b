package interop

import (
	"strings"
	"unicode"

	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/snapshot"
)

// place is where an answer breaks, and what must follow from it.
type place struct {
	name string
	at   faultllm.Position
	want remedy
	text string // that arrived before
	// thought is the reasoning that arrived before, cut says that it was not whole.
	thought string
	cut     bool
	whole   int      // tool calls that arrived whole
	dropped []string // names of those that did not
}

// remedy is how the answer is brought to its end.
type remedy string

const (
	asIs     remedy = "none"       // nothing is lost
	openOnce remedy = "open retry" // nothing had come: the request is made again
	sameEnd  remedy = "same end"   // at the finish reason: it depends on the fault whether that was seen
)

func planned(p snapshot.Plan) remedy { return remedy(p.String()) }

// scripted is an answer and the places where it breaks.
type scripted struct {
	name   string
	answer faultllm.Answer
	places []place
}

// start holds the places before anything has come.
func start() []place {
	return []place{
		{name: "before the headers", at: faultllm.BeforeHeaders(), want: openOnce},
		{name: "before content", at: faultllm.AtStart(), want: openOnce},
		{name: "behind the role", at: faultllm.AfterFrames(1), want: openOnce},
	}
}

func answers() []scripted {
	return []scripted{textAnswer(), toolAnswer(), toolAloneAnswer(), twoToolsAnswer(), thoughtTextAnswer(), thoughtToolAnswer()}
}

func textAnswer() scripted {
	r1 := planned(snapshot.ContinueText)
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say("The tide ", "turns at ", "noon; ", "über dem Riff ", "is room ", "enough.\n\n", "Be there."),
	}}
	at := func(n int) string { return "The tide turns at noon; über dem Riff is room enough.\n\nBe there."[:n] }

	return scripted{name: "text", answer: a, places: append(start(),
		place{name: "behind the first piece", at: faultllm.InText(1), want: r1, text: "The tide "},
		place{name: "inside a word", at: faultllm.InTextBytes(12), want: r1, text: at(12)},
		place{name: "inside a rune", at: faultllm.InTextBytes(25), want: r1, text: "The tide turns at noon; "},
		place{name: "behind an empty line", at: faultllm.InText(6), want: r1, text: "The tide turns at noon; über dem Riff is room enough.\n\n"},
		place{name: "behind the text", at: faultllm.InText(7), want: r1, text: a.Text()},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, text: a.Text()},
	)}
}

func toolAnswer() scripted {
	const said = "Let me look. "
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say("Let me ", "look. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban",`, `"day":3}`),
	}}
	r1, r2, r3 := planned(snapshot.ContinueText), planned(snapshot.SynthesizeToolUse), planned(snapshot.TruncateBeforeTool)

	return scripted{name: "text and a tool call", answer: a, places: append(start(),
		place{name: "in the text", at: faultllm.InText(1), want: r1, text: "Let me "},
		place{name: "before the call", at: faultllm.InText(2), want: r1, text: said},
		place{name: "behind the name", at: faultllm.InTool(0, 0), want: r3, text: said, dropped: []string{"lookup"}},
		place{name: "in the arguments", at: faultllm.InTool(0, 11), want: r3, text: said, dropped: []string{"lookup"}},
		place{name: "before the last brace", at: faultllm.InTool(0, 22), want: r3, text: said, dropped: []string{"lookup"}},
		place{name: "behind the call", at: faultllm.AfterTool(0), want: r2, text: said, whole: 1},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, text: said, whole: 1},
	)}
}

func toolAloneAnswer() scripted {
	a := faultllm.Answer{Parts: []faultllm.Part{faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)}}
	r2, r4 := planned(snapshot.SynthesizeToolUse), planned(snapshot.WholeRestart)

	return scripted{name: "a tool call alone", answer: a, places: append(start(),
		place{name: "behind the name", at: faultllm.InTool(0, 0), want: r4, dropped: []string{"lookup"}},
		place{name: "in the arguments", at: faultllm.InTool(0, 8), want: r4, dropped: []string{"lookup"}},
		place{name: "behind the call", at: faultllm.AfterTool(0), want: r2, whole: 1},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, whole: 1},
	)}
}

func twoToolsAnswer() scripted {
	const said = "Two things. "
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say(said),
		faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call("call_b", "order", `{"tea":`, `{"cups":2}`, `}`),
	}}
	r2, r3 := planned(snapshot.SynthesizeToolUse), planned(snapshot.TruncateBeforeTool)

	return scripted{name: "two tool calls", answer: a, places: append(start(),
		place{name: "in the first", at: faultllm.InTool(0, 8), want: r3, text: said, dropped: []string{"lookup"}},
		place{name: "between them", at: faultllm.AfterTool(0), want: r2, text: said, whole: 1},
		place{name: "behind the second's name", at: faultllm.InTool(1, 0), want: r2, text: said, whole: 1, dropped: []string{"order"}},
		place{name: "in the second", at: faultllm.InTool(1, 17), want: r2, text: said, whole: 1, dropped: []string{"order"}},
		place{name: "behind both", at: faultllm.AfterTool(1), want: r2, text: said, whole: 2},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, text: said, whole: 2},
	)}
}

func thoughtTextAnswer() scripted {
	const thought = "Springs run early, so "
	r1, r4 := planned(snapshot.ContinueText), planned(snapshot.WholeRestart)
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("Springs run ", "early, so "), faultllm.Say("We leave ", "at ten, ", "not later."),
	}}

	return scripted{name: "reasoning and text", answer: a, places: append(start(),
		place{name: "in the reasoning", at: faultllm.InReasoning(1), want: r4, thought: "Springs run ", cut: true},
		place{name: "behind the reasoning", at: faultllm.InReasoning(2), want: r4, thought: thought, cut: true},
		place{name: "in the text", at: faultllm.InText(1), want: r1, thought: thought, text: "We leave "},
		place{name: "behind the text", at: faultllm.InText(3), want: r1, thought: thought, text: a.Text()},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, thought: thought, text: a.Text()},
	)}
}

func thoughtToolAnswer() scripted {
	const thought = "I need the table. "
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("I need ", "the table. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`),
	}}
	r2, r4 := planned(snapshot.SynthesizeToolUse), planned(snapshot.WholeRestart)

	return scripted{name: "reasoning and a tool call", answer: a, places: append(start(),
		place{name: "in the reasoning", at: faultllm.InReasoning(1), want: r4, thought: "I need ", cut: true},
		place{name: "behind the name", at: faultllm.InTool(0, 0), want: r4, thought: thought, dropped: []string{"lookup"}},
		place{name: "in the arguments", at: faultllm.InTool(0, 8), want: r4, thought: thought, dropped: []string{"lookup"}},
		place{name: "behind the call", at: faultllm.AfterTool(0), want: r2, thought: thought, whole: 1},
		place{name: "at the finish", at: faultllm.Finished(), want: sameEnd, thought: thought, whole: 1},
	)}
}

// trimmed is what a continuation request carries of the text.
func trimmed(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// cost is what a run of n bytes is billed, as the provider counts.
func cost(n int) int { return (n + 3) / 4 }
