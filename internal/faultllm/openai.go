package faultllm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// openai is the wire of chat completions, as OpenAI and those who took it over speak it. Its form is that of "Create chat
// completion" and "Chat completion chunk object" in OpenAI's API reference.
type openai struct {
	vendor Vendor
	rules  rules
}

func (openai) key(r *http.Request) string { return bearer(r) }

func (w openai) encoder(r Request, n int) encoder {
	return &openaiEncoder{
		vendor:  w.vendor,
		id:      fmt.Sprintf("chatcmpl-test-%06d", n),
		model:   r.Model,
		created: time.Now().Unix(),
		usage:   r.IncludeUsage,
	}
}

type openaiEncoder struct {
	vendor  Vendor
	id      string
	model   string
	created int64
	usage   bool
}

func (*openaiEncoder) contentType() string { return "text/event-stream" }

// events adds the signatures that OpenRouter passes on.
func (e *openaiEncoder) events(said []event) []event {
	if e.vendor == OpenRouter {
		return signed(said)
	}
	return said
}

func (e *openaiEncoder) frame(ev event) []byte {
	if ev.kind == eventDone {
		return []byte("data: [DONE]\n\n")
	}
	return sse(marshal(e.chunk(ev)))
}

func (e *openaiEncoder) malformed(ev event) []byte {
	doc := marshal(e.chunk(ev))
	return sse(doc[:len(doc)/2])
}

func (e *openaiEncoder) empty(object string) openaiChunk {
	c := openaiChunk{ID: e.id, Object: object, Created: e.created, Model: e.model}
	if e.vendor == OpenRouter {
		c.Provider = "Example"
	}
	return c
}

func (e *openaiEncoder) chunk(ev event) openaiChunk {
	c := e.empty("chat.completion.chunk")
	if e.usage {
		c.Usage = json.RawMessage("null")
	}
	if ev.kind == eventUsage {
		c.Choices, c.Usage = []openaiChoice{}, marshal(toOpenAIUsage(ev.usage))
		return c
	}
	choice := openaiChoice{Delta: e.delta(ev)}
	if ev.kind == eventFinish {
		choice.Finish = &ev.finish
	}
	c.Choices = []openaiChoice{choice}
	return c
}

func (e *openaiEncoder) delta(ev event) *openaiDelta {
	switch ev.kind {
	case eventRole:
		return &openaiDelta{Role: roleAssistant, Content: new("")}
	case eventReasoning:
		return &openaiDelta{openaiThinking: e.thinking(ev.text, "")}
	case eventSignature:
		return &openaiDelta{openaiThinking: e.thinking("", ev.signature)}
	case eventText:
		return &openaiDelta{Content: &ev.text}
	case eventCall:
		call := openaiToolCall{Index: &ev.call, ID: ev.id, Type: "function", Function: openaiFunction{Name: ev.name}}
		return &openaiDelta{ToolCalls: []openaiToolCall{call}}
	case eventArgs:
		call := openaiToolCall{Index: &ev.call, Function: openaiFunction{Arguments: ev.text}}
		return &openaiDelta{ToolCalls: []openaiToolCall{call}}
	default: // these have no delta.
		return &openaiDelta{}
	}
}

func (e *openaiEncoder) thinking(text, signature string) openaiThinking {
	switch {
	case text == "" && signature == "":
		return openaiThinking{}
	case e.vendor != OpenRouter:
		return openaiThinking{ReasoningContent: text}
	}
	detail := openaiReasoningDetail{
		Type: "reasoning.text", Text: text, Signature: signature, Format: "anthropic-claude-v1",
	}
	return openaiThinking{Reasoning: text, Details: []openaiReasoningDetail{detail}}
}

func (e *openaiEncoder) whole(said []event) []byte {
	m := &openaiMessage{Role: roleAssistant}
	choice := openaiChoice{Message: m}
	c := e.empty("chat.completion")
	var text, reasoning strings.Builder
	for _, ev := range said {
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
		default: // the rest is only in streams.
		}
	}
	m.Content = optional(text.String())
	if r := reasoning.String(); r != "" {
		m.openaiThinking = e.thinking(r, Sign(r))
	}
	c.Choices = []openaiChoice{choice}
	return marshal(c)
}

func sse(doc []byte) []byte { return fmt.Appendf(nil, "data: %s\n\n", doc) }

// marshal writes JSON as the vendors do: without escaping for HTML.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // the types of this package always encode.
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
