package continuation

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// withAgenticHint is withHint for agentic messages, where tool results are blocks of user messages.
func withAgenticHint(in []*schema.AgenticMessage, place hintPlace) ([]*schema.AgenticMessage, bool) {
	if place == hintOff {
		return in, false
	}
	names := droppedBefore(in)
	if len(names) == 0 {
		return in, false
	}
	notes := make([]string, len(names))
	for i, name := range names {
		notes[i] = droppedCallNote(name)
	}
	text := strings.Join(notes, "\n")

	out := append(make([]*schema.AgenticMessage, 0, len(in)+1), in...)
	if place == hintUserMessage {
		return append(out, schema.UserAgenticMessage(text)), true
	}
	out[len(out)-1] = resultWithText(out[len(out)-1], text)

	return out, true
}

// droppedBefore returns the calls that were cut off in the turn whose tool results in ends with.
func droppedBefore(in []*schema.AgenticMessage) []string {
	i := len(in) - 1
	for i >= 0 && onlyResults(in[i]) {
		i--
	}
	if i < 0 || i == len(in)-1 || in[i] == nil || in[i].Role != schema.AgenticRoleTypeAssistant {
		return nil
	}

	return droppedNames(in[i].Extra)
}

// onlyResults reports whether m brings tool results and nothing else.
func onlyResults(m *schema.AgenticMessage) bool {
	if m == nil {
		return false
	}
	n := 0
	for _, b := range m.ContentBlocks {
		switch {
		case b == nil:
		case b.FunctionToolResult == nil && b.ToolSearchFunctionToolResult == nil:
			return false
		default:
			n++
		}
	}

	return n > 0
}

// resultWithText returns a copy of m whose last tool result ends with text; if none of them can hold it, a copy with the
// text behind them.
func resultWithText(m *schema.AgenticMessage, text string) *schema.AgenticMessage {
	content := slices.Clone(m.ContentBlocks)
	for i, b := range slices.Backward(content) {
		if b == nil || b.FunctionToolResult == nil {
			continue
		}
		c, r := *b, *b.FunctionToolResult
		r.Content = append(slices.Clip(r.Content), &schema.FunctionToolResultContentBlock{
			Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: text},
		})
		c.FunctionToolResult = &r
		content[i] = &c

		return withBlocks(m, content)
	}

	return withBlocks(m, append(content, schema.NewContentBlock(&schema.UserInputText{Text: text})))
}
