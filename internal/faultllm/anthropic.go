package faultllm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// anthropic is the wire of messages. Its form is that of "Create a Message" in Anthropic's API reference, of "Streaming
// Messages" and of "Building with extended thinking" in the Claude docs.
type anthropic struct{ rules rules }

func (anthropic) key(r *http.Request) string {
	if key := r.Header.Get("X-Api-Key"); key != "" {
		return key
	}
	return bearer(r)
}

func (anthropic) encoder(r Request, n int) encoder {
	return &anthropicEncoder{id: fmt.Sprintf("msg_test%06d", n), model: r.Model, prompt: PromptTokens(r)}
}

type anthropicEncoder struct {
	id     string
	model  string
	prompt int // tokens
}

type anthropicMessage struct {
	ID           string           `json:"id"`
	Type         string           `json:"type"`
	Role         string           `json:"role"`
	Model        string           `json:"model"`
	Content      []anthropicBlock `json:"content"`
	StopReason   *string          `json:"stop_reason"`
	StopSequence *string          `json:"stop_sequence"`
	Usage        anthropicUsage   `json:"usage"`
}

// anthropicBlock is a content block of a response.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      *string         `json:"text,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	Data      string          `json:"data,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
}

type anthropicUsage struct {
	Input   int               `json:"input_tokens"`
	Output  int               `json:"output_tokens"`
	Details *anthropicDetails `json:"output_tokens_details,omitempty"`
}

type anthropicDetails struct {
	Thinking int `json:"thinking_tokens"`
}

func toAnthropicUsage(u usage) anthropicUsage {
	out := anthropicUsage{Input: u.prompt, Output: u.completion}
	if u.reasoning > 0 {
		out.Details = &anthropicDetails{Thinking: u.reasoning}
	}
	return out
}

func (e *anthropicEncoder) message() anthropicMessage {
	return anthropicMessage{
		ID: e.id, Type: "message", Role: roleAssistant, Model: e.model, Content: []anthropicBlock{},
		Usage: anthropicUsage{Input: e.prompt, Output: 1},
	}
}

func anthropicFinish(reason string) *string {
	switch reason {
	case "":
		return nil
	case "stop":
		return new("end_turn")
	case "tool_calls":
		return new("tool_use")
	case "length":
		return new("max_tokens")
	}
	return &reason
}

func (e *anthropicEncoder) whole(said []event) []byte {
	m := e.message()
	for _, ev := range e.events(said) {
		last := len(m.Content) - 1
		switch ev.kind {
		case eventOpen, eventCall:
			m.Content = append(m.Content, openBlock(ev))
		case eventReasoning:
			*m.Content[last].Thinking += ev.text
		case eventSignature:
			m.Content[last].Signature = &ev.signature
		case eventText:
			*m.Content[last].Text += ev.text
		case eventArgs:
			if string(m.Content[last].Input) == "{}" {
				m.Content[last].Input = nil
			}
			m.Content[last].Input = append(m.Content[last].Input, ev.text...)
		case eventFinish:
			m.StopReason, m.Usage = anthropicFinish(ev.finish), toAnthropicUsage(ev.usage)
		default: // the rest is only in streams.
		}
	}
	return marshal(m)
}

// openBlock returns a content block as it begins.
func openBlock(ev event) anthropicBlock {
	switch {
	case ev.kind == eventCall:
		return anthropicBlock{Type: "tool_use", ID: ev.id, Name: ev.name, Input: json.RawMessage("{}")}
	case ev.of == eventRedacted:
		return anthropicBlock{Type: "redacted_thinking", Data: ev.signature}
	case ev.of == eventReasoning:
		return anthropicBlock{Type: "thinking", Thinking: new(""), Signature: new("")}
	default:
		return anthropicBlock{Type: "text", Text: new("")}
	}
}

// blocks plans the content blocks of an answer.
type blocks struct {
	out  []event
	next int // the number of the next block
	open bool
	of   eventKind
}

// events puts what is said into content blocks. The stop reason and the usage come in one frame, when all is said.
func (e *anthropicEncoder) events(said []event) []event {
	var b blocks
	finish := ""
	for _, ev := range signed(said) {
		switch ev.kind {
		case eventReasoning, eventText:
			b.enter(ev.kind)
			b.add(ev)
		case eventCall:
			b.leave()
			b.begin(eventCall, ev)
		case eventRedacted:
			b.leave()
			b.begin(eventRedacted, event{kind: eventOpen, of: eventRedacted, signature: ev.signature})
			b.leave()
		case eventArgs, eventSignature:
			b.add(ev)
		case eventFinish:
			finish = ev.finish
		case eventDone:
			b.leave()
			b.out = append(b.out, event{kind: eventFinish, finish: finish, usage: ev.usage}, event{kind: eventDone})
		case eventRole:
			b.out = append(b.out, ev)
		default: // usage comes with the stop reason.
		}
	}
	return b.out
}

// enter makes sure that a block of a kind is open.
func (b *blocks) enter(kind eventKind) {
	if b.open && b.of == kind {
		return
	}
	b.leave()
	b.begin(kind, event{kind: eventOpen, of: kind})
}

func (b *blocks) begin(kind eventKind, ev event) {
	b.open, b.of = true, kind
	b.next++
	b.add(ev)
	if b.next == 1 {
		b.out = append(b.out, event{kind: eventPing})
	}
}

func (b *blocks) leave() {
	if b.open {
		b.add(event{kind: eventClose})
		b.open = false
	}
}

func (b *blocks) add(ev event) {
	ev.block = b.next - 1
	b.out = append(b.out, ev)
}
