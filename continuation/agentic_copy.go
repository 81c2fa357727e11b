package continuation

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"
)

// copyBlock returns a copy of a block that was handed on, whose owner may change it. What its extensions point at is the
// client's and is shared.
func copyBlock(b *schema.ContentBlock) *schema.ContentBlock {
	c := *b
	c.Reasoning = copied(b.Reasoning)
	c.AssistantGenText = copied(b.AssistantGenText)
	c.FunctionToolCall = copied(b.FunctionToolCall)
	c.ServerToolCall = copied(b.ServerToolCall)
	c.ServerToolResult = copied(b.ServerToolResult)
	c.MCPToolCall = copied(b.MCPToolCall)
	c.MCPToolResult = copied(b.MCPToolResult)
	c.MCPListToolsResult = copied(b.MCPListToolsResult)
	c.MCPToolApprovalRequest = copied(b.MCPToolApprovalRequest)
	c.StreamingMeta = copied(b.StreamingMeta)
	c.Extra = maps.Clone(b.Extra)

	return &c
}

func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p

	return &c
}

// withBlocks returns a copy of m with these blocks.
func withBlocks(m *schema.AgenticMessage, content []*schema.ContentBlock) *schema.AgenticMessage {
	c := *m
	c.ContentBlocks = content

	return &c
}

// lastOf returns the last block of m that is one, and its position; nil if there is none.
func lastOf(m *schema.AgenticMessage) (*schema.ContentBlock, int) {
	for i, b := range slices.Backward(m.ContentBlocks) {
		if b != nil {
			return b, i
		}
	}

	return nil, -1
}
