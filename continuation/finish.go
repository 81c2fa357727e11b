package continuation

import "strings"

// finish is the meaning of a finish reason.
type finish int

const (
	// finishNone is no reason: the answer goes on.
	finishNone finish = iota
	// finishComplete is the end of a whole answer.
	finishComplete
	// finishTools is the end of a whole answer that calls tools.
	finishTools
	// finishLength is the end at a limit of length. It is passed on: to go on is the caller's choice.
	finishLength
	// finishFiltered is a refusal. It is never continued.
	finishFiltered
	// finishDisguised is an interruption that looks like an end.
	finishDisguised
)

// String returns the meaning's name.
func (f finish) String() string {
	switch f {
	case finishNone:
		return "none"
	case finishComplete:
		return "complete"
	case finishTools:
		return "tools"
	case finishLength:
		return "length"
	case finishFiltered:
		return "filtered"
	case finishDisguised:
		return "disguised"
	default:
		return "invalid"
	}
}

// finish returns what reason means from a client of this profile. Upper and lower case are the same. A reason that is
// not known ends the answer, except where the client puts error messages into this field.
func (p profile) finish(reason string) finish {
	switch strings.ToLower(strings.TrimSpace(reason)) {
	case "", "null":
		return finishNone
	case "stop", "end_turn", "stop_sequence", "completed", "pause_turn":
		return finishComplete
	case "tool_calls", "function_call", "tool_use":
		return finishTools
	case "length", "max_tokens", "max_output_tokens", "model_context_window_exceeded":
		return finishLength
	case "content_filter", "refusal", "safety", "recitation", "language", "blocklist", "prohibited_content", "spii",
		"image_safety", "image_prohibited_content", "image_recitation", "no_image":
		return finishFiltered
	case "error", "abort", "aborted", "cancelled", "canceled", "network_error", "insufficient_system_resource", "terminated", "failed", "malformed_function_call",
		"unexpected_tool_call", "other", "finish_reason_unspecified":
		return finishDisguised
	}

	if p.reasonIsError == anyUnknown || p.reasonIsError == freeText && strings.ContainsRune(reason, ' ') {
		return finishDisguised
	}

	return finishComplete
}
