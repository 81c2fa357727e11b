package faultllm

import "fmt"

func (*anthropicEncoder) contentType() string { return "text/event-stream; charset=utf-8" }

func (*anthropicEncoder) keepAlive() []byte { return named("ping", []byte(`{"type": "ping"}`)) }

func named(name string, doc []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, doc)
}

func (e *anthropicEncoder) frame(ev event) []byte {
	name, doc := e.event(ev)
	return named(name, doc)
}

func (e *anthropicEncoder) malformed(ev event) []byte {
	name, doc := e.event(ev)
	return named(name, doc[:len(doc)/2])
}

type anthropicStart struct {
	Type    string           `json:"type"`
	Message anthropicMessage `json:"message"`
}

type anthropicBlockStart struct {
	Type  string         `json:"type"`
	Index int            `json:"index"`
	Block anthropicBlock `json:"content_block"`
}

type anthropicBlockDelta struct {
	Type  string         `json:"type"`
	Index int            `json:"index"`
	Delta anthropicDelta `json:"delta"`
}

type anthropicDelta struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Partial   string `json:"partial_json,omitempty"`
}

type anthropicBlockStop struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type anthropicEnd struct {
	Type  string          `json:"type"`
	Delta anthropicReason `json:"delta"`
	Usage anthropicUsage  `json:"usage"`
}

type anthropicReason struct {
	StopReason   *string `json:"stop_reason"`
	StopSequence *string `json:"stop_sequence"`
}

// event returns the name and the document of an event.
func (e *anthropicEncoder) event(ev event) (name string, doc []byte) {
	switch ev.kind {
	case eventRole:
		name = "message_start"
		return name, marshal(anthropicStart{Type: name, Message: e.message()})
	case eventOpen, eventCall:
		name = "content_block_start"
		return name, marshal(anthropicBlockStart{Type: name, Index: ev.block, Block: openBlock(ev)})
	case eventClose:
		name = "content_block_stop"
		return name, marshal(anthropicBlockStop{Type: name, Index: ev.block})
	case eventFinish:
		name = "message_delta"
		reason := anthropicReason{StopReason: anthropicFinish(ev.finish)}
		return name, marshal(anthropicEnd{Type: name, Delta: reason, Usage: toAnthropicUsage(ev.usage)})
	case eventDone:
		return "message_stop", []byte(`{"type":"message_stop"}`)
	case eventPing:
		return "ping", []byte(`{"type": "ping"}`)
	default:
		name = "content_block_delta"
		return name, marshal(anthropicBlockDelta{Type: name, Index: ev.block, Delta: anthropicDeltaOf(ev)})
	}
}

func anthropicDeltaOf(ev event) anthropicDelta {
	switch ev.kind {
	case eventReasoning:
		return anthropicDelta{Type: "thinking_delta", Thinking: ev.text}
	case eventSignature:
		return anthropicDelta{Type: "signature_delta", Signature: ev.signature}
	case eventArgs:
		return anthropicDelta{Type: "input_json_delta", Partial: ev.text}
	default:
		return anthropicDelta{Type: "text_delta", Text: ev.text}
	}
}
