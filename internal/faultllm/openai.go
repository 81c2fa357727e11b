package faultllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// openai is the wire of chat completions.
type openai struct{}

func (openai) path() string { return "/chat/completions" }

func (openai) encoder(r Request, n int) encoder {
	return &openaiEncoder{
		id:      fmt.Sprintf("chatcmpl-test-%06d", n),
		model:   r.Model,
		created: time.Now().Unix(),
		usage:   r.IncludeUsage,
	}
}

func (openai) refusalBody(r refusal) string {
	return string(marshal(openaiFailure{Error: openaiError{
		Message: r.message, Type: r.errType, Param: optional(r.param), Code: optional(r.code),
	}}))
}

type openaiFailure struct {
	Error openaiError `json:"error"`
}

type openaiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
}

type openaiChunk struct {
	ID      string          `json:"id"`
	Object  string          `json:"object"`
	Created int64           `json:"created"`
	Model   string          `json:"model"`
	Choices []openaiChoice  `json:"choices"`
	Usage   json.RawMessage `json:"usage,omitempty"`
}

type openaiChoice struct {
	Index   int            `json:"index"`
	Delta   *openaiDelta   `json:"delta,omitempty"`
	Message *openaiMessage `json:"message,omitempty"`
	Finish  *string        `json:"finish_reason"`
}

type openaiDelta struct {
	Role      string           `json:"role,omitempty"`
	Content   *string          `json:"content,omitempty"`
	Reasoning string           `json:"reasoning_content,omitempty"`
	ToolCalls []openaiToolCall `json:"tool_calls,omitempty"`
}

type openaiMessage struct {
	Role      string           `json:"role"`
	Content   *string          `json:"content"`
	Reasoning string           `json:"reasoning_content,omitempty"`
	ToolCalls []openaiToolCall `json:"tool_calls,omitempty"`
}

type openaiToolCall struct {
	Index    *int           `json:"index,omitempty"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type openaiUsage struct {
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Total      int           `json:"total_tokens"`
	Details    openaiDetails `json:"completion_tokens_details"`
}

type openaiDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

type openaiEncoder struct {
	id      string
	model   string
	created int64
	usage   bool
}

func (*openaiEncoder) contentType() string { return "text/event-stream" }

func (*openaiEncoder) keepAlive() []byte { return []byte(": keep-alive\n\n") }

func (*openaiEncoder) failure(errType, message string) []byte {
	return sse(marshal(openaiFailure{Error: openaiError{Message: message, Type: errType}}))
}

func (e *openaiEncoder) frame(ev event) []byte {
	if ev.kind == eventDone {
		return []byte("data: [DONE]\n\n")
	}
	return sse(e.chunk(ev))
}

func (e *openaiEncoder) malformed(ev event) []byte {
	doc := e.chunk(ev)
	return sse(doc[:len(doc)/2])
}

func (e *openaiEncoder) chunk(ev event) []byte {
	c := openaiChunk{ID: e.id, Object: "chat.completion.chunk", Created: e.created, Model: e.model}
	if e.usage {
		c.Usage = json.RawMessage("null")
	}
	if ev.kind == eventUsage {
		c.Choices, c.Usage = []openaiChoice{}, marshal(toOpenAIUsage(ev.usage))
		return marshal(c)
	}
	choice := openaiChoice{Delta: delta(ev)}
	if ev.kind == eventFinish {
		choice.Finish = &ev.finish
	}
	c.Choices = []openaiChoice{choice}
	return marshal(c)
}

func delta(ev event) *openaiDelta {
	switch ev.kind {
	case eventRole:
		return &openaiDelta{Role: roleAssistant, Content: new("")}
	case eventReasoning:
		return &openaiDelta{Reasoning: ev.text}
	case eventText:
		return &openaiDelta{Content: &ev.text}
	case eventCall:
		call := openaiToolCall{Index: &ev.call, ID: ev.id, Type: "function", Function: openaiFunction{Name: ev.name}}
		return &openaiDelta{ToolCalls: []openaiToolCall{call}}
	case eventArgs:
		call := openaiToolCall{Index: &ev.call, Function: openaiFunction{Arguments: ev.text}}
		return &openaiDelta{ToolCalls: []openaiToolCall{call}}
	case eventFinish, eventUsage, eventDone:
	}
	return &openaiDelta{}
}

func (e *openaiEncoder) whole(events []event) []byte {
	m := &openaiMessage{Role: roleAssistant}
	choice := openaiChoice{Message: m}
	c := openaiChunk{ID: e.id, Object: "chat.completion", Created: e.created, Model: e.model}
	var text, reasoning strings.Builder
	for _, ev := range events {
		switch ev.kind {
		case eventReasoning:
			reasoning.WriteString(ev.text)
		case eventText:
			text.WriteString(ev.text)
		case eventCall:
			call := openaiToolCall{ID: ev.id, Type: "function", Function: openaiFunction{Name: ev.name}}
			m.ToolCalls = append(m.ToolCalls, call)
		case eventArgs:
			m.ToolCalls[ev.call].Function.Arguments += ev.text
		case eventFinish:
			choice.Finish = &ev.finish
		case eventDone:
			c.Usage = marshal(toOpenAIUsage(ev.usage))
		case eventRole, eventUsage:
		}
	}
	m.Content, m.Reasoning = optional(text.String()), reasoning.String()
	c.Choices = []openaiChoice{choice}
	return marshal(c)
}

func toOpenAIUsage(u usage) openaiUsage {
	return openaiUsage{
		Prompt: u.prompt, Completion: u.completion, Total: u.prompt + u.completion,
		Details: openaiDetails{Reasoning: u.reasoning},
	}
}

func sse(doc []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", doc) }

// marshal writes JSON as the vendor does: without escaping for HTML.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the types of this file always encode.
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
