package natsstore

import (
	"sync"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// maxRevisions bounds what a store remembers; above it, it forgets some, and reads them again.
const maxRevisions = 4096

// revision is one that this store wrote.
type revision struct {
	number uint64
	fence  checkpointstore.Fence
}

// revisions are those that a store wrote last, by key. It is safe for concurrent use. What it knows may be old: the
// server refuses a write over a revision that is not the last one.
type revisions[T any] struct {
	mu    sync.Mutex
	byKey map[string]T
}

func newRevisions[T any]() *revisions[T] { return &revisions[T]{byKey: map[string]T{}} }

func (r *revisions[T]) get(key string) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rev, ok := r.byKey[key]

	return rev, ok
}

func (r *revisions[T]) set(key string, rev T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.byKey[key]; !ok && len(r.byKey) >= maxRevisions {
		for any := range r.byKey { // not all: then a store with more runs than that would read before every write
			delete(r.byKey, any)

			break
		}
	}
	r.byKey[key] = rev
}

func (r *revisions[T]) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
}

// take returns what is known and forgets it: what a write makes of it is known when that has been acknowledged.
func (r *revisions[T]) take(key string) (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rev, ok := r.byKey[key]
	delete(r.byKey, key)

	return rev, ok
}
