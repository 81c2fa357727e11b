package continuation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// The bounds of what a store may cost beside the stream.
const (
	saveTimeout = 10 * time.Second       // of one write
	saveTries   = 3                      // of the last write
	savePause   = 200 * time.Millisecond // doubled before each further try, up to sixteen times
	slowWrite   = 2 * time.Second        // a write that takes longer is told of as a failure

	// endGrace is how long the consumer has for reading the end before the finished answer is written: mostly it does so
	// at once, and then the answer goes without having been written once more.
	endGrace = 20 * time.Millisecond
)

// saver writes one call's checkpoints, one at a time and beside the stream. What comes while a write is under way waits;
// of what waits only the newest is written, since it holds all that the others do. Its goroutine lives as long as there
// is something to write.
type saver struct {
	*checkpoints
	ctx  context.Context            //nolint:containedctx // the caller's values, for the store's own tracing; it never ends
	base checkpointstore.Checkpoint // who writes what for whom; Seq is the last one given out
	lost func()                     // called when another call has taken over

	ledger  *ledger       // of the run, or of the model
	forgets bool          // a run that the ledger knows of ends when its checkpoint is deleted
	over    chan struct{} // closed when the call has ended

	owns   bool // what is stored is of this epoch, unless another call has taken over; the goroutine's
	whole  bool // and is the whole answer; the goroutine's
	stands bool // the whole answer was in the store already

	restoring bool // what comes is what was claimed
	dirty     bool // there is something in the store to replace or delete
	pace      cadence
	kept      *checkpointstore.Checkpoint // what is stored, as far as that is known and can be added to; the goroutine's
	timer     *time.Timer
	calls     int // that were whole at the last write

	armed atomic.Bool // a timer for a busy consumer runs

	told      bool // what a checkpoint cannot hold
	abandoned bool // too many have taken the answer over: it goes

	mu      sync.Mutex
	waiting *job
	newer   chan struct{}  // has one if something came to wait
	idle    chan struct{}  // closed when the goroutine has ended; nil if there is none
	doing   string         // the operation under way
	failing bool           // an episode of failures
	slow    bool           // the write under way is
	untold  []storeFailure // one of an episode, at most; and what a checkpoint cannot hold
	taken   error          // by another call
}

// job is one thing to write.
type job struct {
	checkpoint checkpointstore.Checkpoint
	rest       completion // nil if nothing is missing
	size       int        // as it is stored, about
	last       bool       // it is tried again
	remove     bool       // it is written to be deleted
	grace      bool       // something newer may yet come
}

// storeFailure is an error of the store that an event tells of.
type storeFailure struct {
	operation string
	err       error
}

// completion adds to a checkpoint what is not added in the consumer's Recv. An error says what of it cannot be kept.
type completion func(cp *checkpointstore.Checkpoint) error

// put has j written, in the place of what waits.
func (s *saver) put(j job) {
	s.dirty = true
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != nil {
		return
	}
	s.waiting = &j
	select {
	case s.newer <- struct{}{}:
	default:
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
		s.writers.add(s) // it may have ended: its delete comes when the end is read
		go s.work()
	}
}

// retire says that there is nothing more to write, if the call has ended. The lock is held.
func (s *saver) retire() {
	if s.idle == nil && !s.lives() {
		s.writers.remove(s)
	}
}

// busy reports whether something is being written.
func (s *saver) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.idle != nil
}

// work writes what waits until nothing does.
func (s *saver) work() {
	for {
		s.mu.Lock()
		j := s.waiting
		s.waiting = nil
		if j == nil || s.taken != nil {
			close(s.idle)
			s.idle = nil
			s.retire()
			s.mu.Unlock()
			s.ledger.leave(s.base.RunID, s)

			return
		}
		select { // that of j itself
		case <-s.newer:
		default:
		}
		s.mu.Unlock()
		if j.grace && s.outdated() {
			continue
		}
		s.complete(j)
		s.write(*j)
	}
}

// complete completes what is to be written, however often that is tried.
func (s *saver) complete(j *job) {
	if j.rest == nil || j.remove && s.owns && s.deleter != nil {
		return
	}
	if err := j.rest(&j.checkpoint); err != nil {
		s.leavesOut(err)
	}
}

// outdated waits a little, and reports whether something newer has come.
func (s *saver) outdated() bool {
	limit := time.NewTimer(endGrace)
	defer limit.Stop()
	select {
	case <-s.newer:
		return true
	case <-limit.C:
		return false
	}
}

// takenOver returns the error that ends the call, if another has taken it over.
func (s *saver) takenOver() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.taken
}
