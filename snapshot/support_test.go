package snapshot

import (
	"fmt"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// nilIndex is the index of a delta that has none.
const nilIndex = -1 << 31

// delta is a piece of a tool call as a client sends it.
func delta(index int, id, name, args string) schema.ToolCall {
	d := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}
	if index != nilIndex {
		d.Index = &index
	}

	return d
}

func calls(deltas ...schema.ToolCall) []schema.ToolCall { return deltas }

func finish(reason string) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: reason}}
}

func used(u *schema.TokenUsage) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{Usage: u}}
}

func mustAdd(tb testing.TB, a *Accumulator, chunks ...*schema.Message) {
	tb.Helper()

	for _, m := range chunks {
		if err := a.Add(m); err != nil {
			tb.Fatalf("add: %v", err)
		}
	}
}

// transcript prints calls as "index id name arguments state", one after the other.
func transcript(calls []ToolCall) []string {
	var lines []string
	for _, c := range calls {
		lines = append(lines, fmt.Sprintf("%d %s %s %s %v", c.Index, c.ID, c.Name, c.Arguments, c.State))
	}

	return lines
}
