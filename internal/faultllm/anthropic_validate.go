package faultllm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// part refuses a content block that is wrong by itself.
func (w anthropic) part(i, j int, p anthropicPart) *refusal {
	at := fmt.Sprintf("messages.%d.content.%d", i, j)
	switch p.Type {
	case "text":
		return w.text(p.Text)
	case "thinking":
		switch p.Signature {
		case "":
			return w.invalid("%s.thinking.signature: Field required", at)
		case Sign(p.Thinking):
			return nil
		}
		return w.invalid("%s: Invalid `signature` in `thinking` block", at)
	case "tool_use":
		return w.toolUse(at, p)
	case "tool_result":
		if _, ok := contentText(p.Content); !ok {
			return w.invalid("%s.tool_result.content: Input should be a valid list", at)
		}
		return nil
	case "redacted_thinking":
		if w.rules.script.redacted(p.Data) {
			return nil
		}
		return w.invalid("%s: Invalid `data` in `redacted_thinking` block", at)
	case "image", "document":
		return nil
	}
	return w.invalid("%s: Input tag '%s' found using 'type' does not match any of the expected tags", at, p.Type)
}

func (w anthropic) text(s string) *refusal {
	switch {
	case s == "":
		return w.invalid("messages: text content blocks must be non-empty")
	case strings.TrimSpace(s) == "":
		return w.invalid("messages: text content blocks must contain non-whitespace text")
	}
	return nil
}

func (w anthropic) toolUse(at string, p anthropicPart) *refusal {
	var input map[string]any
	switch {
	case !regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(p.ID):
		return w.invalid("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", at)
	case p.Name == "":
		return w.invalid("%s.tool_use.name: String should have at least 1 character", at)
	case absent(p.Input):
		return w.invalid("%s.tool_use.input: Field required", at)
	case json.Unmarshal(p.Input, &input) != nil:
		return w.invalid("%s.tool_use.input: Input should be a valid dictionary", at)
	}
	return nil
}

// validate refuses turns that do not go together.
func (w anthropic) validate(in anthropicRequest, turns []anthropicIncoming) *refusal {
	if turns[0].Role != roleUser {
		return w.invalid("messages: first message must use the \"user\" role")
	}
	ids := map[string]bool{}
	var open []string
	for i, m := range turns {
		var refused *refusal
		if m.Role == roleUser {
			refused = w.userTurn(i, m.blocks, open)
			open = nil
		} else {
			open, refused = w.assistantTurn(i, m.blocks, ids)
		}
		if refused != nil {
			return refused
		}
	}
	if len(open) > 0 {
		return w.unanswered(len(turns)-1, open)
	}
	if in.Thinking.Type == "enabled" {
		if refused := w.thinkingFirst(turns); refused != nil {
			return refused
		}
	}
	return w.final(turns)
}

// userTurn refuses results that do not answer the calls of the turn before, which come first.
func (w anthropic) userTurn(i int, parts []anthropicPart, open []string) *refusal {
	first, missing := true, slices.Clone(open)
	for j, p := range parts {
		if p.Type != "tool_result" {
			first = false
			continue
		}
		at := slices.Index(missing, p.ToolUseID)
		switch {
		case at >= 0 && first:
			missing = slices.Delete(missing, at, at+1)
		case at >= 0: // the others are not immediately after.
		case slices.Contains(open, p.ToolUseID):
			return w.invalid("messages.%d.content.%d: each tool_use must have a single result. "+
				"Found multiple `tool_result` blocks with id: %s", i, j, p.ToolUseID)
		default:
			return w.invalid("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each "+
				"`tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, p.ToolUseID)
		}
	}
	if len(missing) > 0 {
		return w.unanswered(i-1, missing)
	}
	return nil
}

func (w anthropic) unanswered(i int, ids []string) *refusal {
	return w.invalid("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each "+
		"`tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids, ", "))
}

// assistantTurn returns the calls that wait for their results.
func (w anthropic) assistantTurn(i int, parts []anthropicPart, ids map[string]bool) (open []string, refused *refusal) {
	for j, p := range parts {
		switch p.Type {
		case "tool_use":
			if ids[p.ID] {
				return nil, w.invalid("messages.%d.content.%d: `tool_use` ids must be unique", i, j)
			}
			ids[p.ID] = true
			open = append(open, p.ID)
		case "tool_result":
			return nil, w.invalid("messages.%d.content.%d: `tool_result` blocks can only be in `user` messages", i, j)
		}
	}
	if parts[len(parts)-1].Type == "thinking" {
		return nil, w.invalid("messages.%d: The final block in an assistant message cannot be `thinking`.", i)
	}
	return open, nil
}

// thinkingFirst refuses an answer that is still going on and does not begin with its thinking. The server knows of its
// own answers whether they had any.
func (w anthropic) thinkingFirst(turns []anthropicIncoming) *refusal {
	last := len(turns) - 1
	if turns[last].Role == roleUser && turns[last].blocks[0].Type == "tool_result" {
		last--
	}
	first := turns[last].blocks[0].Type
	if turns[last].Role == roleUser || first == "thinking" || first == "redacted_thinking" {
		return nil
	}
	for _, p := range turns[last].blocks {
		call := ToolCall{ID: p.ID, Name: p.Name, Args: string(p.Input)}
		if p.Type == "tool_use" && !w.rules.script.thinksBefore(call) {
			return nil
		}
	}
	return w.invalid("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When "+
		"`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set "+
		"of `tool_use` and `tool_result` blocks).", last, turns[last].blocks[0].Type)
}

// final refuses a prefill.
func (w anthropic) final(turns []anthropicIncoming) *refusal {
	last := turns[len(turns)-1]
	if last.Role != roleAssistant {
		return nil
	}
	if w.rules.noPrefill {
		refused := w.invalid("%s", noPrefillText)
		refused.never = true
		return refused
	}
	end := last.blocks[len(last.blocks)-1]
	if end.Type == "text" && strings.TrimRightFunc(end.Text, unicode.IsSpace) != end.Text {
		return w.invalid("messages: final assistant content cannot end with trailing whitespace")
	}
	return nil
}
