package faultllm

import (
	"encoding/json"
	"net/http"
	"strings"
)

type responsesRequest struct {
	Model     string          `json:"model"`
	Input     json.RawMessage `json:"input"`
	Stream    bool            `json:"stream"`
	Store     bool            `json:"store"`
	Previous  string          `json:"previous_response_id"`
	MaxTokens int             `json:"max_output_tokens"`
	Tools     json.RawMessage `json:"tools"`
}

type responsesIncoming struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Partial bool            `json:"partial"`
	Summary []responsesPart `json:"summary"`
	CallID  string          `json:"call_id"`
	Name    string          `json:"name"`
	Args    string          `json:"arguments"`
	Output  string          `json:"output"`
}

type responsesTool struct {
	Name string `json:"name"`
}

func (w responses) read(_ *http.Request, body []byte) (Request, *refusal) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, w.invalid("", "the body cannot be parsed as JSON: %v", err)
	}
	req := Request{
		Model: in.Model, Stream: in.Stream, IncludeUsage: true, MaxTokens: in.MaxTokens, Previous: in.Previous, Stored: in.Store,
	}
	if in.Model == "" {
		return req, w.invalid("model", "the model is missing")
	}
	if in.Previous != "" {
		before, known := w.rules.stored.get(in.Previous)
		if !known {
			return req, w.invalid("previous_response_id", "the previous response %s is not stored", in.Previous)
		}
		req.Messages = before
	}
	if refused := w.tools(in.Tools, &req); refused != nil {
		return req, refused
	}
	var text string
	var items []responsesIncoming
	switch {
	case json.Unmarshal(in.Input, &text) == nil:
		items = []responsesIncoming{{Role: roleUser, Content: in.Input}}
	case json.Unmarshal(in.Input, &items) != nil:
		return req, w.invalid("input", "the input is neither a text nor a list of items")
	}
	for _, i := range items {
		m, refused := w.item(i)
		if refused != nil {
			return req, refused
		}
		req.add(m)
		req.Marked = i.Partial
	}
	return req, w.validate(req)
}

func (w responses) tools(raw json.RawMessage, req *Request) *refusal {
	if absent(raw) {
		return nil
	}
	var tools []responsesTool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return w.invalid("tools", "the tools are no list: %v", err)
	}
	req.toolBytes = len(raw)
	for _, t := range tools {
		req.Tools = append(req.Tools, t.Name)
	}
	return nil
}

// item returns one item of the input in the form of all wires. Those of the assistant stand for themselves, and are
// joined to one message.
func (w responses) item(i responsesIncoming) (Message, *refusal) {
	switch i.Type {
	case "", "message":
		text, ok := contentText(i.Content)
		if !ok {
			return Message{}, w.invalid("input.content", "the content is neither a text nor a list of parts")
		}
		return Message{Role: i.Role, Text: text}, nil
	case "reasoning":
		var thought strings.Builder
		for _, p := range i.Summary {
			thought.WriteString(p.Text)
		}
		return Message{Role: roleAssistant, Reasoning: thought.String()}, nil
	case "function_call":
		return Message{Role: roleAssistant, ToolCalls: []ToolCall{{ID: i.CallID, Name: i.Name, Args: i.Args}}}, nil
	case "function_call_output":
		return Message{Role: roleTool, Text: i.Output, ToolCallID: i.CallID}, nil
	}
	return Message{}, w.invalid("input.type", "the type %s of an item is not known", i.Type)
}
