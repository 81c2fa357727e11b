package faultmodel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// ValidAgentic returns what a strict provider of agentic messages would refuse in a request; nil if there is nothing.
func ValidAgentic(input []*schema.AgenticMessage) error {
	if len(input) == 0 {
		return errors.New("there are no messages")
	}
	open := map[string]bool{} // function calls that wait for their results
	for i, m := range input {
		if m == nil {
			return fmt.Errorf("message %d is nil", i)
		}
		if len(m.ContentBlocks) == 0 {
			return fmt.Errorf("message %d is empty", i)
		}
		if i > 0 && m.Role == schema.AgenticRoleTypeAssistant && input[i-1].Role == m.Role {
			return fmt.Errorf("message %d: two answers in a row", i)
		}
		v := agenticMessage{blocks: m.ContentBlocks, last: i == len(input)-1, open: open}
		check := v.user
		if m.Role == schema.AgenticRoleTypeAssistant {
			check = v.assistant
		}
		if err := check(); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("function calls without results: %v", open)
	}
	return nil
}

type agenticMessage struct {
	blocks []*schema.ContentBlock
	last   bool
	open   map[string]bool
}

func (m agenticMessage) user() error {
	results := false
	for _, b := range m.blocks {
		switch {
		case b.UserInputText != nil:
			if strings.TrimSpace(b.UserInputText.Text) == "" {
				return errors.New("empty text")
			}
		case b.FunctionToolResult != nil:
			if !m.open[b.FunctionToolResult.CallID] {
				return fmt.Errorf("a result without a call: %q", b.FunctionToolResult.CallID)
			}
			delete(m.open, b.FunctionToolResult.CallID)
			results = true
		default:
			return fmt.Errorf("a block of type %q", b.Type)
		}
	}
	if !results && len(m.open) > 0 {
		return fmt.Errorf("function calls without results: %v", m.open)
	}
	return nil
}

func (m agenticMessage) assistant() error {
	if len(m.open) > 0 {
		return fmt.Errorf("function calls without results: %v", m.open)
	}
	runs := map[string]bool{}
	for i, b := range m.blocks {
		if b == nil {
			return errors.New("a nil block")
		}
		if b.StreamingMeta != nil {
			return errors.New("a block with streaming meta")
		}
		if err := m.block(i, b, runs); err != nil {
			return err
		}
	}
	for id, answered := range runs {
		if !answered {
			return fmt.Errorf("the provider's call %q has no result", id)
		}
	}
	return nil
}

func (m agenticMessage) block(i int, b *schema.ContentBlock, runs map[string]bool) error {
	end := i == len(m.blocks)-1
	switch {
	case b.AssistantGenText != nil:
		return checkText(b.AssistantGenText.Text, end && m.last)
	case b.Reasoning != nil:
		if end {
			return errors.New("it ends with a thought")
		}
		if b.Reasoning.Signature == "" {
			return errors.New("a thought without a signature")
		}
	case b.FunctionToolCall != nil:
		if !json.Valid([]byte(b.FunctionToolCall.Arguments)) || b.FunctionToolCall.Name == "" {
			return fmt.Errorf("half a function call: %q", b.FunctionToolCall.Arguments)
		}
		m.open[b.FunctionToolCall.CallID] = true
	case b.ServerToolCall != nil, b.MCPToolCall != nil:
		runs[runID(b)] = false
	case b.ServerToolResult != nil, b.MCPToolResult != nil:
		if _, ok := runs[runID(b)]; !ok {
			return fmt.Errorf("a result without a call: %q", runID(b))
		}
		runs[runID(b)] = true
	case b.MCPListToolsResult != nil:
	default:
		return fmt.Errorf("a block of type %q", b.Type)
	}
	return nil
}

func checkText(text string, last bool) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("a text block without text")
	case last && strings.TrimSpace(text[len(text)-1:]) == "":
		return errors.New("the answer ends with white space")
	default:
		return nil
	}
}
