package faultmodel

import (
	"context"

	"github.com/cloudwego/eino/schema"
)

// Step is one entry of a script: a chunk, a fault, a silence. Steps are immutable and may be used in many scripts,
// models and goroutines. The zero Step does nothing.
type Step struct {
	msg  *schema.Message                             // a chunk; copied for each request
	run  func(ctx context.Context, a *attempt) error // done by the producer; an error ends the script
	open func(ctx context.Context) error             // done inside Stream, before there is a reader
	more []Step
}

// Script is what one request is answered with. Its steps are played literally, in order: what stands after an error
// or an end is still sent, as raw providers do. The end of a script is a clean io.EOF, now and at every later Recv.
type Script []Step

// Chunk sends a deep copy of msg as it is, whatever it holds. msg must not change afterwards.
func Chunk(msg *schema.Message) Step {
	if msg == nil {
		return Nil()
	}
	return Step{msg: msg}
}

// Text sends a chunk with s as its content. An empty s is a keep-alive.
func Text(s string) Step {
	return Step{msg: &schema.Message{Role: schema.Assistant, Content: s}}
}

// Reasoning sends a chunk with s as its reasoning content.
func Reasoning(s string) Step {
	return Step{msg: &schema.Message{Role: schema.Assistant, ReasoningContent: s}}
}

// Role sends the chunk that many providers begin with: a role and nothing else.
func Role() Step {
	return Text("")
}

// Call sends a piece of the tool call at index: its id and name, as a rule in the first piece only, and args, the
// next bytes of its arguments. A piece with an id or a name has the type "function".
func Call(index int, id, name, args string) Step {
	s := CallNoIndex(id, name, args)
	s.msg.ToolCalls[0].Index = &index
	return s
}

// CallNoIndex is Call for clients that give tool calls no index.
func CallNoIndex(id, name, args string) Step {
	call := schema.ToolCall{ID: id, Function: schema.FunctionCall{Name: name, Arguments: args}}
	if id != "" || name != "" {
		call.Type = "function"
	}
	return Step{msg: &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{call}}}
}

// Usage sends a chunk with a usage record only; its total is the sum of both.
func Usage(prompt, completion int) Step {
	return meta("", usageOf(prompt, completion))
}

// Finish sends a chunk with a finish reason only.
func Finish(reason string) Step {
	return meta(reason, nil)
}

// FinishUsage sends one chunk with a finish reason and a usage record.
func FinishUsage(reason string, prompt, completion int) Step {
	return meta(reason, usageOf(prompt, completion))
}

func meta(reason string, usage *schema.TokenUsage) Step {
	return Step{msg: &schema.Message{
		Role:         schema.Assistant,
		ResponseMeta: &schema.ResponseMeta{FinishReason: reason, Usage: usage},
	}}
}

func usageOf(prompt, completion int) *schema.TokenUsage {
	return &schema.TokenUsage{
		PromptTokens:     prompt,
		CompletionTokens: completion,
		TotalTokens:      prompt + completion,
	}
}

// flat is s without groups.
func (s Script) flat() Script {
	var out Script
	for _, step := range s {
		if len(step.more) > 0 {
			out = append(out, Script(step.more).flat()...)
			continue
		}
		out = append(out, step)
	}
	return out
}

// chunks returns the messages of the script's chunks, not copied.
func (s Script) chunks() []*schema.Message {
	var out []*schema.Message
	for _, step := range s.flat() {
		if step.msg != nil {
			out = append(out, step.msg)
		}
	}
	return out
}
