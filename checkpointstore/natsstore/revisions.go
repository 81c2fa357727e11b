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

// revisions are those that this store wrote last, by key. It is safe for concurrent use. What it knows may be old: the
// server refuses a write over a revision that is not the last one.
type revisions struct {
	mu    sync.Mutex
	byKey map[string]revision
}

func newRevisions() *revisions { return &revisions{byKey: map[string]revision{}} }

func (r *revisions) get(key string) (revision, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rev, ok := r.byKey[key]

	return rev, ok
}

func (r *revisions) set(key string, rev revision) {
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

func (r *revisions) forget(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byKey, key)
}
