package faultllm

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
)

type anthropicRequest struct {
	Model     string              `json:"model"`
	Stream    bool                `json:"stream"`
	MaxTokens int                 `json:"max_tokens"`
	System    json.RawMessage     `json:"system"`
	Messages  []anthropicIncoming `json:"messages"`
	Tools     json.RawMessage     `json:"tools"`
	Thinking  struct {
		Type string `json:"type"`
	} `json:"thinking"`
}

type anthropicIncoming struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`

	blocks []anthropicPart
}

// anthropicPart is a content block of a request.
type anthropicPart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
}

type anthropicTool struct {
	Name string `json:"name"`
}

func (w anthropic) read(r *http.Request, body []byte) (Request, *refusal) {
	var in anthropicRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, w.invalid("The request body is not valid JSON: %v", err)
	}
	req := Request{Model: in.Model, Stream: in.Stream, IncludeUsage: true, MaxTokens: in.MaxTokens}
	if r.Header.Get("Anthropic-Version") == "" {
		return req, w.invalid("anthropic-version: header is required")
	}
	if refused := w.top(&req, in); refused != nil {
		return req, refused
	}
	for i := range in.Messages {
		m := &in.Messages[i]
		var refused *refusal
		if m.blocks, refused = w.blocks(i, *m); refused != nil {
			return req, refused
		}
		for _, out := range m.messages() {
			req.add(out)
		}
	}
	turns, refused := w.turns(in.Messages)
	if refused != nil {
		return req, refused
	}
	return req, w.validate(in, turns)
}

// top reads what stands beside the messages.
func (w anthropic) top(req *Request, in anthropicRequest) *refusal {
	switch {
	case in.Model == "":
		return w.invalid("model: Field required")
	case in.MaxTokens <= 0:
		return w.invalid("max_tokens: Field required")
	case len(in.Messages) == 0:
		return w.invalid("messages: at least one message is required")
	}
	if !absent(in.System) {
		text, ok := contentText(in.System)
		if !ok {
			return w.invalid("system: Input should be a valid list")
		}
		req.Messages = append(req.Messages, Message{Role: roleSystem, Text: text})
	}
	if !absent(in.Tools) {
		var tools []anthropicTool
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return w.invalid("tools: Input should be a valid list")
		}
		req.toolBytes = len(in.Tools)
		for _, t := range tools {
			req.Tools = append(req.Tools, t.Name)
		}
	}
	return nil
}

// turns joins consecutive messages of one role, as the vendor does.
func (w anthropic) turns(in []anthropicIncoming) ([]anthropicIncoming, *refusal) {
	var out []anthropicIncoming
	for _, m := range in {
		last := len(out) - 1
		if last < 0 || out[last].Role != m.Role {
			out = append(out, m)
			continue
		}
		if w.rules.strict {
			return nil, w.invalid("messages: roles must alternate between \"user\" and \"assistant\", "+
				"but found multiple %q roles in a row", m.Role)
		}
		out[last].blocks = slices.Concat(out[last].blocks, m.blocks)
	}
	return out, nil
}

func (w anthropic) blocks(i int, m anthropicIncoming) ([]anthropicPart, *refusal) {
	if m.Role != roleUser && m.Role != roleAssistant {
		return nil, w.invalid("messages: Unexpected role %q. The Messages API accepts a top-level `system` parameter, "+
			"not \"system\" as an input message role.", m.Role)
	}
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		if text == "" {
			return nil, w.empty(i)
		}
		return []anthropicPart{{Type: "text", Text: text}}, nil
	}
	var parts []anthropicPart
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil, w.invalid("messages.%d.content: Input should be a valid list", i)
	}
	if len(parts) == 0 {
		return nil, w.empty(i)
	}
	for j, p := range parts {
		if refused := w.part(i, j, p); refused != nil {
			return nil, refused
		}
	}
	return parts, nil
}

func (w anthropic) empty(i int) *refusal {
	return w.invalid("messages.%d: all messages must have non-empty content except for the optional final assistant "+
		"message", i)
}

// messages returns a message in the form of all wires: each result of a tool is one of its own.
func (m anthropicIncoming) messages() []Message {
	var out []Message
	said := Message{Role: m.Role}
	spoke := m.Role == roleAssistant
	for _, p := range m.blocks {
		switch p.Type {
		case "text":
			said.Text += p.Text
			spoke = true
		case "thinking":
			said.Reasoning += p.Thinking
			said.Signature += p.Signature
		case "tool_use":
			said.ToolCalls = append(said.ToolCalls, ToolCall{ID: p.ID, Name: p.Name, Args: compact(p.Input)})
		case "tool_result":
			result, _ := contentText(p.Content)
			out = append(out, Message{Role: roleTool, ToolCallID: p.ToolUseID, Text: result})
		}
	}
	if spoke {
		out = append(out, said)
	}
	return out
}

func compact(doc json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, doc) != nil {
		return string(doc)
	}
	return b.String()
}
