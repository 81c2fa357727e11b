package continuation

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// hintPlace says how a model learns that a tool call of its last turn was cut off.
type hintPlace int

const (
	hintUserMessage hintPlace = iota // a user message behind the tool results
	hintToolResult                   // at the end of the last tool result
	hintOff
)

// withHint returns in, or a copy that tells the model which calls of its last turn were cut off. It is sent while that
// turn's results are the last messages, and never later. What was cut off stands as a mark on the assistant message,
// which the caller's history keeps, so the hint survives a checkpoint and another process.
func withHint(in []*schema.Message, place hintPlace) ([]*schema.Message, bool) {
	if place == hintOff {
		return in, false
	}
	names := pendingDropped(in)
	if len(names) == 0 {
		return in, false
	}
	notes := make([]string, len(names))
	for i, name := range names {
		notes[i] = droppedCallNote(name)
	}
	text := strings.Join(notes, "\n")

	out := append(make([]*schema.Message, 0, len(in)+1), in...)
	if place == hintUserMessage {
		return append(out, schema.UserMessage(text)), true
	}
	last := *out[len(out)-1]
	if len(last.UserInputMultiContent) > 0 {
		last.UserInputMultiContent = append(slices.Clip(last.UserInputMultiContent),
			schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: text})
	} else {
		last.Content += "\n\n" + text
	}
	out[len(out)-1] = &last

	return out, true
}

// pendingDropped returns the calls that were cut off in the turn whose tool results in ends with.
func pendingDropped(in []*schema.Message) []string {
	i := len(in) - 1
	for i >= 0 && in[i] != nil && in[i].Role == schema.Tool {
		i--
	}
	if i < 0 || i == len(in)-1 || in[i] == nil || in[i].Role != schema.Assistant {
		return nil
	}

	return droppedCalls(in[i])
}
