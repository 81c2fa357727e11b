package continuation

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// The bounds of what a store may cost beside the stream.
const (
	saveTimeout = 10 * time.Second // of one write
	saveTries   = 3                // of the last write
	savePause   = 200 * time.Millisecond

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
	dirty  bool // there is something in the store to replace or delete
	pace   cadence
	timer  *time.Timer
	calls  int // that were whole at the last write

	told      bool // what a checkpoint cannot hold
	abandoned bool // too many have taken the answer over: it goes

	mu      sync.Mutex
	waiting *job
	newer   chan struct{} // has one if something came to wait
	idle    chan struct{} // closed when the goroutine has ended; nil if there is none
	failing bool          // an episode of failures
	failure *storeFailure // not told yet
	taken   error         // by another call
}

// job is one thing to write.
type job struct {
	checkpoint checkpointstore.Checkpoint
	last       bool // it is tried again
	remove     bool // it is written to be deleted
	grace      bool // something newer may yet come
}

// storeFailure is an error of the store that an event tells of.
type storeFailure struct {
	operation string
	err       error
}

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
		go s.work()
	}
}

// busy reports whether something is being written.
func (s *saver) busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.idle != nil
}

// wait waits until all is written, or for the start timeout.
func (s *saver) wait() {
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle == nil {
		return
	}
	limit := time.NewTimer(s.startTimeout)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	}
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
		s.write(*j)
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

// write makes one write. A panic of the store is an error of it.
func (s *saver) write(j job) {
	for try := 1; ; try++ {
		op, err := s.attempt(j)
		final := s.ended(op, err)
		if err == nil && op == "delete" && s.forgets {
			s.ledger.forget(s.base.RunID, s.base.Epoch)
		}
		if final || !j.last || try == saveTries {
			return
		}
		if sleep(s.ctx, savePause<<try) != nil {
			return
		}
	}
}

func (s *saver) attempt(j job) (op string, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, saveTimeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p}
		}
	}()
	if !j.remove || !s.owns || s.deleter == nil {
		op = "put"
		began := time.Now()
		err = s.store.Put(ctx, j.checkpoint)
		s.pulse.beat(min(time.Since(began), s.every))
		if err == nil {
			s.owns, s.whole = true, j.checkpoint.Done
		}
		if err != nil || !j.remove {
			return op, err
		}
	}
	op = "delete"
	if s.deleter != nil {
		return op, s.deleter.DeleteIf(ctx, j.checkpoint)
	}

	return op, s.store.Delete(ctx, j.checkpoint.RunID)
}

// ended takes note of how a write ended, and reports whether that is final.
func (s *saver) ended(op string, err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.failing = false
	case errors.Is(err, checkpointstore.ErrStale):
		s.waiting = nil
		if op == "put" || !s.whole { // the delete of a whole answer that another call is delivering does no harm
			s.taken = &TakenOverError{RunID: s.base.RunID, Err: err}
			s.lost()
		}
	default:
		s.failed(op, err)

		return false
	}

	return true
}

// failed notes a failure, to be told once an episode. The lock is held.
func (s *saver) failed(op string, err error) {
	if !s.failing {
		s.failing, s.failure = true, &storeFailure{op, err}
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

// news returns a failure that was not told yet.
func (s *saver) news() *storeFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.failure
	s.failure = nil

	return f
}

// deadline fires when the answer is to be written though nothing more comes.
func (s *saver) deadline() <-chan time.Time {
	if s == nil {
		return nil
	}
	d, ok := s.pace.wait(time.Now())
	if !ok {
		return nil
	}
	if d == 0 { // it would have been written, but for a write under way
		d = s.every
	}
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}

	return s.timer.C
}

// stop lets go of the timer.
func (s *saver) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}
