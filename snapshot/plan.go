package snapshot

import "fmt"

// Plan says how an interrupted answer goes on. The zero Plan is [ContinueText].
type Plan int

const (
	// ContinueText (R1) puts the text that arrived into the history and asks for the rest.
	ContinueText Plan = iota
	// SynthesizeToolUse (R2) ends the answer with the tool calls that arrived whole, so that they run.
	// No request is made.
	SynthesizeToolUse
	// TruncateBeforeTool (R3) drops the half tool call and continues the text before it.
	TruncateBeforeTool
	// WholeRestart (R4) asks again from the start, since nothing that arrived can be kept.
	WholeRestart
)

// String returns the plan's name, as events and logs print it.
func (p Plan) String() string {
	switch p {
	case ContinueText:
		return "ContinueText"
	case SynthesizeToolUse:
		return "SynthesizeToolUse"
	case TruncateBeforeTool:
		return "TruncateBeforeTool"
	case WholeRestart:
		return "WholeRestart"
	default:
		return fmt.Sprintf("Plan(%d)", int(p))
	}
}
