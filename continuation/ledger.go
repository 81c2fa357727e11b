package continuation

import "sync"

// maxRuns is how many keys a ledger remembers; of more it forgets those that were used longest ago.
const maxRuns = 1024

// ledger is what a process knows of the calls of its runs. A call that follows another one with its key must neither miss
// what that one is still writing, nor take its epoch once more: the one that is alive would be refused then by what the
// ended one has written. It belongs to the context of a run (see [ContextWithRunID]) or, without one, to the model. It is
// safe for concurrent use.
type ledger struct {
	mu    sync.Mutex
	keys  map[string]*entry
	clock uint64 // counts uses
}

// entry is what a ledger knows of a key.
type entry struct {
	epoch uint64 // the last one given out; 0: none yet
	call  *saver // the last call's, until all is written
	used  uint64
}

// enter makes s the last call of its key, unless there is one that has not ended or is still writing: that is returned.
// With over it is replaced all the same.
func (l *ledger) enter(key string, s, over *saver) *saver {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.keys[key]
	switch {
	case e == nil:
		e = new(entry)
		l.add(key, e)
	case e.call != nil && e.call != over && !e.call.settled():
		return e.call
	}
	l.clock++
	e.call, e.used = s, l.clock

	return nil
}

// add makes room for a key. The lock is held.
func (l *ledger) add(key string, e *entry) {
	if l.keys == nil {
		l.keys = make(map[string]*entry)
	}
	if len(l.keys) >= maxRuns {
		oldest := ""
		for k, v := range l.keys {
			if oldest == "" || v.used < l.keys[oldest].used {
				oldest = k
			}
		}
		delete(l.keys, oldest)
	}
	l.keys[key] = e
}

// leave says that s has ended, and has nothing more to write.
func (l *ledger) leave(key string, s *saver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.keys[key]
	if e == nil || e.call != s || !s.settled() {
		return
	}
	e.call = nil
	if e.epoch == 0 {
		delete(l.keys, key)
	}
}

// reenter says that s has something to write once more.
func (l *ledger) reenter(key string, s *saver) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.keys[key]; e != nil && e.call == nil && e.epoch == s.base.Epoch {
		e.call = s
	}
}

// next gives out the epoch after that of what is stored and after all that were given out.
func (l *ledger) next(key string, stored uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.keys[key]
	if e == nil { // there was no room for it
		return stored + 1
	}
	e.epoch = max(e.epoch, stored) + 1

	return e.epoch
}

// last returns the epoch given out last; 0 if there is none.
func (l *ledger) last(key string) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.keys[key]; e != nil {
		return e.epoch
	}

	return 0
}

// forget drops a key whose run has ended.
func (l *ledger) forget(key string, epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.keys[key]; e != nil && e.epoch == epoch {
		delete(l.keys, key)
	}
}

// of returns the keys of a run with their entries.
func (l *ledger) of(runID string) map[string]entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	keys := make(map[string]entry)
	for k, e := range l.keys {
		if isKeyOf(k, runID) && e.epoch > 0 {
			keys[k] = *e
		}
	}

	return keys
}
