package continuation

import (
	"encoding/json"
	"hash"
	"slices"
	"strconv"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
)

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

// stored takes a view of the delivered blocks, but for the calls. They are added when the checkpoint is written.
func (s agentic) stored(c *carry, cp *checkpointstore.Checkpoint) (int, completion) {
	l := c.layout
	blocks, size := l.kept(len(cp.Text))
	if len(blocks) == 0 {
		return 0, nil
	}
	if l.keeper == nil {
		l.keeper = new(blockKeeper)
	}
	keeper := l.keeper

	return size, func(cp *checkpointstore.Checkpoint) error { return keeper.keep(blocks, cp) }
}

// keptEach is what a block takes in a checkpoint beside what is in it, about.
const keptEach = 64

// kept returns what was delivered as blocks, of a text of n bytes, without thoughts that broke off; and about how many bytes
// a checkpoint holds of them beside the text.
func (l *layout) kept(n int) ([]blockView, int) {
	out := make([]blockView, 0, len(l.blocks))
	thoughts, rest := 0, 0
	for i := range l.blocks {
		b := &l.blocks[i]
		v := blockView{at: i, kind: b.kind, from: min(b.from, n), to: min(b.to, n), pieces: b.pieces}
		switch {
		case b.kind == schema.ContentBlockTypeFunctionToolCall:
			continue
		case b.kind == schema.ContentBlockTypeAssistantGenText:
			if v.from == v.to {
				continue
			}
		case slices.Contains(l.broken, b.place):
			continue
		case b.thought != nil:
			v.thought, v.signature = b.thought.text.String(), b.thought.signature.String()
			thoughts += b.thought.bytes
		}
		rest += b.bytes
		out = append(out, v)
	}
	if l.keeper != nil { // what was written tells better
		rest = max(rest, int(l.keeper.size.Load()))
	}

	return out, thoughts + rest + keptEach*len(out)
}

// restoredBlocks returns the blocks of a checkpoint, but for the calls; nil if they are not all there, or are not those of its text.
func restoredBlocks(cp *checkpointstore.Checkpoint) []*schema.ContentBlock {
	n, _ := cp.Extra[extraBlocks].(int64)
	if n < 1 || n > maxKeptBlocks {
		return nil
	}
	var blocks []*schema.ContentBlock
	text := 0
	for i := range int(n) {
		number := strconv.Itoa(i)
		data, _ := cp.Extra[extraBlock+number].(string)
		var k keptBlock
		if err := json.Unmarshal([]byte(data), &k); err != nil {
			return nil
		}
		b := k.Block
		if b == nil {
			if k.From != text || k.To <= k.From || k.To > len(cp.Text) {
				return nil
			}
			text = k.To
			b = schema.NewContentBlock(&schema.AssistantGenText{Text: cp.Text[k.From:k.To]})
		} else if b = restoredBlock(b, number, cp.Extra); b == nil {
			return nil
		}
		blocks = append(blocks, b)
	}
	if _, more := cp.Extra[extraBlock+strconv.FormatInt(n, 10)]; more || text != len(cp.Text) {
		return nil
	}

	return blocks
}

// restoredBlock returns a block that is no text as it was; nil if it is no such block, or if a text of its thought is missing.
func restoredBlock(b *schema.ContentBlock, number string, extra map[string]any) *schema.ContentBlock {
	if b.AssistantGenText != nil || b.FunctionToolCall != nil {
		return nil
	}
	if b = concatBlocks([]*schema.ContentBlock{b}); b == nil || b.Reasoning == nil {
		return b
	}
	var ok bool
	if b.Reasoning.Text, ok = extra[extraThought+number].(string); !ok {
		return nil
	}
	for i, text := range thoughtsOf(b) {
		if *text, ok = extra[extraThought+number+"_"+strconv.Itoa(i)].(string); !ok {
			return nil
		}
	}

	return b
}

// restored returns what a checkpoint holds as a client would have sent it: a chunk for each block.
func (s agentic) restored(cp *checkpointstore.Checkpoint) []chunk {
	blocks := restoredBlocks(cp)
	if len(blocks) == 0 && cp.Text != "" {
		blocks = []*schema.ContentBlock{schema.NewContentBlock(&schema.AssistantGenText{Text: cp.Text})}
	}
	for _, t := range restoredCalls(cp) {
		blocks = append(blocks, callBlock(&t))
	}
	chunks := make([]chunk, 0, len(blocks))
	for i, b := range blocks {
		b.StreamingMeta = &schema.StreamingMeta{Index: i}
		view := viewsOf(&schema.AgenticMessage{
			Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b},
		})
		view.origin.settled = true
		chunks = append(chunks, view)
	}

	return chunks
}
