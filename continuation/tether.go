package continuation

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/schema"
)

// tether ties the request under way, or the wait before it, to the consumer's reader: closing the reader ends it at once,
// whatever the consumer's goroutine is doing. Each wait and the request that follows it share one context.
type tether struct {
	mu     sync.Mutex
	cut    bool          // the reader was closed
	left   chan struct{} // closed with it; made when somebody asks
	cancel context.CancelCauseFunc
}

// next returns the context for the next wait or request. The one before it is ended.
func (t *tether) next(parent context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(parent)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel(errLeft)
	}
	t.cancel = cancel
	if t.cut {
		cancel(schema.ErrRecvAfterClosed)
	}

	return ctx
}

// leave ends the request under way. Its reader is closed as soon as the model lets go of it; nothing it still brings is
// seen.
func (t *tether) leave() { t.end(false, errLeft) }

// close ends the request under way and all that would follow.
func (t *tether) close() { t.end(true, schema.ErrRecvAfterClosed) }

func (t *tether) end(cut bool, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cut && !t.cut && t.left != nil {
		close(t.left)
	}
	t.cut = t.cut || cut
	if t.cancel != nil {
		t.cancel(cause)
	}
}

func (t *tether) closed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.cut
}

// gone returns a channel that is closed when the reader is.
func (t *tether) gone() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left == nil {
		t.left = make(chan struct{})
		if t.cut {
			close(t.left)
		}
	}

	return t.left
}
