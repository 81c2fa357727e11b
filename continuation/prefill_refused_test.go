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
		"messages.1: The final block in an assistant message cannot be `thinking`.":                                   true,
		"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.":                    true,
		"Please ensure that multiturn requests ends with a user role or a function response.":                         true,
		"The last message of deepseek-reasoner must be a user message, or an assistant message with prefix mode on":   true,
		"Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant":               true,
		"Cannot set `add_generation_prompt` to True when the last message is from the assistant.":                     true,
		"Cannot set `continue_final_message` to True when the last message is not from the assistant.":                true,
		"continue_final_message and add_generation_prompt are not compatible.":                                        true,
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

// TestRefusesThought reads the words in which providers refuse a request for the reasoning in it, and some in which they
// want more of it, or something else.
func TestRefusesThought(t *testing.T) {
	t.Parallel()

	for want, texts := range map[bool][]string{
		true: {
			"messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
			"messages.1.content.0: Invalid `signature` in `thinking` block",
			"messages.1.content.0.thinking.signature: Field required",
			"Corrupted thought signature.",
			"Invalid thought_signature in functionCall parts.",
			"reasoning_content is not allowed in input messages",
			"The reasoning item could not be verified.",
		},
		false: {
			"The `reasoning_content` in the thinking mode must be passed back to the API.",
			"Function call is missing a thought_signature in functionCall parts.",
			"Expected `thinking` or `redacted_thinking`, but found `text`.",
			"`max_tokens` must be greater than `thinking.budget_tokens`.",
			"messages: text content blocks must be non-empty",
			"Assistant response prefill is incompatible with enable_thinking.",
		},
	} {
		for _, text := range texts {
			if got := refusesThought(errors.New(text)); got != want {
				t.Errorf("%q: got %t", text, got)
			}
		}
	}
}
