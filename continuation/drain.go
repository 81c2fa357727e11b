package continuation

import (
	"context"
	"fmt"
	"sync"
)

// Drainer waits for what is still to be written to a store: [Model], [Typed], and the middlewares of [NewMiddleware].
type Drainer interface {
	// Drain waits until the calls under way that keep checkpoints have ended, and their last writes are done or given up. It
	// is for a process that is about to end: who cancels a call or closes its reader does not wait for the store. So end
	// the calls first, by cancelling them and closing their streams or reading these to the end, then Drain, then
	// exit. A stream that is neither read nor closed does not end. The error is that of ctx, if it ends first. Without
	// [WithCheckpoints] it does nothing. It is safe for concurrent use; a call that begins meanwhile is waited for, too.
	Drain(ctx context.Context) error
}

// Drain implements [Drainer].
func (m *Model) Drain(ctx context.Context) error { return m.engine.drain(ctx) }

// Drain implements [Drainer].
func (t *Typed[M]) Drain(ctx context.Context) error { return t.engine.drain(ctx) }

// Drain implements [Drainer].
func (w *middleware[M]) Drain(ctx context.Context) error { return w.over.Drain(ctx) }

func (e *engine) drain(ctx context.Context) error {
	k := e.cfg.checkpoints
	if k == nil {
		return nil
	}
	for s := k.writers.any(); s != nil; s = k.writers.any() {
		if !s.settle(ctx) {
			return fmt.Errorf("continuation: drain: %w", contextError(ctx))
		}
	}

	return nil
}

// writers are the savers that have something to write, or may have. It is safe for concurrent use.
type writers struct {
	mu  sync.Mutex
	all map[*saver]struct{}
}

func (w *writers) add(s *saver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = make(map[*saver]struct{})
	}
	w.all[s] = struct{}{}
}

func (w *writers) remove(s *saver) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, s)
}

// any returns one of them; nil if there is none.
func (w *writers) any() *saver {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.all {
		return s
	}

	return nil
}
