package continuation

import (
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"
)

// copyMessage returns a copy of a chunk for one who may write to it while others read theirs. What its extras and its
// media parts point at is the client's and is shared.
func copyMessage(m *schema.Message) *schema.Message {
	c := *m
	c.Extra = maps.Clone(m.Extra)
	c.ToolCalls = slices.Clone(m.ToolCalls)
	c.AssistantGenMultiContent = slices.Clone(m.AssistantGenMultiContent)
	if c.ResponseMeta = copied(m.ResponseMeta); c.ResponseMeta != nil {
		c.ResponseMeta.Usage = copied(m.ResponseMeta.Usage)
	}

	return &c
}

// copyAgentic is copyMessage for agentic messages.
func copyAgentic(m *schema.AgenticMessage) *schema.AgenticMessage {
	if m == nil {
		return nil
	}
	c := *m
	c.Extra = maps.Clone(m.Extra)
	c.ContentBlocks = slices.Clone(m.ContentBlocks)
	for i, b := range c.ContentBlocks {
		if b != nil {
			c.ContentBlocks[i] = copyBlock(b)
		}
	}
	if c.ResponseMeta = copied(m.ResponseMeta); c.ResponseMeta != nil {
		c.ResponseMeta.TokenUsage = copied(m.ResponseMeta.TokenUsage)
	}

	return &c
}
