package continuation

import "testing"

func TestFinish(t *testing.T) {
	t.Parallel()

	vocabulary := map[finish][]string{
		finishNone:     {"", "null", " "},
		finishComplete: {"stop", "STOP", "end_turn", "stop_sequence", "completed", "pause_turn"},
		finishTools:    {"tool_calls", "function_call", "tool_use"},
		finishLength:   {"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded"},
		finishFiltered: {
			"content_filter", "refusal", "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII",
			"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "NO_IMAGE",
		},
		finishDisguised: {
			"error", "insufficient_system_resource", "terminated", "failed", "abort", "aborted", "cancelled", "network_error", "MALFORMED_FUNCTION_CALL",
			"UNEXPECTED_TOOL_CALL", "OTHER", "FINISH_REASON_UNSPECIFIED",
		},
	}

	types := []string{
		"", "OpenAI", "Qwen", "OpenRouter", "DeepSeek", "Claude", "Gemini", "Ollama", "Ark", "ResponsesAPI", "Mine",
	}

	for want, reasons := range vocabulary {
		for _, reason := range reasons {
			for _, typ := range types {
				if got := profileOf(typ).finish(reason); got != want {
					t.Errorf("%s: finish(%q) = %s, want %s", typ, reason, got, want)
				}
			}
		}
	}
}

func TestFinishOfUnknownReasons(t *testing.T) {
	t.Parallel()

	tests := []struct {
		typ, reason string
		want        finish
	}{
		{"OpenAI", "eos", finishComplete},
		{"OpenAI", "the end", finishComplete},
		{"", "stopped_by_magic", finishComplete},
		{"Ark", "eos", finishComplete},
		{"Ark", "The service is busy now", finishDisguised},
		{"ResponsesAPI", "boom", finishDisguised},
		{"ResponsesAPI", "The service is busy now", finishDisguised},
	}

	for _, test := range tests {
		if got := profileOf(test.typ).finish(test.reason); got != test.want {
			t.Errorf("%s: finish(%q) = %s, want %s", test.typ, test.reason, got, test.want)
		}
	}
}

func TestFinishString(t *testing.T) {
	t.Parallel()

	seen := map[string]bool{}
	for f := finishNone; f <= finishDisguised+1; f++ {
		seen[f.String()] = true
	}

	if len(seen) != int(finishDisguised)+2 || !seen["invalid"] {
		t.Errorf("names: %v", seen)
	}
}
