// Package snapshot is the pure core of carryon: it gathers the chunks of a model's answer and decides, when the stream
// breaks, how the answer goes on. It knows no goroutine, clock, log, network or store.
//
//	chunks ──▶ Accumulator ──▶ Snapshot ──▶ Decide ──▶ Plan
package snapshot

import "strings"

// Snapshot is what had arrived of an answer at one moment. It shares no memory with the chunks it was made from.
type Snapshot struct {
	Text           string // all text, over all attempts; ends with a whole rune
	TextBlocks     int    // text blocks that a tool call followed
	TextOpen       bool   // the last text was followed by no tool call
	Reasoning      string
	ReasoningWhole bool           // text or a tool call followed the reasoning
	ReasoningExtra map[string]any // what the provider keeps in Extra for its reasoning
	ToolCalls      []ToolCall     // of the last attempt, in order of appearance
	FinishReason   string         // of the last attempt; empty if none came
	Usage          Usage          // of the last attempt
	Media          bool           // a part that is neither text nor reasoning came; it cannot be continued
	Handled        bool           // the provider ran a tool of its own to its end: there is something to continue from
}

// HasText reports whether there is text to continue from. White space alone is none.
func (s Snapshot) HasText() bool { return strings.TrimSpace(s.Text) != "" }

// Whole returns the tool calls that arrived whole.
func (s Snapshot) Whole() []ToolCall { return s.filter(true) }

// Partial returns the tool calls that did not arrive whole: open, malformed and nameless ones.
func (s Snapshot) Partial() []ToolCall { return s.filter(false) }

func (s Snapshot) filter(whole bool) []ToolCall {
	var calls []ToolCall
	for _, c := range s.ToolCalls {
		if (c.State == CallWhole) == whole {
			calls = append(calls, c)
		}
	}

	return calls
}

// Decide returns the plan for an answer that was interrupted at s:
//
//	a whole tool call     a partial one   text   plan
//	yes                   any             any    SynthesizeToolUse (R2)
//	no                    yes             yes    TruncateBeforeTool (R3)
//	no                    no              yes    ContinueText (R1)
//	no                    any             no     WholeRestart (R4)
//
// White space alone is no text. Reasoning alone cannot be continued from. What the provider has handled counts as text.
func Decide(s Snapshot) Plan {
	switch {
	case len(s.Whole()) > 0:
		return SynthesizeToolUse
	case !s.HasText() && !s.Handled:
		return WholeRestart
	case len(s.Partial()) > 0:
		return TruncateBeforeTool
	default:
		return ContinueText
	}
}
