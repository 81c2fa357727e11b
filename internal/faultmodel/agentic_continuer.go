package faultmodel

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// AgenticContinuer is [Continuer] for agentic messages: a model that has one answer and goes on from what a request
// carries of it, text and what the provider ran, and from nowhere else. What it sends counts its blocks from 0 in every
// answer, as providers do. A request that [ValidAgentic] does not pass is refused.
func AgenticContinuer(answer Script, breaks ...Break) AgenticModel {
	answer = answer.flat()
	return AgenticModel{fromAnswerer(func(n int, in []*schema.Message) (Script, error) {
		input := unpackAll(in)
		if err := ValidAgentic(input); err != nil {
			return nil, err
		}
		script := answer.fromPartial(partialBlocks(input))
		if n < len(breaks) {
			script = breaks[n].cut(script)
		}
		return script, nil
	})}
}

// partialBlocks returns the blocks of the assistant message that input ends in, a user message apart.
func partialBlocks(input []*schema.AgenticMessage) []*schema.ContentBlock {
	end := len(input) - 1
	if end > 0 && input[end].Role == schema.AgenticRoleTypeUser {
		end--
	}
	if end < 0 || input[end].Role != schema.AgenticRoleTypeAssistant {
		return nil
	}
	return input[end].ContentBlocks
}

// carried is what a partial answer holds.
type carried struct {
	text string
	runs []string // ids
}

func carriedBy(blocks []*schema.ContentBlock) carried {
	var c carried
	for _, b := range blocks {
		switch {
		case b.AssistantGenText != nil:
			c.text += b.AssistantGenText.Text
		case runID(b) != "":
			c.runs = append(c.runs, runID(b))
		}
	}
	return c
}

// runID returns the id of what the provider ran, or its name if it has none; empty if b is nothing of that kind.
func runID(b *schema.ContentBlock) string {
	switch {
	case b.ServerToolCall != nil:
		return cmp.Or(b.ServerToolCall.CallID, b.ServerToolCall.Name)
	case b.ServerToolResult != nil:
		return cmp.Or(b.ServerToolResult.CallID, b.ServerToolResult.Name)
	case b.MCPToolCall != nil:
		return b.MCPToolCall.CallID
	case b.MCPToolResult != nil:
		return b.MCPToolResult.CallID
	case b.MCPListToolsResult != nil:
		return b.MCPListToolsResult.ServerLabel
	case b.MCPToolApprovalRequest != nil:
		return b.MCPToolApprovalRequest.ID
	default:
		return ""
	}
}

// fromPartial returns what follows a partial answer, its blocks counted from 0. Thoughts before that place are left out,
// function calls come whole. The text may have been cut at its white space, which then comes again.
func (s Script) fromPartial(blocks []*schema.ContentBlock) Script {
	r := agenticRest{carried: carriedBy(blocks), ids: s.runIDs(), places: map[int]int{}}
	if r.text == "" && len(r.runs) == 0 || !strings.HasPrefix(s.agenticText(), r.text) {
		return s
	}
	var out Script
	for _, m := range s.AgenticChunks() {
		m.ContentBlocks = slices.DeleteFunc(m.ContentBlocks, r.known)
		for _, b := range m.ContentBlocks {
			b.StreamingMeta = r.place(b)
		}
		if len(m.ContentBlocks) > 0 || m.ResponseMeta != nil {
			out = append(out, AgenticChunk(m))
		}
	}
	return out
}

// agenticRest takes from an answer what a request carries of it.
type agenticRest struct {
	carried
	ids    map[int]string
	places map[int]int // of the blocks that are left
	at     int         // bytes of text seen
	begun  bool        // what is left has begun
}

// known reports whether the request carries all of b. Of a text it takes what is carried.
func (r *agenticRest) known(b *schema.ContentBlock) bool {
	switch {
	case b.AssistantGenText != nil:
		n := len(b.AssistantGenText.Text)
		skip := min(n, max(0, len(r.text)-r.at))
		r.at += n
		b.AssistantGenText.Text = b.AssistantGenText.Text[skip:]
		r.begun = r.begun || skip < n
		return skip == n && (n > 0 || !r.begun)
	case b.Reasoning != nil:
		return !r.begun
	case r.ids[b.StreamingMeta.Index] != "":
		known := slices.Contains(r.runs, r.ids[b.StreamingMeta.Index])
		r.begun = r.begun || !known
		return known
	default:
		return false
	}
}

func (r *agenticRest) place(b *schema.ContentBlock) *schema.StreamingMeta {
	i, ok := r.places[b.StreamingMeta.Index]
	if !ok {
		i = len(r.places)
		r.places[b.StreamingMeta.Index] = i
	}
	return &schema.StreamingMeta{Index: i}
}

func (s Script) agenticText() string {
	var text strings.Builder
	for _, m := range s.AgenticChunks() {
		for _, b := range m.ContentBlocks {
			if b.AssistantGenText != nil {
				text.WriteString(b.AssistantGenText.Text)
			}
		}
	}
	return text.String()
}

// runIDs returns the ids of what the provider ran, by the index of its blocks: pieces may have none.
func (s Script) runIDs() map[int]string {
	ids := map[int]string{}
	for _, m := range s.AgenticChunks() {
		for _, b := range m.ContentBlocks {
			if id := runID(b); id != "" {
				ids[b.StreamingMeta.Index] = id
			}
		}
	}
	return ids
}
