package faultllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// What the vendor refuses is documented, its words are not: those here are invented, but for what it calls the errors.

func (responses) problem(code int) refusal { return openai{vendor: Ark}.problem(code) }

func (responses) refusalBody(r refusal) string { return openai{vendor: Ark}.refusalBody(r) }

func (w responses) invalid(param, format string, args ...any) *refusal {
	r := w.problem(http.StatusBadRequest)
	r.param, r.message = param, "One or more parameters specified in the request are not valid: "+fmt.Sprintf(format, args...)+"."
	return &r
}

func (w responses) validate(r Request) *refusal {
	if len(r.Messages) == 0 {
		return w.invalid("input", "the input is empty")
	}
	var open []string // calls that wait for their result
	last := ""
	for _, m := range r.Messages {
		if w.rules.strict && !mayFollow(last, m.Role) {
			return w.invalid("input", "role %s after role %s", m.Role, last)
		}
		last = m.Role
		if m.Role == roleTool {
			at := slices.Index(open, m.ToolCallID)
			if at < 0 {
				return w.invalid("input", "no function call has the call_id %q of an output", m.ToolCallID)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return w.invalid("input", "no output found for the function call %s", open[0])
		}
		if refused := w.message(m); refused != nil {
			return refused
		}
		for _, c := range m.ToolCalls {
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return w.invalid("input", "no output found for the function call %s", open[0])
	}
	if last == roleAssistant && (!r.Marked || w.rules.noPrefill) {
		return w.invalid("input", "the last item must be a user message, an output, or an assistant message that is partial")
	}
	return nil
}

func (w responses) message(m Message) *refusal {
	switch m.Role {
	case roleUser, roleSystem, roleDeveloper:
		if m.Text == "" {
			return w.invalid("input.content", "the content of a message is empty")
		}
		return nil
	case roleAssistant:
	default:
		return w.invalid("input.role", "the role %q is not known", m.Role)
	}
	if m.Text == "" && len(m.ToolCalls) == 0 {
		return w.invalid("input.content", "the content of a message is empty")
	}
	for _, c := range m.ToolCalls {
		switch {
		case c.ID == "" || c.Name == "":
			return w.invalid("input", "a function call needs a call_id and a name")
		case !json.Valid([]byte(c.Args)):
			return w.invalid("input.arguments", "the arguments of the function call %s are no JSON", c.ID)
		}
	}
	return nil
}
