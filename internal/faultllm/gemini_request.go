package faultllm

import (
	"encoding/json"
	"net/http"
	"strings"
)

type geminiRequest struct {
	Contents   []geminiIncoming `json:"contents"`
	System     *geminiIncoming  `json:"systemInstruction"`
	Tools      json.RawMessage  `json:"tools"`
	Generation struct {
		MaxTokens int `json:"maxOutputTokens"`
	} `json:"generationConfig"`
}

type geminiIncoming struct {
	Role  string         `json:"role"`
	Parts []geminiInPart `json:"parts"`
}

type geminiInPart struct {
	Text       *string         `json:"text"`
	Thought    bool            `json:"thought"`
	Call       *geminiCall     `json:"functionCall"`
	Result     *geminiResult   `json:"functionResponse"`
	InlineData json.RawMessage `json:"inlineData"`
	FileData   json.RawMessage `json:"fileData"`
	Signature  string          `json:"thoughtSignature"`
}

type geminiResult struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type geminiTool struct {
	Functions []struct {
		Name string `json:"name"`
	} `json:"functionDeclarations"`
}

func (w gemini) read(r *http.Request, body []byte) (Request, *refusal) {
	model, stream, _ := geminiModel(r.URL.Path)
	req := Request{Model: model, Stream: stream, IncludeUsage: true}
	var in geminiRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return req, w.invalid("Invalid JSON payload received. %v", err)
	}
	if stream && r.URL.Query().Get("alt") != "sse" {
		return req, w.invalid("this server streams with alt=sse only")
	}
	req.MaxTokens = in.Generation.MaxTokens
	if !absent(in.Tools) {
		var tools []geminiTool
		if err := json.Unmarshal(in.Tools, &tools); err != nil {
			return req, w.invalid("Invalid value at 'tools': %v", err)
		}
		req.toolBytes = len(in.Tools)
		for _, t := range tools {
			for _, f := range t.Functions {
				req.Tools = append(req.Tools, f.Name)
			}
		}
	}
	if in.System != nil {
		for _, m := range in.System.messages() {
			req.Messages = append(req.Messages, Message{Role: roleSystem, Text: m.Text})
		}
	}
	for _, c := range in.Contents {
		for _, m := range c.messages() {
			req.add(m)
		}
	}
	return req, w.validate(in)
}

// messages returns a turn in the form of all wires: each result of a tool is a message.
func (c geminiIncoming) messages() []Message {
	var out []Message
	said := Message{Role: roleUser, Reasoning: c.thought()}
	if c.Role == "model" {
		said.Role = roleAssistant
	}
	spoke := said.Role == roleAssistant
	for _, p := range c.Parts {
		switch {
		case p.Call != nil:
			said.ToolCalls = append(said.ToolCalls, ToolCall{ID: p.Call.ID, Name: p.Call.Name, Args: compact(p.Call.Args)})
		case p.Result != nil:
			id := p.Result.ID
			if id == "" {
				id = p.Result.Name
			}
			out = append(out, Message{Role: roleTool, ToolCallID: id, Text: p.Result.text()})
		case p.Text != nil && !p.Thought:
			said.Text += *p.Text
			said.Signature += p.Signature
			spoke = true
		}
	}
	if spoke {
		out = append(out, said)
	}
	return out
}

// thought returns all thinking.
func (c geminiIncoming) thought() string {
	var b strings.Builder
	for _, p := range c.Parts {
		if p.Thought && p.Text != nil {
			b.WriteString(*p.Text)
		}
	}
	return b.String()
}

// text returns what the tool said: its output where there is one, else the whole document.
func (r geminiResult) text() string {
	var doc struct {
		Output *string `json:"output"`
	}
	if json.Unmarshal(r.Response, &doc) == nil && doc.Output != nil {
		return *doc.Output
	}
	return compact(r.Response)
}
