package faultmodel

import (
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// Collect reads until the first error, closes reader and returns the chunks with that error, nil at a clean end.
func Collect(reader *schema.StreamReader[*schema.Message]) ([]*schema.Message, error) {
	defer reader.Close()
	var chunks []*schema.Message
	for {
		chunk, err := reader.Recv()
		if isEnd(err) {
			return chunks, nil
		}
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
}

// Concat returns the message that chunks add up to. It fails the test if they do not.
func Concat(tb testing.TB, chunks []*schema.Message) *schema.Message {
	tb.Helper()
	msg, err := schema.ConcatMessages(clone(chunks))
	if err != nil {
		tb.Fatalf("the chunks do not add up to a message: %v", err)
	}
	return msg
}

// Message returns what the script's chunks add up to, as if none of its faults were there.
func (s Script) Message(tb testing.TB) *schema.Message {
	tb.Helper()
	return Concat(tb, s.chunks())
}

// Chunks returns the number of the script's chunks.
func (s Script) Chunks() int {
	return len(s.chunks())
}

// Text returns the content of all chunks.
func (s Script) Text() string {
	var text strings.Builder
	for _, msg := range s.chunks() {
		text.WriteString(msg.Content)
	}
	return text.String()
}

// Tokens returns what the whole script is billed: one token a byte of text, reasoning and tool arguments.
func (s Script) Tokens() int {
	n := 0
	for _, msg := range s.chunks() {
		n += billable(msg)
	}
	return n
}

// billable is the price of a chunk.
func billable(msg *schema.Message) int {
	n := len(msg.Content) + len(msg.ReasoningContent)
	for _, part := range msg.AssistantGenMultiContent {
		n += len(part.Text)
		if part.Reasoning != nil {
			n += len(part.Reasoning.Text)
		}
	}
	for _, call := range msg.ToolCalls {
		n += len(call.Function.Arguments)
	}
	return n
}

// promptBytes is the price of an input message.
func promptBytes(msg *schema.Message) int {
	if msg == nil {
		return 0
	}
	n := billable(msg)
	for _, call := range msg.ToolCalls {
		n += len(call.Function.Name)
	}
	for _, part := range msg.UserInputMultiContent {
		n += len(part.Text)
	}
	return n
}

// isEnd reports a clean end; a wrapped io.EOF is none.
func isEnd(err error) bool {
	return err == io.EOF //nolint:errorlint // identity is meant
}
