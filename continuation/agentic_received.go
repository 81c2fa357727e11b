package continuation

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

// received is what the consumer has of a message, as a request needs it.
type received struct {
	blocks []block
	text   int            // bytes of text
	solid  bool           // there is more than thoughts and white space
	extra  map[string]any // of the chunks
}

// block is a delivered block, or a stretch of one.
type block struct {
	place    int
	kind     schema.ContentBlockType
	from, to int  // of text: bytes of the answer's text
	beside   bool // of text: there are annotations or a refusal

	thought, signature []byte
	pieces             []*schema.ContentBlock // copies: all of what the provider ran; of a thought what is no text
}

// last returns the latest block; nil if there is none.
func (d *received) last() *block {
	if len(d.blocks) == 0 {
		return nil
	}

	return &d.blocks[len(d.blocks)-1]
}

// note remembers a block.
func (d *received) note(c *schema.ContentBlock, at int, plain bool) {
	b := d.stretch(c, at, plain)
	switch {
	case c.AssistantGenText != nil:
		d.text += len(c.AssistantGenText.Text)
		b.to = d.text
		t := c.AssistantGenText
		b.beside = b.beside || t.OpenAIExtension != nil || t.ClaudeExtension != nil || t.Extension != nil
		d.solid = d.solid || strings.TrimSpace(c.AssistantGenText.Text) != ""
	case c.Reasoning != nil:
		b.thought = append(b.thought, c.Reasoning.Text...)
		b.signature = append(b.signature, c.Reasoning.Signature...)
		if c.Reasoning.OpenAIExtension != nil || len(c.Extra) > 0 {
			rest := copyBlock(c)
			rest.Reasoning.Text, rest.Reasoning.Signature = "", ""
			b.pieces = append(b.pieces, rest)
		}
	case c.FunctionToolCall != nil: // if it breaks, the answer ends with it: it is never sent back
		d.solid = true
	default:
		d.solid = true
		b.pieces = append(b.pieces, copyBlock(c))
	}
}

// stretch returns what c goes on with, or a new one. Text stays in the order in which it came.
func (d *received) stretch(c *schema.ContentBlock, at int, plain bool) *block {
	isText := c.AssistantGenText != nil
	for i := len(d.blocks) - 1; i >= 0; i-- {
		b := &d.blocks[i]
		if b.kind == c.Type && (b.place == at || plain && isText) {
			return b
		}
		if isText {
			break
		}
	}
	d.blocks = append(d.blocks, block{place: at, kind: c.Type, from: d.text, to: d.text})

	return d.last()
}

// empty reports whether the block was begun and has nothing in it.
func (b *block) empty() bool {
	switch b.kind {
	case schema.ContentBlockTypeAssistantGenText:
		return b.from == b.to && !b.beside
	case schema.ContentBlockTypeReasoning:
		return len(b.thought)+len(b.signature) == 0
	default:
		return false
	}
}

// whole returns the block, without an index; nil if its pieces make none.
func (b *block) whole() *schema.ContentBlock {
	if b.kind != schema.ContentBlockTypeReasoning {
		return concatBlocks(b.pieces)
	}
	head := schema.NewContentBlock(&schema.Reasoning{Text: string(b.thought), Signature: string(b.signature)})

	return concatBlocks(append([]*schema.ContentBlock{head}, b.pieces...))
}

// handled reports whether something that the provider ran was delivered; a nil layout has nothing.
func (l *layout) handled() bool {
	if l == nil {
		return false
	}
	for _, b := range l.blocks {
		if h, _ := handledKind(b.kind); h {
			return true
		}
	}

	return false
}

// messageID is the key under which an agent names a message; a partial answer is not that message.
const messageID = "_eino_msg_id"

// noteExtra remembers the Extra of a chunk, as Eino joins it. Clients read there whether they wrote a message themselves,
// and drop what they do not know from those of others.
func (d *received) noteExtra(extra map[string]any) {
	for key, v := range extra {
		if key == messageID {
			continue
		}
		if d.extra == nil {
			d.extra = make(map[string]any, len(extra))
		}
		if old, ok := d.extra[key].(string); ok {
			if s, ok := v.(string); ok {
				v = old + s
			}
		}
		d.extra[key] = v
	}
}
