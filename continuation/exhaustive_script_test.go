package continuation_test

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exScript is an answer as the list of its chunks.
type exScript struct {
	name   string
	chunks []*schema.Message
}

func (s exScript) script() faultmodel.Script { return exSteps(s.chunks...) }

func exSteps(chunks ...*schema.Message) faultmodel.Script {
	script := make(faultmodel.Script, len(chunks))
	for i, m := range chunks {
		script[i] = faultmodel.Chunk(m)
	}

	return script
}

func exText(s string) *schema.Message { return &schema.Message{Role: schema.Assistant, Content: s} }

func exThought(s string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ReasoningContent: s}
}

func exExtra(m *schema.Message, extra map[string]any) *schema.Message {
	m.Extra = extra

	return m
}

func exCall(index int, id, name, args string) *schema.Message {
	m := exCallNoIndex(id, name, args)
	m.ToolCalls[0].Index = &index

	return m
}

func exCallNoIndex(id, name, args string) *schema.Message {
	call := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}
	if id != "" {
		call.Type = "function"
	}

	return &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{call}}
}

func exFinish(reason string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: reason}}
}

func exUsage(prompt, completion int) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{Usage: &schema.TokenUsage{
		PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion,
	}}}
}

// exTexts returns one chunk for each of texts, and a last one with the finish reason stop.
func exTexts(texts ...string) []*schema.Message {
	var chunks []*schema.Message
	for _, s := range texts {
		chunks = append(chunks, exText(s))
	}

	return append(chunks, exFinish("stop"))
}

// exPieces cuts s after every n bytes.
func exPieces(s string, n int) []string {
	var pieces []string
	for piece := range slices.Chunk([]byte(s), n) {
		pieces = append(pieces, string(piece))
	}

	return pieces
}

// exScripts are all answers that are broken at every place.
func exScripts() []exScript {
	return slices.Concat(exTextScripts(), exPeriodicScripts(), exToolScripts(), exReasoningScripts(), exMarkedScripts())
}

func exTextScripts() []exScript {
	return []exScript{
		{"text", append([]*schema.Message{exText("")},
			exTexts("Hello ", "wor", "ld.", "", "\n\n", "Next", " line ", "ends here.")...)},
		{"text behind white space", exTexts("\n", "  ", "It", " is", ".\n")},
		{"multi-byte text", exTexts("日本", "語の", "😀é", "ü ", "ende")},
		{"runes cut in pieces", exTexts(exPieces("日本é😀ü", 2)...)},
		{"long prose", exTexts(exPieces(exProse(), 61)...)},
	}
}

func exProse() string {
	return "The harbour was still dark when the first boat came in, and nobody had expected it so early. " +
		"Two men carried the nets up the stairs; a third one counted the boxes and wrote the number on the wall. " +
		"Later that morning the fog lifted and the market filled with people who asked for mackerel, for ice, for news. " +
		"It was said afterwards that the boat had been out for nine days, which no one on the pier believed."
}

func exPeriodicScripts() []exScript {
	return []exScript{
		{"ha with spaces", exTexts(exPieces(strings.Repeat("ha ", 14), 3)...)},
		{"ha without spaces", exTexts(exPieces(strings.Repeat("ha", 20), 2)...)},
		{"ha in odd pieces", exTexts(exPieces(strings.Repeat("ha ", 24), 7)...)},
		{"equal rows", exTexts(exPieces(strings.Repeat("| alpha | beta |\n", 6), 17)...)},
		{"equal rows in odd pieces", exTexts(exPieces(strings.Repeat("| alpha | beta |\n", 6), 11)...)},
		{"equal rows that begin with their end of line", exTexts(exPieces(strings.Repeat("\n| alpha | beta |", 6), 17)...)},
		{"a verse said twice", exTexts(exPieces(strings.Repeat("Row, row, row your boat,\ngently down the stream.\n", 2), 8)...)},
		{"closing braces", exTexts("if a {\n", "if b {\n", "if c {\n", "f()\n", "}\n", "}\n", "}\n")},
	}
}

