package faultllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

type openaiRequest struct {
	Model          string            `json:"model"`
	Stream         bool              `json:"stream"`
	StreamOptions  *openaiStreamOpts `json:"stream_options"`
	MaxTokens      int               `json:"max_tokens"`
	MaxCompletion  int               `json:"max_completion_tokens"`
	Messages       []openaiIncoming  `json:"messages"`
	Tools          json.RawMessage   `json:"tools"`
	EnableThinking bool              `json:"enable_thinking"`
	ContinueFinal  bool              `json:"continue_final_message"`
}

type openaiStreamOpts struct {
	IncludeUsage bool `json:"include_usage"`
}

type openaiIncoming struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	openaiThinking
	ToolCalls  []openaiInCall `json:"tool_calls"`
	ToolCallID string         `json:"tool_call_id"`
	Prefix     bool           `json:"prefix"`
	Partial    bool           `json:"partial"`
}

type openaiInCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openaiPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type openaiTool struct {
	Function struct {
		Name string `json:"name"`
	} `json:"function"`
}

func (w openai) read(r *http.Request, body []byte) (Request, *refusal) {
	var in openaiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, badRequest("", "", "We could not parse the JSON body of your request: %v", err)
	}
	req := Request{
		Model: in.Model, Stream: in.Stream, MaxTokens: in.MaxTokens,
		IncludeUsage: in.StreamOptions != nil && in.StreamOptions.IncludeUsage,
	}
	if in.MaxCompletion > 0 {
		req.MaxTokens = in.MaxCompletion
	}
	if refused := req.addTools(in.Tools); refused != nil {
		return req, refused
	}
	for i, m := range in.Messages {
		out, refused := m.message(i)
		if refused != nil {
			return req, refused
		}
		req.Messages = append(req.Messages, out)
	}
	if n := len(in.Messages); n > 0 {
		last := in.Messages[n-1]
		req.Marked = w.marked(r, last, in)
		req.anew = w.vendor == Qwen && !req.Marked
	}
	if refused := w.validate(req); refused != nil {
		return req, refused
	}
	return req, w.refusePrefill(req, in)
}

func (m openaiIncoming) message(i int) (Message, *refusal) {
	text, ok := contentText(m.Content)
	if !ok {
		return Message{}, badRequest(contentOf(i), "invalid_type",
			"Invalid type for 'messages[%d].content': expected a string or an array of content parts.", i)
	}
	out := Message{Role: m.Role, Text: text, Reasoning: m.ReasoningContent, ToolCallID: m.ToolCallID}
	if out.Reasoning == "" {
		out.Reasoning = m.Reasoning
	}
	var details strings.Builder
	for _, d := range m.Details {
		details.WriteString(d.Text)
		out.Signature += d.Signature
	}
	if details.Len() > 0 {
		out.Reasoning = details.String()
	}
	for _, c := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
	}
	return out, nil
}

func (r *Request) addTools(raw json.RawMessage) *refusal {
	if absent(raw) {
		return nil
	}
	var tools []openaiTool
	if err := json.Unmarshal(raw, &tools); err != nil {
		return badRequest("tools", "invalid_type", "Invalid type for 'tools': %v", err)
	}
	r.toolBytes = len(raw)
	for _, t := range tools {
		r.Tools = append(r.Tools, t.Function.Name)
	}
	return nil
}

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// contentText returns the text of a content field, which is a string, a list of parts, or absent.
func contentText(raw json.RawMessage) (string, bool) {
	if absent(raw) {
		return "", true
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, true
	}
	var parts []openaiPart
	if json.Unmarshal(raw, &parts) != nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String(), true
}

func contentOf(i int) string { return fmt.Sprintf("messages[%d].content", i) }
