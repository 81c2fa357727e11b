package faultmodel

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// agenticKey is the Extra key under which an agentic message travels through the machinery for *schema.Message.
const agenticKey = "faultmodel_agentic"

// AgenticModel is a scripted model of *schema.AgenticMessage. It is [Model] in all else.
type AgenticModel struct{ *Model }

var _ model.AgenticModel = AgenticModel{}

// NewAgentic returns a model that answers request n with script n, whose chunks are agentic steps.
func NewAgentic(scripts ...Script) AgenticModel { return AgenticModel{New(scripts...)} }

// RespondAgentic is [Respond] for agentic messages.
func RespondAgentic(answer func(n int, input []*schema.AgenticMessage) Script) AgenticModel {
	return AgenticModel{Respond(func(n int, input []*schema.Message) Script { return answer(n, unpackAll(input)) })}
}

// AgenticChunk sends a deep copy of msg as it is.
func AgenticChunk(msg *schema.AgenticMessage) Step { return Step{msg: pack(msg)} }

func pack(msg *schema.AgenticMessage) *schema.Message {
	if msg == nil {
		return nil
	}
	return &schema.Message{Role: schema.RoleType(msg.Role), Extra: map[string]any{agenticKey: msg}}
}

func unpack(msg *schema.Message) *schema.AgenticMessage {
	if msg == nil {
		return nil
	}
	m, _ := msg.Extra[agenticKey].(*schema.AgenticMessage)
	return m
}

func packAll(in []*schema.AgenticMessage) []*schema.Message {
	out := make([]*schema.Message, len(in))
	for i, m := range in {
		out[i] = pack(m)
	}
	return out
}

func unpackAll(in []*schema.Message) []*schema.AgenticMessage {
	out := make([]*schema.AgenticMessage, len(in))
	for i, m := range in {
		out[i] = unpack(m)
	}
	return out
}

// Agentic returns the input of a request to an [AgenticModel].
func (r Request) Agentic() []*schema.AgenticMessage { return unpackAll(r.Messages) }

// Stream answers with the next script. The reader must be closed, once.
func (m AgenticModel) Stream(
	ctx context.Context, input []*schema.AgenticMessage, opts ...model.Option,
) (*schema.StreamReader[*schema.AgenticMessage], error) {
	reader, err := m.Model.Stream(ctx, packAll(input), opts...)
	if err != nil || reader == nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(reader, func(msg *schema.Message) (*schema.AgenticMessage, error) {
		return unpack(msg), nil
	}), nil
}

// Generate plays the next script to its end and returns its concatenation, or the script's error.
func (m AgenticModel) Generate(
	ctx context.Context, input []*schema.AgenticMessage, opts ...model.Option,
) (*schema.AgenticMessage, error) {
	reader, err := m.Stream(ctx, input, opts...)
	if err != nil || reader == nil {
		return nil, err
	}
	chunks, err := CollectAny(reader)
	if err != nil {
		return nil, err
	}
	return schema.ConcatAgenticMessages(chunks)
}

// AgenticChunks returns copies of the script's chunks.
func (s Script) AgenticChunks() []*schema.AgenticMessage {
	return clone(unpackAll(s.chunks()))
}

// ConcatAgentic returns the message that chunks add up to. It fails the test if they do not.
func ConcatAgentic(tb testing.TB, chunks []*schema.AgenticMessage) *schema.AgenticMessage {
	tb.Helper()
	all := append(clone(chunks), new(schema.AgenticMessage)) // a list of one is returned as it is
	msg, err := schema.ConcatAgenticMessages(all)
	if err != nil {
		tb.Fatalf("the chunks do not add up to a message: %v", err)
	}
	return msg
}

// CollectAny is [Collect] for any type of message.
func CollectAny[M any](reader *schema.StreamReader[M]) ([]M, error) {
	defer reader.Close()
	var chunks []M
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
