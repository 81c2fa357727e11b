package continuation

import (
	"io"
	"sync"

	"github.com/cloudwego/eino/schema"
)

// tee hands what passes on one stream to a second reader, which Eino's callback handlers share. It never blocks who
// pushes, and the stream does not depend on the handlers: one that is slow, or never closes its reader, keeps no request
// alive, as it would if it had a copy of the stream itself. What nobody has read yet is kept, up to the whole answer, as
// Eino's own copies do.
//
// The reader takes a token for each item. There are never more tokens than the pipe holds, so that sending one does not
// block; and sending one tells whether the reader was closed. While as many items wait as the pipe holds, none can be
// sent, so that a reader closed so far behind is not noticed before the end.
type tee[T any] struct {
	mu     sync.Mutex
	items  []T
	head   int
	tokens int   // sent and not taken
	err    error // after the items; nil while more may come
	closed bool  // nobody reads

	w *schema.StreamWriter[struct{}]
}

// newTee returns a tee and its reader.
func newTee[T any]() (*tee[T], *schema.StreamReader[T]) {
	r, w := schema.Pipe[struct{}](tokens)
	t := &tee[T]{w: w}

	return t, schema.StreamReaderWithConvert(r, func(struct{}) (T, error) { return t.take() })
}

// push adds an item. A nil tee takes nothing.
func (t *tee[T]) push(v T) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.err != nil {
		return
	}
	t.items = append(t.items, v)
	t.signal()
}

// end says what follows the last item; nil and io.EOF are a clean end. Only the first call counts.
func (t *tee[T]) end(err error) {
	if t == nil {
		return
	}
	if err == nil {
		err = io.EOF
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.err != nil {
		return
	}
	t.err = err
	t.signal()
}

// signal sends the tokens that are due: one for each item, and one for the end. The last one closes the pipe behind it.
func (t *tee[T]) signal() {
	due := len(t.items) - t.head
	if t.err != nil {
		due++
	}
	for t.tokens < min(due, tokens) && !t.closed {
		t.tokens++
		t.closed = t.w.Send(struct{}{}, nil)
	}
	if t.closed {
		t.items, t.head = nil, 0
	}
}

// take is called for each token.
func (t *tee[T]) take() (T, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var v T
	t.tokens--
	if t.head == len(t.items) { // the end's token
		t.closed = true
		t.w.Close()

		return v, t.err
	}
	v = t.items[t.head]
	var none T
	t.items[t.head] = none
	t.head++
	if t.head == len(t.items) {
		t.items, t.head = t.items[:0], 0
	}
	t.signal()

	return v, nil
}
