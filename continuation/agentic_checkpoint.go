package continuation

import (
	"encoding/json"
	"hash"
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// extraBlocks is the key in a checkpoint's Extra under which the delivered blocks stand, as JSON: text and reasoning alone
// do not tell their order, nor what the provider ran by itself.
const extraBlocks = "carryon_blocks"

func (s agentic) fingerprint(h hash.Hash, r *request) {
	for _, m := range r.agentic {
		if m == nil {
			continue
		}
		hashAll(h, string(m.Role))
		for _, b := range m.ContentBlocks {
			if b != nil {
				c := *b
				c.Extra, c.StreamingMeta = nil, nil
				hashValue(h, c, 0)
			}
		}
	}
}

// stored adds the delivered blocks, but for the calls.
func (s agentic) stored(c *carry, cp *checkpointstore.Checkpoint) {
	blocks := c.layout.kept(cp.Text)
	data, err := json.Marshal(blocks)
	if err != nil || len(blocks) == 0 { // an extension that is no JSON: text and calls are kept
		return
	}
	cp.Extra = maps.Clone(cp.Extra)
	if cp.Extra == nil {
		cp.Extra = make(map[string]any, 1)
	}
	cp.Extra[extraBlocks] = data
}

// kept returns what was delivered as blocks, without thoughts that broke off.
func (l *layout) kept(text string) []*schema.ContentBlock {
	var out []*schema.ContentBlock
	for i := range l.blocks {
		b := &l.blocks[i]
		switch {
		case b.kind == schema.ContentBlockTypeAssistantGenText:
			if piece := text[min(b.from, len(text)):min(b.to, len(text))]; piece != "" {
				out = append(out, schema.NewContentBlock(&schema.AssistantGenText{Text: piece}))
			}
		case b.kind == schema.ContentBlockTypeFunctionToolCall || slices.Contains(l.broken, b.place):
		default:
			if whole := b.whole(); whole != nil {
				out = append(out, whole)
			}
		}
	}

	return out
}

// restored returns what a checkpoint holds as a client would have sent it: a chunk for each block.
func (s agentic) restored(cp *checkpointstore.Checkpoint) []chunk {
	var blocks []*schema.ContentBlock
	data, _ := cp.Extra[extraBlocks].([]byte)
	if err := json.Unmarshal(data, &blocks); err != nil && cp.Text != "" {
		blocks = []*schema.ContentBlock{schema.NewContentBlock(&schema.AssistantGenText{Text: cp.Text})}
	}
	for _, t := range restoredCalls(cp) {
		blocks = append(blocks, callBlock(&t))
	}
	chunks := make([]chunk, 0, len(blocks))
	for i, b := range blocks {
		if b == nil {
			continue
		}
		b.StreamingMeta = &schema.StreamingMeta{Index: i}
		view := viewsOf(&schema.AgenticMessage{
			Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b},
		})
		view.origin.settled = true
		chunks = append(chunks, view)
	}

	return chunks
}
