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

// keptBlock is a block in a checkpoint: a stretch of its text, or a block of another kind.
type keptBlock struct {
	From  int                  `json:"from,omitempty"`
	To    int                  `json:"to,omitempty"`
	Block *schema.ContentBlock `json:"block,omitempty"`
}

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
func (s agentic) stored(c *carry, cp *checkpointstore.Checkpoint) int {
	blocks := c.layout.kept(len(cp.Text))
	data, err := json.Marshal(blocks)
	if err != nil || len(blocks) == 0 { // an extension that is no JSON: text and calls are kept
		return 0
	}
	cp.Extra = maps.Clone(cp.Extra)
	if cp.Extra == nil {
		cp.Extra = make(map[string]any, 1)
	}
	cp.Extra[extraBlocks] = string(data)

	return encodedLen(string(data))
}

// kept returns what was delivered as blocks, of a text of n bytes, without thoughts that broke off.
func (l *layout) kept(n int) []keptBlock {
	var out []keptBlock
	for i := range l.blocks {
		b := &l.blocks[i]
		switch {
		case b.kind == schema.ContentBlockTypeAssistantGenText:
			if from, to := min(b.from, n), min(b.to, n); from < to {
				out = append(out, keptBlock{From: from, To: to})
			}
		case b.kind == schema.ContentBlockTypeFunctionToolCall || slices.Contains(l.broken, b.place):
		default:
			if whole := b.whole(); whole != nil {
				out = append(out, keptBlock{Block: whole})
			}
		}
	}

	return out
}

// block returns the block that was kept of a text; nil if there is none.
func (k keptBlock) block(text string) *schema.ContentBlock {
	from, to := min(max(k.From, 0), len(text)), min(k.To, len(text))
	if k.Block != nil || from >= to {
		return k.Block
	}

	return schema.NewContentBlock(&schema.AssistantGenText{Text: text[from:to]})
}

// restored returns what a checkpoint holds as a client would have sent it: a chunk for each block.
func (s agentic) restored(cp *checkpointstore.Checkpoint) []chunk {
	var blocks []*schema.ContentBlock
	var kept []keptBlock
	data, _ := cp.Extra[extraBlocks].(string)
	if err := json.Unmarshal([]byte(data), &kept); err != nil && cp.Text != "" {
		blocks = []*schema.ContentBlock{schema.NewContentBlock(&schema.AssistantGenText{Text: cp.Text})}
	}
	for _, k := range kept {
		blocks = append(blocks, k.block(cp.Text))
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
