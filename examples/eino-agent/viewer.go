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
	return viewedModel{BaseChatModel: m, screen: v.screen}, nil
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

type viewedModel struct {
	model.BaseChatModel
	screen *screen
}

// Stream draws each chunk when it is read.
func (m viewedModel) Stream(
	ctx context.Context, in []*schema.Message, opts ...model.Option,
) (*schema.StreamReader[*schema.Message], error) {
	r, err := m.BaseChatModel.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}

	return schema.StreamReaderWithConvert(r, func(chunk *schema.Message) (*schema.Message, error) {
		m.screen.chunk(chunk.ReasoningContent, chunk.Content)

		return chunk, nil
	}), nil
}
