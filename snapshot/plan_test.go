package snapshot

import "testing"

func TestPlanHasAName(t *testing.T) {
	t.Parallel()

	tests := map[Plan]string{
		ContinueText:       "ContinueText",
		SynthesizeToolUse:  "SynthesizeToolUse",
		TruncateBeforeTool: "TruncateBeforeTool",
		WholeRestart:       "WholeRestart",
		Plan(99):           "Plan(99)",
	}
	for plan, want := range tests {
		if got := plan.String(); got != want {
			t.Errorf("plan %d is called %q, want %q", int(plan), got, want)
		}
	}
}

func TestCallStateHasAName(t *testing.T) {
	t.Parallel()

	tests := map[CallState]string{
		CallOpen: "open", CallWhole: "whole", CallMalformed: "malformed", CallNameless: "nameless", CallState(99): "unknown",
	}
	for state, want := range tests {
		if got := state.String(); got != want {
			t.Errorf("state %d is called %q, want %q", int(state), got, want)
		}
	}
}
