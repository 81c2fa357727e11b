package continuation

import (
	"errors"
	"testing"
)

// TestRefusesPrefill reads the words in which providers refuse a request that ends in an assistant message, and some in
// which they refuse another.
func TestRefusesPrefill(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		"This model does not support assistant message prefill. The conversation must end with a user message.":       true,
		"Assistant response prefill is incompatible with enable_thinking.":                                            true,
		"Please ensure that multiturn requests ends with a user role or a function response.":                         true,
		"The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on":   true,
		"Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant":               true,
		"messages: final assistant content cannot end with trailing whitespace":                                       false,
		"Please ensure that multiturn requests alternate between user and model.":                                     false,
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.": false,
		"Invalid value: 'assistent'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.":   false,
	} {
		if got := refusesPrefill(errors.New(text)); got != want {
			t.Errorf("%q: got %t", text, got)
		}
	}
}
