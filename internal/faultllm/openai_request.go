package faultllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// VendorError returns the body with which the vendor refuses a request with this status code.
func VendorError(code int) string {
	r := refusal{status: code, message: "The server had an error while processing your request.", errType: "server_error"}
	switch code {
	case http.StatusBadRequest:
		r.errType, r.message = invalidRequest, "The request is invalid."
	case http.StatusUnauthorized:
		r.errType, r.code, r.message = invalidRequest, "invalid_api_key", "Incorrect API key provided."
	case http.StatusNotFound:
		r.errType, r.code, r.message = invalidRequest, "model_not_found", "The model does not exist."
	case http.StatusTooManyRequests:
		r.errType, r.code, r.message = "requests", "rate_limit_exceeded", "Rate limit reached."
	case http.StatusServiceUnavailable:
		r.message = "The engine is currently overloaded, please try again later."
	}
	return openai{}.refusalBody(r)
}

const invalidRequest = "invalid_request_error"

func badRequest(param, code, format string, args ...any) *refusal {
	return &refusal{
		status: http.StatusBadRequest, errType: invalidRequest, code: code, param: param,
		message: fmt.Sprintf(format, args...),
	}
}

type openaiRequest struct {
	Model         string            `json:"model"`
	Stream        bool              `json:"stream"`
	StreamOptions *openaiStreamOpts `json:"stream_options"`
	MaxTokens     int               `json:"max_tokens"`
	MaxCompletion int               `json:"max_completion_tokens"`
	Messages      []openaiIncoming  `json:"messages"`
	Tools         json.RawMessage   `json:"tools"`
}

type openaiStreamOpts struct {
	IncludeUsage bool `json:"include_usage"`
}

type openaiIncoming struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	Reasoning  string          `json:"reasoning_content"`
	ToolCalls  []openaiInCall  `json:"tool_calls"`
	ToolCallID string          `json:"tool_call_id"`
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

func (openai) decode(body []byte) (Request, *refusal) {
	var in openaiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, badRequest("", "", "We could not parse the JSON body of your request: %v", err)
	}
	r := Request{
		Model: in.Model, Stream: in.Stream, MaxTokens: in.MaxTokens,
		IncludeUsage: in.StreamOptions != nil && in.StreamOptions.IncludeUsage,
	}
	if in.MaxCompletion > 0 {
		r.MaxTokens = in.MaxCompletion
	}
	if refused := r.addTools(in.Tools); refused != nil {
		return r, refused
	}
	for i, m := range in.Messages {
		text, ok := contentText(m.Content)
		if !ok {
			return r, badRequest(fmt.Sprintf("messages[%d].content", i), "invalid_type",
				"Invalid type for 'messages[%d].content': expected a string or an array of content parts.", i)
		}
		out := Message{Role: m.Role, Text: text, Reasoning: m.Reasoning, ToolCallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			out.ToolCalls = append(out.ToolCalls, ToolCall{ID: c.ID, Name: c.Function.Name, Args: c.Function.Arguments})
		}
		r.Messages = append(r.Messages, out)
	}
	return r, nil
}

func (r *Request) addTools(raw json.RawMessage) *refusal {
	if len(raw) == 0 || string(raw) == "null" {
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

// contentText returns the text of a content field, which is a string, a list of parts, or absent.
func contentText(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || string(raw) == "null" {
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
