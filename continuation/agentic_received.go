package continuation

import (
	"strings"

	"github.com/cloudwego/eino/schema"
)

// received is what the consumer has of a message, as a request needs it.
type received struct {
	blocks []block
	text   int                         // bytes of text
	solid  bool                        // there is more than thoughts and white space
	extra  map[string]any              // of the chunks
	joined map[string]*strings.Builder // strings of extra that came in pieces

	keeps  bool         // for checkpoints: pieces are read beside the stream, and what they take there is counted
	fresh  int          // bytes of pieces since the last look
	keeper *blockKeeper // nil before the first one
}

// block is a delivered block, or a stretch of one.
type block struct {
	place    int
	kind     schema.ContentBlockType
	from, to int  // of text: bytes of the answer's text
	beside   bool // of text: there are annotations or a refusal

	thought *thought               // nil if it is none
	pieces  []*schema.ContentBlock // copies: all of what the provider ran; of a thought what is no text
	bytes   int                    // that the pieces take in a checkpoint, about
}

// thought is a thought as far as it has come.
type thought struct {
	text, signature strings.Builder
	bytes           int // that they take in a checkpoint
}

func (t *thought) add(r *schema.Reasoning) {
	t.text.WriteString(r.Text)
	t.signature.WriteString(r.Signature)
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
		b.thought.add(c.Reasoning)
		if d.keeps {
			b.thought.bytes += encodedLen(c.Reasoning.Text) + twiceEncodedLen(c.Reasoning.Signature)
		}
		if c.Reasoning.OpenAIExtension != nil || len(c.Extra) > 0 {
			rest := copyBlock(c)
			rest.Reasoning.Text, rest.Reasoning.Signature = "", ""
			d.add(b, rest)
		}
	case c.FunctionToolCall != nil: // if it breaks, the answer ends with it: it is never sent back
		d.solid = true
	default:
		d.solid = true
		d.add(b, copyBlock(c))
	}
}

// add adds a piece to a block.
func (d *received) add(b *block, piece *schema.ContentBlock) {
	if d.keeps {
		var n int
		piece, n = frozen(piece)
		b.bytes += n
		d.fresh += n
	}
	b.pieces = append(b.pieces, piece)
}

// came returns how many bytes a checkpoint takes for what has come since the last look, beside text, thoughts and calls; a nil
// layout has no more.
func (l *layout) came() int {
	if l == nil {
		return 0
	}
	n := l.fresh
	l.fresh = 0

	return n
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
	b := block{place: at, kind: c.Type, from: d.text, to: d.text}
	if c.Reasoning != nil {
		b.thought = new(thought)
	}
	d.blocks = append(d.blocks, b)

	return d.last()
}

// empty reports whether the block was begun and has nothing in it.
func (b *block) empty() bool {
	switch b.kind {
	case schema.ContentBlockTypeAssistantGenText:
		return b.from == b.to && !b.beside
	case schema.ContentBlockTypeReasoning:
		return b.thought == nil || b.thought.text.Len()+b.thought.signature.Len() == 0
	default:
		return false
	}
}

// whole returns the block, without an index; nil if its pieces make none.
func (b *block) whole() *schema.ContentBlock {
	if b.thought == nil {
		return concatBlocks(b.pieces)
	}
	head := schema.NewContentBlock(&schema.Reasoning{Text: b.thought.text.String(), Signature: b.thought.signature.String()})

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
				d.extra[key] = d.extend(key, old, s)

				continue
			}
		}
		delete(d.joined, key)
		d.extra[key] = v
	}
}

// extend returns old, which is what came under key, with s behind it. What it returned before shares memory with it and
// stays as it is: a long answer may bring a piece with every chunk.
func (d *received) extend(key, old, s string) string {
	b := d.joined[key]
	if b == nil {
		if d.joined == nil {
			d.joined = make(map[string]*strings.Builder, 1)
		}
		b = &strings.Builder{}
		b.WriteString(old)
		d.joined[key] = b
	}
	b.WriteString(s)

	return b.String()
}