func exToolScripts() []exScript {
	return []exScript{
		{"text and tool", []*schema.Message{
			exText(""), exText("Let me "), exText("look. "), exCall(0, "call_1", "search", ""), exCall(0, "", "", `{"a":`),
			exCall(0, "", "", `"}"`), exCall(0, "", "", `}`), exFinish("tool_calls"),
		}},
		{"two tools", []*schema.Message{
			exCall(0, "call_1", "weather", ""), exCall(0, "", "", `{"city":`), exCall(0, "", "", `"Bern"}`),
			exCall(1, "call_2", "search", `{"q"`), exCall(1, "", "", `:[1,{}]}`), exFinish("tool_calls"),
		}},
		{"text and two tools in turns", []*schema.Message{
			exText("Both: "), exCall(0, "call_1", "weather", `{"city":`), exCall(1, "call_2", "search", `{"q":`),
			exCall(1, "", "", `"x"}`), exCall(0, "", "", `"Bern"}`), exFinish("tool_calls"),
		}},
		{"text after tool", []*schema.Message{
			exText("First. "), exCall(0, "call_1", "search", `{"q":`), exCall(0, "", "", `"x"}`),
			exText("After "), exText("all."), exFinish("tool_calls"),
		}},
		{"text while a tool is open", []*schema.Message{
			exText("First. "), exCall(0, "call_1", "search", `{"q":`), exText("Mean"), exText("while."),
			exCall(0, "", "", `"x"}`), exText(" After."), exFinish("tool_calls"),
		}},
		{"tools without an index", []*schema.Message{
			exText("Now: "), exCallNoIndex("call_1", "weather", `{"city":"Bern"}`), exCallNoIndex("call_2", "search", `{}`),
			exFinish("tool_calls"),
		}},
		{"tool without arguments", []*schema.Message{
			exText("Time? "), exCall(0, "call_1", "now", ""), exCall(1, "call_2", "search", `{"q":"x"}`), exFinish("tool_calls"),
		}},
		{"tools without ids", []*schema.Message{
			exText("Go: "), exCall(0, "", "search", `{"q":1`), exCall(0, "", "", `}`), exCall(1, "", "search", `{"q":2}`),
			exFinish("tool_calls"),
		}},
	}
}

func exReasoningScripts() []exScript {
	return []exScript{
		{"reasoning and text", []*schema.Message{
			exText(""), exThought("Let "), exThought("me think."), exText("Yes"), exText(", sure."), exFinish("stop"),
		}},
		{"reasoning and tool", []*schema.Message{
			exThought("A tool "), exThought("helps."), exCall(0, "call_1", "search", `{"q":`), exCall(0, "", "", `"x"}`),
			exFinish("tool_calls"),
		}},
		{"reasoning, text and tool", []*schema.Message{
			exThought("A tool "), exThought("helps."), exText("One moment. "), exCall(0, "call_1", "search", `{"q":`),
			exCall(0, "", "", `"x"}`), exFinish("tool_calls"),
		}},
	}
}

// exMarkedScripts are answers whose chunks carry what clients put beside the text.
func exMarkedScripts() []exScript {
	const thought = "reasoning-content"
	call := exCall(0, "call_1", "search", `{"q":`)
	call.ToolCalls[0].Extra = map[string]any{"signature": []byte{1, 0xFF, 3}}

	return []exScript{
		{"extra", []*schema.Message{
			exExtra(exText("Look"), map[string]any{"trace": "t-1", "rank": 3}), exText(" here: "), call,
			exExtra(exCall(0, "", "", `"x"}`), map[string]any{"region": "eu"}), exFinish("tool_calls"),
		}},
		{"extra of a known client", []*schema.Message{
			exExtra(exText(""), map[string]any{"openai-request-id": "req-1"}),
			exExtra(exThought("Hm, "), map[string]any{thought: "Hm, "}),
			exExtra(exThought("yes."), map[string]any{thought: "yes."}),
			exText("Good "), exText("morning."), exFinish("stop"),
		}},
		{"usage at the end", append(exTexts("Hello ", "world."), exUsage(40, 12))},
		{"usage at the start", append([]*schema.Message{exUsage(40, 0)}, exTexts("Hello ", "world.")...)},
	}
}
