package faultmodel

import (
	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
)

// Block sends a chunk with one block. With an index of -1 it has no streaming meta.
func Block(index int, block *schema.ContentBlock) Step {
	if index >= 0 {
		block.StreamingMeta = &schema.StreamingMeta{Index: index}
	}
	return AgenticChunk(&schema.AgenticMessage{
		Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{block},
	})
}

// BlockText sends a piece of the text block at index.
func BlockText(index int, s string) Step {
	return Block(index, schema.NewContentBlock(&schema.AssistantGenText{Text: s}))
}

// BlockThought sends a piece of the reasoning block at index, or its signature.
func BlockThought(index int, s, signature string) Step {
	return Block(index, schema.NewContentBlock(&schema.Reasoning{Text: s, Signature: signature}))
}

// BlockCall sends a piece of the function tool call at index.
func BlockCall(index int, id, name, args string) Step {
	return Block(index, schema.NewContentBlock(&schema.FunctionToolCall{CallID: id, Name: name, Arguments: args}))
}

// BlockServerCall sends a call of a tool that the provider runs.
func BlockServerCall(index int, id, name, args string) Step {
	return Block(index, schema.NewContentBlock(&schema.ServerToolCall{CallID: id, Name: name, Arguments: args}))
}

// BlockServerResult sends the result of a tool that the provider ran.
func BlockServerResult(index int, id, name, content string) Step {
	return Block(index, schema.NewContentBlock(&schema.ServerToolResult{CallID: id, Name: name, Content: content}))
}

// BlockMCPCall sends a piece of a call of an MCP tool.
func BlockMCPCall(index int, id, name, args string) Step {
	return Block(index, schema.NewContentBlock(&schema.MCPToolCall{
		ServerLabel: "files", CallID: id, Name: name, Arguments: args,
	}))
}

// BlockMCPResult sends the result of an MCP tool.
func BlockMCPResult(index int, id, name, content string) Step {
	return Block(index, schema.NewContentBlock(&schema.MCPToolResult{
		ServerLabel: "files", CallID: id, Name: name, Content: content,
	}))
}

// StopReason sends a chunk with a finish reason, as the Claude client does, and a usage record.
func StopReason(reason string, prompt, completion int) Step {
	return AgenticChunk(&schema.AgenticMessage{
		Role: schema.AgenticRoleTypeAssistant,
		ResponseMeta: &schema.AgenticResponseMeta{
			TokenUsage:      usageOf(prompt, completion),
			ClaudeExtension: &claude.ResponseMetaExtension{StopReason: reason},
		},
	})
}
