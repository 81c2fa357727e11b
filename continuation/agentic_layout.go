package continuation

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// layout gives the blocks of several attempts their places in one message, and remembers what was delivered of it. In an
// unbroken answer every block stays where it is.
type layout struct {
	plain bool // blocks come without an index
	shown bool // that is known

	later    bool // an attempt broke behind a delivered block: indices start over
	next     int  // the first index behind all that are taken
	taken    map[int]struct{}
	places   map[blockKey]int // of this attempt
	openText int              // the place of the text that broke and that this attempt goes on with; -1 if there is none

	delivered []block
	text      int                           // bytes of text delivered
	broken    []int                         // places of thoughts that broke off
	metas     []*schema.AgenticResponseMeta // of this attempt
}

// blockKey is how a block is known in its attempt.
type blockKey struct {
	kind  schema.ContentBlockType
	index int
}

// block is a delivered block, or a stretch of one.
type block struct {
	place    int
	kind     schema.ContentBlockType
	from, to int                    // of text: bytes of the answer's text
	chunks   []*schema.ContentBlock // of all else: copies
}

// see takes note of a view that arrived.
func (l *layout) see(o *origin) {
	if o.block != nil && !l.shown {
		l.shown, l.plain = true, o.block.StreamingMeta == nil
	}
	if o.view.ResponseMeta != nil {
		l.metas = append(l.metas, o.of.ResponseMeta)
	}
}

// interrupt readies the blocks for the next attempt. A thought with nothing behind it broke off.
func (l *layout) interrupt() {
	l.openText = -1
	if n := len(l.delivered); n > 0 {
		l.later = true
		if l.delivered[n-1].kind == schema.ContentBlockTypeAssistantGenText {
			l.openText = l.delivered[n-1].place
		}
	}
	for _, d := range slices.Backward(l.delivered) {
		if d.kind != schema.ContentBlockTypeReasoning {
			break
		}
		if !slices.Contains(l.broken, d.place) {
			l.broken = append(l.broken, d.place)
		}
	}
	l.reopen()
}

// reopen readies the blocks for an attempt that takes the place of one without content.
func (l *layout) reopen() { l.places, l.metas = nil, nil }

// put returns c with its place in the message, and takes note of it.
func (l *layout) put(c *schema.ContentBlock, index *int) *schema.ContentBlock {
	kind := c.Type
	at := l.placeOf(kind, index)
	l.note(c, at)
	if l.plain {
		if c.StreamingMeta == nil {
			return c
		}
		cp := *c
		cp.StreamingMeta = nil

		return &cp
	}
	if c.StreamingMeta != nil && c.StreamingMeta.Index == at {
		return c
	}
	cp := *c
	cp.StreamingMeta = &schema.StreamingMeta{Index: at}

	return &cp
}

// placeOf returns the place of a block. The first text of an attempt goes on in the block that broke; all other blocks of
// a later attempt come behind those that were delivered.
func (l *layout) placeOf(kind schema.ContentBlockType, index *int) int {
	isText := kind == schema.ContentBlockTypeAssistantGenText
	at := l.next
	switch {
	case l.plain:
	case index == nil:
		if n := len(l.delivered) - 1; n >= 0 && l.delivered[n].kind == kind && kind != schema.ContentBlockTypeFunctionToolCall {
			at = l.delivered[n].place // a piece without an index, among others with one, belongs to the block before it
		}
	default:
		if at, ok := l.places[blockKey{kind, *index}]; ok {
			return at
		}
		switch _, taken := l.taken[*index]; {
		case isText && l.openText >= 0:
			at = l.openText
		case !l.later && !taken && *index < math.MaxInt32:
			at = *index
		}
		if l.places == nil {
			l.places = make(map[blockKey]int)
		}
		l.places[blockKey{kind, *index}] = at
	}
	l.take(at)
	l.openText = -1

	return at
}

func (l *layout) take(at int) {
	if l.taken == nil {
		l.taken = make(map[int]struct{})
	}
	l.taken[at] = struct{}{}
	l.next = max(l.next, at+1)
}

// note remembers what is delivered.
func (l *layout) note(c *schema.ContentBlock, at int) {
	d := l.stretch(c, at)
	switch {
	case c.AssistantGenText != nil:
		l.text += len(c.AssistantGenText.Text)
		d.to = l.text
	case c.FunctionToolCall == nil: // a call ends the answer if it breaks: it is never sent back
		d.chunks = append(d.chunks, copyBlock(c))
	}
}

// stretch returns what c goes on with, or a new one. Text stays in the order in which it came.
func (l *layout) stretch(c *schema.ContentBlock, at int) *block {
	isText := c.AssistantGenText != nil
	for i := len(l.delivered) - 1; i >= 0; i-- {
		d := &l.delivered[i]
		if d.kind == c.Type && (d.place == at || l.plain && isText) {
			return d
		}
		if isText {
			break
		}
	}
	l.delivered = append(l.delivered, block{place: at, kind: c.Type, from: l.text, to: l.text})

	return &l.delivered[len(l.delivered)-1]
}

// brokenPositions returns where, among the blocks of the message, those stand that broke off; one a line.
func (l *layout) brokenPositions() string {
	if len(l.broken) == 0 {
		return ""
	}
	var lines []string
	for _, at := range slices.Sorted(slices.Values(l.broken)) {
		rank := 0
		for other := range l.taken {
			if other < at {
				rank++
			}
		}
		lines = append(lines, strconv.Itoa(rank))
	}

	return strings.Join(lines, "\n")
}
