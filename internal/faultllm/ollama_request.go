package faultllm

import (
	"encoding/json"
	"net/http"
)

type ollamaRequest struct {
	Model    string           `json:"model"`
	Stream   *bool            `json:"stream"`
	Messages []ollamaIncoming `json:"messages"`
	Tools    json.RawMessage  `json:"tools"`
	Options  struct {
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

type ollamaIncoming struct {
	Role     string         `json:"role"`
	Content  string         `json:"content"`
	Thinking string         `json:"thinking"`
	Calls    []ollamaInCall `json:"tool_calls"`
	ToolName string         `json:"tool_name"`
}

type ollamaInCall struct {
	Function struct {
		Name string                     `json:"name"`
		Args map[string]json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// read refuses little, as the vendor does: roles may come in any order, and messages may be empty.
func (w ollama) read(_ *http.Request, body []byte) (Request, *refusal) {
	var in ollamaRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, w.invalid("%v", err)
	}
	req := Request{
		Model: in.Model, Stream: in.Stream == nil || *in.Stream, IncludeUsage: true,
		MaxTokens: max(0, in.Options.NumPredict), anew: w.rules.noPrefill,
	}
	if in.Model == "" {
		return req, w.invalid("model is required")
	}
	if !absent(in.Tools) {
		var tools []openaiTool
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return req, w.invalid("%v", err)
		}
		req.toolBytes = len(in.Tools)
		for _, t := range tools {
			req.Tools = append(req.Tools, t.Function.Name)
		}
	}
	last := ""
	for _, m := range in.Messages {
		switch m.Role {
		case roleSystem, roleUser, roleAssistant, roleTool:
		default:
			return req, w.invalid("invalid role: %s, role must be one of [system, user, assistant, tool]", m.Role)
		}
		if w.rules.strict && !mayFollow(last, m.Role) {
			return req, w.invalid("template: :3:5: executing \"\" at <raise_exception>: conversation roles must alternate: "+
				"%s after %s", m.Role, last)
		}
		last = m.Role
		req.Messages = append(req.Messages, m.message())
	}
	return req, nil
}

func (m ollamaIncoming) message() Message {
	out := Message{Role: m.Role, Text: m.Content, Reasoning: m.Thinking}
	if m.Role == roleTool {
		out.ToolCallID = m.ToolName
	}
	for _, c := range m.Calls {
		args := "{}"
		if len(c.Function.Args) > 0 {
			args = string(marshal(c.Function.Args))
		}
		out.ToolCalls = append(out.ToolCalls, ToolCall{Name: c.Function.Name, Args: args})
	}
	return out
}
