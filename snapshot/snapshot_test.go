package snapshot

import (
	"testing"

	"github.com/cloudwego/eino/schema"
)

// TestDecide holds the table of plans for every way in which tool calls, text and reasoning can have come. The columns
// are the plans without text, with white space only, and with text; reasoning changes nothing.
func TestDecide(t *testing.T) {
	t.Parallel()

	const (
		r1 = ContinueText
		r2 = SynthesizeToolUse
		r3 = TruncateBeforeTool
		r4 = WholeRestart
	)
	open := delta(0, "c1", "find", `{"q":"a`)
	whole := delta(0, "c1", "find", `{"q":"a"}`)
	secondOpen := delta(1, "c2", "read", `{"p`)
	secondWhole := delta(1, "c2", "read", `{"p":1}`)
	tests := []struct {
		name              string
		calls             []schema.ToolCall
		none, space, text Plan
	}{
		{"no call", nil, r4, r4, r1},
		{"open", calls(open), r4, r4, r3},
		{"begun", calls(delta(0, "c1", "find", "")), r4, r4, r3},
		{"malformed", calls(delta(0, "c1", "find", `{"q":}`)), r4, r4, r3},
		{"array", calls(delta(0, "c1", "find", `[1]`)), r4, r4, r3},
		{"null", calls(delta(0, "c1", "find", `null`)), r4, r4, r3},
		{"twice the same", calls(delta(0, "c1", "find", `{}{}`)), r4, r4, r3},
		{"nameless", calls(delta(0, "c1", "", `{"q":"a"}`)), r4, r4, r3},
		{"two names", calls(delta(0, "c1", "find", `{`), delta(0, "", "read", `}`)), r4, r4, r3},
		{"two open", calls(open, secondOpen), r4, r4, r3},
		{"nameless and open", calls(delta(0, "c1", "", `{}`), secondOpen), r4, r4, r3},
		{"whole", calls(whole), r2, r2, r2},
		{"two whole", calls(whole, secondWhole), r2, r2, r2},
		{"whole and open", calls(whole, secondOpen), r2, r2, r2},
		{"whole and begun", calls(whole, delta(1, "c2", "read", "")), r2, r2, r2},
		{"open and whole", calls(open, secondWhole), r2, r2, r2},
		{"malformed and whole", calls(delta(0, "c1", "find", `{]`), secondWhole), r2, r2, r2},
		{"whole and nameless", calls(whole, delta(1, "c2", "", `{}`)), r2, r2, r2},
		{"without arguments and open", calls(delta(0, "c1", "find", ""), secondOpen), r2, r2, r2},
	}
	texts := map[string]func(a *Accumulator){
		"no reasoning":   func(*Accumulator) {},
		"half reasoning": func(a *Accumulator) { mustAdd(t, a, &schema.Message{ReasoningContent: "so far"}) },
		"whole reasoning": func(a *Accumulator) {
			mustAdd(t, a, &schema.Message{ReasoningContent: "done"})
			a.reasoningDone = len("done")
		},
	}

	for _, tt := range tests {
		for reasoning, think := range texts {
			for text, want := range map[string]Plan{
				"": tt.none, " \n\t\u00a0": tt.space, "Hello": tt.text, " Hello ": tt.text,
			} {
				var a Accumulator
				think(&a)
				if text != "" {
					mustAdd(t, &a, schema.AssistantMessage(text, nil))
				}
				if tt.calls != nil {
					mustAdd(t, &a, schema.AssistantMessage("", tt.calls))
				}
				if got := Decide(a.Snapshot()); got != want {
					t.Errorf("%s, text %q, %s: %v, want %v", tt.name, text, reasoning, got, want)
				}
			}
		}
	}
}

func TestDecideOfNothingIsARestart(t *testing.T) {
	t.Parallel()

	if got := Decide(Snapshot{}); got != WholeRestart {
		t.Errorf("nothing came: %v, want %v", got, WholeRestart)
	}
}

// A finish reason makes a call without arguments whole, and so changes the plan.
func TestDecideAfterAFinishReason(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("Let me look.", calls(delta(0, "c1", "find", ""))))
	if got := Decide(a.Snapshot()); got != TruncateBeforeTool {
		t.Errorf("before the reason: %v, want %v", got, TruncateBeforeTool)
	}
	mustAdd(t, &a, finish("tool_calls"))
	if got := Decide(a.Snapshot()); got != SynthesizeToolUse {
		t.Errorf("after the reason: %v, want %v", got, SynthesizeToolUse)
	}
}

func TestSnapshotSortsCallsIntoWholeAndPartial(t *testing.T) {
	t.Parallel()

	s := Snapshot{ToolCalls: []ToolCall{
		{Name: "a", State: CallOpen},
		{Name: "b", State: CallWhole},
		{Name: "c", State: CallMalformed},
		{Name: "d", State: CallNameless},
		{Name: "e", State: CallWhole},
	}}
	names := func(calls []ToolCall) string {
		all := ""
		for _, c := range calls {
			all += c.Name
		}

		return all
	}
	if got := names(s.Whole()); got != "be" {
		t.Errorf("whole: %q", got)
	}
	if got := names(s.Partial()); got != "acd" {
		t.Errorf("partial: %q", got)
	}
}
