package main

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
)

// viewer is an agent's middleware that draws what passes: chunks on their way from the model, calls on their way to the
// tools. There, unlike at the agent's events, chunks and the model's own events are in order.
type viewer struct {
	*adk.BaseChatModelAgentMiddleware
	screen *screen
}

func newViewer(s *screen) *viewer {
	return &viewer{BaseChatModelAgentMiddleware: &adk.BaseChatModelAgentMiddleware{}, screen: s}
}

// WrapModel draws the chunks of m.
func (v *viewer) WrapModel(_ context.Context, m model.BaseChatModel, _ *adk.ModelContext) (model.BaseChatModel, error) {
	draw := func(chunk *schema.Message) { v.screen.chunk(chunk.ReasoningContent, chunk.Content) }

	return heardModel{BaseChatModel: m, hear: draw}, nil
}

// WrapInvokableToolCall draws the call and its result.
func (v *viewer) WrapInvokableToolCall(
	_ context.Context, call adk.InvokableToolCallEndpoint, tc *adk.ToolContext,
) (adk.InvokableToolCallEndpoint, error) {
	return func(ctx context.Context, args string, opts ...tool.Option) (string, error) {
		v.screen.call(tc.Name, args)
		result, err := call(ctx, args, opts...)
		if err == nil {
			v.screen.result(result)
		}

		return result, err
	}, nil
}

// heardModel tells of each chunk of a model when it is read.
type heardModel struct {
	model.BaseChatModel
	hear func(chunk *schema.Message)
}

// Stream tells of each chunk.
func (m heardModel) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	r, err := m.BaseChatModel.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}

	return schema.StreamReaderWithConvert(r, func(chunk *schema.Message) (*schema.Message, error) {
		m.hear(chunk)

		return chunk, nil
	}), nil
}
