package continuation

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// layout gives the blocks of several attempts their places in one message. In an unbroken answer every block stays where
// it is.
type layout struct {
	typ   string // of the client
	plain bool   // blocks come without an index
	shown bool   // that is known

	later  bool // an attempt broke behind a delivered block: indices start over
	next   int  // the first index behind all that are taken
	taken  map[int]struct{}
	places map[blockKey]int        // of this attempt
	open   int                     // the place of the block that broke and that this attempt goes on with; -1 if there is none
	kind   schema.ContentBlockType // of that block
	blank  bool                    // nothing is lost with it
	broken []int                   // places of what is not part of the answer

	received
	prose
	metas []*schema.AgenticResponseMeta // of this attempt
}

// blockKey is how a block is known in its attempt.
type blockKey struct {
	kind  schema.ContentBlockType
	index int
}

// manyMetas is how many reports of a response are kept before they are made one: some clients send one with every chunk.
const manyMetas = 64

// setType tells the client's type; a nil layout does not need it.
func (l *layout) setType(typ string) {
	if l != nil {
		l.typ = typ
	}
}

// keep says whether there will be checkpoints; a nil layout has nothing for them.
func (l *layout) keep(yes bool) {
	if l != nil {
		l.keeps = yes
	}
}

// see takes note of a view that arrived.
func (l *layout) see(o *origin) {
	if o.block != nil && !l.shown {
		l.shown, l.plain = true, o.block.StreamingMeta == nil
	}
	l.prose.see(o)
	if o.view.ResponseMeta != nil {
		if len(l.metas) == manyMetas {
			l.metas = append(l.metas[:0], concatMetas(l.metas))
		}
		l.metas = append(l.metas, o.of.ResponseMeta)
	}
}

// interrupt readies the layout for the next attempt. Broke says that the last thought did.
func (l *layout) interrupt(broke bool) {
	l.later = l.later || len(l.blocks) > 0
	for _, b := range slices.Backward(l.blocks) {
		if b.kind == schema.ContentBlockTypeReasoning && (broke || b.empty()) {
			l.breaks(b.place)
		} else if !b.empty() {
			break
		}
	}
	l.prose.interrupt()
	l.reopen()
}

// reopen readies the layout for an attempt that takes the place of one without content, which may have begun a block. The
// text of an attempt that broke before goes on in its block.
func (l *layout) reopen() {
	l.places, l.metas, l.open = nil, nil, -1
	switch b := l.last(); {
	case b == nil:
	case l.later && b.kind == schema.ContentBlockTypeAssistantGenText:
		l.goOn(b, b.empty() || !l.solid)
	case b.empty() && !slices.Contains(l.broken, b.place):
		l.goOn(b, true)
	}
}

// goOn says that the next attempt goes on in a block if it begins with one of its kind.
func (l *layout) goOn(b *block, blank bool) { l.open, l.kind, l.blank = b.place, b.kind, blank }

// breaks says that what stands at a place is not part of the answer.
func (l *layout) breaks(place int) {
	if !slices.Contains(l.broken, place) {
		l.broken = append(l.broken, place)
	}
}

// put returns c with its place in the message, and takes note of it.
func (l *layout) put(c *schema.ContentBlock, index *int) *schema.ContentBlock {
	at := l.placeOf(c.Type, index)
	if c.AssistantGenText != nil {
		c = l.join(c, at)
	}
	l.note(c, at, l.plain)
	if l.plain && c.StreamingMeta == nil || !l.plain && c.StreamingMeta != nil && c.StreamingMeta.Index == at {
		return c
	}
	cp := *c
	cp.StreamingMeta = &schema.StreamingMeta{Index: at}
	if l.plain {
		cp.StreamingMeta = nil
	}

	return &cp
}

// placeOf returns the place of a block. If the blocks have no index, each gets the next place.
func (l *layout) placeOf(kind schema.ContentBlockType, index *int) int {
	at := l.next
	switch {
	case l.plain:
	case index == nil:
		// A piece without an index, among others with one, belongs to the block before it.
		if d := l.last(); d != nil && d.kind == kind && kind != schema.ContentBlockTypeFunctionToolCall {
			at = d.place
		}
	default:
		key := blockKey{kind, *index}
		if at, ok := l.places[key]; ok {
			return at
		}
		at = l.firstPlace(key)
		if l.places == nil {
			l.places = make(map[blockKey]int)
		}
		l.places[key] = at
	}
	if l.open >= 0 && l.open != at && l.blank {
		l.breaks(l.open)
	}
	l.take(at)
	l.open = -1

	return at
}

// firstPlace returns the place of a block that begins. The first block of an attempt goes on in the one that broke, if that
// is text; all other blocks of a later attempt come behind those that were delivered.
func (l *layout) firstPlace(b blockKey) int {
	_, taken := l.taken[b.index]
	switch {
	case b.kind == l.kind && l.open >= 0:
		return l.open
	case !l.later && !taken && b.index >= 0 && b.index < math.MaxInt32: // an absurd index leaves no room for the next one
		return b.index
	default:
		return l.next
	}
}

func (l *layout) take(at int) {
	if l.taken == nil {
		l.taken = make(map[int]struct{})
	}
	l.taken[at] = struct{}{}
	l.next = max(l.next, at+1)
}

// marked reports whether the message must say that blocks in it are not part of the answer; a nil layout has none.
func (l *layout) marked() bool { return l != nil && len(l.broken) > 0 }

// brokenPositions returns where, among the blocks of the message, those stand that are not part of the answer; one a line.
func (l *layout) brokenPositions() string {
	lines := make([]string, 0, len(l.broken))
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
