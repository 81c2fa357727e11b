package faultllm

import (
	"encoding/json"
	"fmt"
	"strings"
)

func (w openai) validate(r Request) *refusal {
	if r.Model == "" {
		return badRequest("model", "", "you must provide a model parameter")
	}
	if len(r.Messages) == 0 {
		return badRequest("messages", "empty_array",
			"Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	v := historyValidator{wire: w}
	for i, m := range r.Messages {
		if refused := v.message(i, m); refused != nil {
			return refused
		}
	}
	return v.unanswered()
}

// orderCode is Mistral's code for messages in a wrong order.
const orderCode = "3230"

// historyValidator walks over the messages of a request.
type historyValidator struct {
	wire openai
	last string   // the role of the message before
	open []string // calls of the last assistant message that wait for their result
}

func (v *historyValidator) message(i int, m Message) *refusal {
	last := v.last
	v.last = m.Role
	if v.wire.rules.strict && !mayFollow(last, m.Role) {
		return badRequest("", orderCode, "Unexpected role '%s' after role '%s'", m.Role, last)
	}
	if m.Role == roleTool {
		return v.toolMessage(i, m)
	}
	if refused := v.unanswered(); refused != nil {
		return refused
	}
	switch m.Role {
	case roleSystem, roleDeveloper:
		return nil
	case roleUser:
		if m.Text == "" {
			return badRequest(contentOf(i), "invalid_value",
				"Invalid value for '%s': expected a non-empty string.", contentOf(i))
		}
		return nil
	case roleAssistant:
		return v.assistant(i, m)
	default:
		return badRequest(fmt.Sprintf("messages[%d].role", i), "invalid_value",
			"Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.", m.Role)
	}
}

func (v *historyValidator) assistant(i int, m Message) *refusal {
	if m.Text == "" && len(m.ToolCalls) == 0 {
		return badRequest(contentOf(i), "", "Invalid value for 'content': expected a string, got null.")
	}
	if m.Signature != "" && m.Signature != Sign(m.Reasoning) {
		return badRequest("", "", "messages.%d.content.0: Invalid `signature` in `thinking` block", i)
	}
	for j, c := range m.ToolCalls {
		at := fmt.Sprintf("messages[%d].tool_calls[%d]", i, j)
		switch {
		case c.ID == "":
			return badRequest(at+".id", "missing_required_parameter", "Missing required parameter: '%s.id'.", at)
		case c.Name == "":
			return badRequest(at+".function.name", "missing_required_parameter",
				"Missing required parameter: '%s.function.name'.", at)
		case c.Args == "":
			return badRequest(at+".function.arguments", "missing_required_parameter",
				"Missing required parameter: '%s.function.arguments'.", at)
		case !json.Valid([]byte(c.Args)):
			return badRequest(at+".function.arguments", "invalid_value",
				"Invalid '%s.function.arguments': expected valid JSON.", at)
		}
		if v.take(c.ID) {
			return badRequest(at+".id", "invalid_value", "Duplicate value for '%s.id': '%s'.", at, c.ID)
		}
		v.open = append(v.open, c.ID)
		if v.wire.vendor == DeepSeek && m.Reasoning == "" && v.wire.rules.script.thinksBefore(c) {
			return badRequest("", "", "The `reasoning_content` in the thinking mode must be passed back to the API.")
		}
	}
	return nil
}

func (v *historyValidator) toolMessage(i int, m Message) *refusal {
	if len(v.open) == 0 || !v.take(m.ToolCallID) {
		return badRequest(fmt.Sprintf("messages.[%d].role", i), "",
			"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
	}
	return nil
}

func (v *historyValidator) unanswered() *refusal {
	if len(v.open) == 0 {
		return nil
	}
	return badRequest("messages", "", "An assistant message with 'tool_calls' must be followed by tool messages "+
		"responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s",
		strings.Join(v.open, ", "))
}

// take removes an open call, and says whether it was there.
func (v *historyValidator) take(id string) bool {
	for i, open := range v.open {
		if open == id {
			v.open = append(v.open[:i:i], v.open[i+1:]...)
			return true
		}
	}
	return false
}

// mayFollow is the order of messages that the templates of Mistral's models ask for.
func mayFollow(last, next string) bool {
	switch next {
	case roleUser:
		return last != roleUser && last != roleTool
	case roleAssistant:
		return last == roleUser || last == roleTool
	case roleTool:
		return last == roleAssistant || last == roleTool
	default:
		return last == "" || last == next
	}
}
