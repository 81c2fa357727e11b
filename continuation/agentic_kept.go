package continuation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// The keys in a checkpoint's Extra under which the delivered blocks stand: text and reasoning alone do not tell their order,
// nor what the provider ran by itself. Each block has a key of its own, and so have the texts of a thought, which grow at
// their ends: from one checkpoint to the next little changes.
const (
	extraBlocks  = "carryon_blocks"   // how many there are
	extraBlock   = "carryon_block_"   // and the number of the block
	extraThought = "carryon_thought_" // and the number, for one of the further texts "_" and which it is
)

// maxKeptBlocks bounds the blocks of a checkpoint.
const maxKeptBlocks = 1 << 14

var (
	errBlockNotKept  = errors.New("continuation: a checkpoint cannot hold a block of this answer, and holds its text and tool calls only")
	errBlocksNotKept = fmt.Errorf("%w: there are more than %d", errBlockNotKept, maxKeptBlocks)
)

// keptBlock is a block in a checkpoint: a stretch of its text, or a block of another kind without the texts of a thought.
type keptBlock struct {
	From  int                  `json:"from,omitempty"`
	To    int                  `json:"to,omitempty"`
	Block *schema.ContentBlock `json:"block,omitempty"`
}

// blockView is a delivered block as it stood at some time. What it refers to does not change.
type blockView struct {
	at                 int // among all that were delivered
	kind               schema.ContentBlockType
	from, to           int
	thought, signature string
	pieces             []*schema.ContentBlock
}

// blockKeeper adds blocks to checkpoints. It belongs to whoever writes them, but for the size.
type blockKeeper struct {
	written map[int]writtenBlock // by where they stand among all
	told    bool                 // that something is not kept
	size    atomic.Int64         // of what was added last, without the thoughts
}

// writtenBlock is what a checkpoint has of a block that is no text.
type writtenBlock struct {
	pieces, signature int    // that it was made of
	entry             string // empty if they make no block
	texts             []string
	size              int
	err               error
}

// keep adds the blocks to a checkpoint: all or, if one cannot be kept, none, since half of what the provider ran would be
// refused. The first time that happens it returns an error.
func (k *blockKeeper) keep(blocks []blockView, cp *checkpointstore.Checkpoint) error {
	extra := make(map[string]any, len(cp.Extra)+2*len(blocks)+1)
	maps.Copy(extra, cp.Extra)
	n, size := 0, 0
	for i := range blocks {
		w := k.write(&blocks[i])
		if w.err == nil && n == maxKeptBlocks {
			w.err = errBlocksNotKept
		}
		if w.err != nil {
			return k.leaveOut(w.err)
		}
		if w.entry == "" {
			continue
		}
		number := strconv.Itoa(n)
		extra[extraBlock+number] = w.entry
		if blocks[i].kind == schema.ContentBlockTypeReasoning {
			extra[extraThought+number] = blocks[i].thought
		}
		for j, text := range w.texts {
			extra[extraThought+number+"_"+strconv.Itoa(j)] = text
		}
		n, size = n+1, size+w.size
	}
	k.size.Store(int64(size))
	if n > 0 {
		extra[extraBlocks] = int64(n)
		cp.Extra, cp.Reasoning = extra, "" // the blocks hold it
	}

	return nil
}

func (k *blockKeeper) leaveOut(err error) error {
	if k.told {
		return nil
	}
	k.told = true

	return err
}

// write returns what to keep of a block. It encodes one that has not changed since the last time no more.
func (k *blockKeeper) write(v *blockView) writtenBlock {
	if v.kind == schema.ContentBlockTypeAssistantGenText {
		entry, err := encodeKept(keptBlock{From: v.from, To: v.to})

		return writtenBlock{entry: entry, err: err}
	}
	w, ok := k.written[v.at]
	if ok && w.pieces == len(v.pieces) && w.signature == len(v.signature) {
		return w
	}
	w = writtenBlock{pieces: len(v.pieces), signature: len(v.signature)}
	w.encode(v)
	if k.written == nil {
		k.written = make(map[int]writtenBlock)
	}
	k.written[v.at] = w

	return w
}

// encode makes one block of the pieces. A panic of a client's own encoding is an error of it.
func (w *writtenBlock) encode(v *blockView) {
	defer func() {
		if p := recover(); p != nil {
			w.err = fmt.Errorf("%w: %w", errBlockNotKept, &PanicError{Value: p})
		}
	}()
	pieces := v.pieces
	if v.kind == schema.ContentBlockTypeReasoning {
		head := schema.NewContentBlock(&schema.Reasoning{Signature: v.signature})
		pieces = append([]*schema.ContentBlock{head}, pieces...)
	}
	b := concatBlocks(pieces)
	if b == nil {
		return
	}
	for _, text := range thoughtsOf(b) {
		w.texts = append(w.texts, *text)
		w.size += len(extraThought) + encodedLen(*text)
		*text = ""
	}
	w.entry, w.err = encodeKept(keptBlock{Block: b})
	w.size += encodedLen(w.entry)
}

// thoughtsOf returns where the texts stand that a thought has beside its own.
func thoughtsOf(b *schema.ContentBlock) []*string {
	if b.Reasoning == nil || b.Reasoning.OpenAIExtension == nil {
		return nil
	}
	var texts []*string
	for _, c := range b.Reasoning.OpenAIExtension.Content {
		if c != nil {
			texts = append(texts, &c.Text)
		}
	}

	return texts
}

func encodeKept(k keptBlock) (string, error) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(k); err != nil {
		return "", fmt.Errorf("%w: %w", errBlockNotKept, err)
	}

	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}
