package snapshot_test

import (
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// An answer breaks inside a tool call: what was said before it can be continued.
func ExampleAccumulator() {
	index := 0
	chunks := []*schema.Message{
		{Role: schema.Assistant, ReasoningContent: "The user wants the weather."},
		{Role: schema.Assistant, Content: "Let me "},
		{Role: schema.Assistant, Content: "look that up."},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{
			Index: &index, ID: "call-1", Function: schema.FunctionCall{Name: "weather", Arguments: `{"city":`},
		}}},
		{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{
			Index: &index, Function: schema.FunctionCall{Arguments: `"Osl`},
		}}},
	}

	var a snapshot.Accumulator
	for _, chunk := range chunks {
		if err := a.Add(chunk); err != nil {
			fmt.Println(err)
		}
	}

	s := a.Snapshot()
	fmt.Printf("text %q, whole reasoning %t\n", s.Text, s.ReasoningWhole)
	for _, c := range s.Partial() {
		fmt.Printf("call to %s is %v: %s\n", c.Name, c.State, c.Arguments)
	}
	fmt.Println(snapshot.Decide(s))

	a.Interrupt() // the next attempt begins
	fmt.Printf("text %q, %d calls\n", a.Snapshot().Text, a.Calls())
	// Output:
	// text "Let me look that up.", whole reasoning true
	// call to weather is open: {"city":"Osl
	// TruncateBeforeTool
	// text "Let me look that up.", 0 calls
}

func ExampleJSONScanner() {
	var s snapshot.JSONScanner
	for _, piece := range []string{`{"list":[1,2`, `],"na`, `me":"Ada"}`, " is all."} {
		n := s.Write(piece)
		fmt.Printf("%-12s %v, %d open, %d bytes read\n", piece, s.State(), s.Depth(), n)
	}
	// Output:
	// {"list":[1,2 open, 2 open, 12 bytes read
	// ],"na        open, 1 open, 5 bytes read
	// me":"Ada"}   whole, 0 open, 10 bytes read
	//  is all.     whole, 0 open, 0 bytes read
}

func ExampleDecide() {
	whole := snapshot.ToolCall{Name: "weather", Arguments: `{"city":"Oslo"}`, State: snapshot.CallWhole}
	open := snapshot.ToolCall{Name: "weather", Arguments: `{"city":"Osl`, State: snapshot.CallOpen}

	fmt.Println(snapshot.Decide(snapshot.Snapshot{Text: "Once upon a ti"}))
	fmt.Println(snapshot.Decide(snapshot.Snapshot{ToolCalls: []snapshot.ToolCall{whole, open}}))
	fmt.Println(snapshot.Decide(snapshot.Snapshot{Text: "Let me look.", ToolCalls: []snapshot.ToolCall{open}}))
	fmt.Println(snapshot.Decide(snapshot.Snapshot{Reasoning: "The user wants"}))
	// Output:
	// ContinueText
	// SynthesizeToolUse
	// TruncateBeforeTool
	// WholeRestart
}
