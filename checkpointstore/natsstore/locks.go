package natsstore

import (
	"context"
	"sync"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// writers lets the writes of one writer of one run go one after the other. It is safe for concurrent use.
type writers struct {
	mu sync.Mutex
	by map[writer]*turn
}

// writer is who may add to a checkpoint. Others do not wait for it: the server knows them apart.
type writer struct {
	runID, owner string
	epoch        uint64
}

// turn is whose turn it is: one token, and how many want it.
type turn struct {
	token chan struct{}
	users int
}

// lock waits for the writer's turn, which the function that it returns gives up.
func (w *writers) lock(ctx context.Context, runID string, f checkpointstore.Fence) (unlock func(), err error) {
	key := writer{runID, f.Owner, f.Epoch}
	w.mu.Lock()
	if w.by == nil {
		w.by = map[writer]*turn{}
	}
	t := w.by[key]
	if t == nil {
		t = &turn{token: make(chan struct{}, 1)}
		w.by[key] = t
	}
	t.users++
	w.mu.Unlock()
	leave := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(w.by, key)
		}
	}
	select {
	case t.token <- struct{}{}:
		return func() { <-t.token; leave() }, nil
	case <-ctx.Done():
		leave()

		return nil, ctx.Err()
	}
}
