package continuation

import (
	"sync"

	"github.com/cloudwego/eino/schema"
)

// manyViews is how many views are kept to be used again: as many as are under way between an attempt and its consumer.
const manyViews = 2 * prefetch

// views are those of an attempt's chunks of one text or thought, used again when they have passed, so that a long stream
// allocates no more than a short one. The attempt takes, the consumer gives back. Nil makes each anew.
type views struct {
	mu   sync.Mutex
	free []*origin
}

// take returns a view of a block of m.
func (v *views) take(m *schema.AgenticMessage, b *schema.ContentBlock) *origin {
	o := v.spare()
	if o == nil {
		made := new(struct {
			origin
			view schema.Message
		})
		o, made.origin.view = &made.origin, &made.view
	}
	o.of, o.block = m, b
	if b.AssistantGenText != nil || b.Reasoning != nil { // of all else somebody may still hold a piece
		o.home = v
	}
	viewBlock(o.view, b)

	return o
}

func (v *views) spare() *origin {
	if v == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	n := len(v.free)
	if n == 0 {
		return nil
	}
	o := v.free[n-1]
	v.free = v.free[:n-1]

	return o
}

// free gives back a view that left as it came; nobody else may look at it any more.
func (o *origin) free() {
	v, view := o.home, o.view
	if v == nil || o.parts != 1 || !o.whole() {
		return
	}
	*view = schema.Message{}
	*o = origin{view: view}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.free) < manyViews {
		v.free = append(v.free, o)
	}
}
