package continuation

import (
	"context"
	"errors"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// write makes one write. What fails is tried again as long as the call lives and nothing newer has come; of the last write
// the tries are counted. A panic of the store is an error of it.
func (s *saver) write(j job) {
	for try := 1; ; try++ {
		err := s.attempt(j)
		op, final := s.ended(err)
		if err == nil && op == "delete" && s.forgets {
			s.ledger.forget(s.base.RunID, s.base.Epoch)
		}
		if final || j.last && try == saveTries || !s.pause(savePause<<min(try, 4), j.last) {
			return
		}
	}
}

// pause waits before the next try. It reports false if there is none: something newer is to be written, or the call has ended
// without.
func (s *saver) pause(d time.Duration, last bool) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	over := s.over
	if last {
		over = nil
	}
	select {
	case <-t.C:
		return true
	case <-s.newer:
	case <-over:
	}

	return false
}

func (s *saver) attempt(j job) (err error) {
	ctx, cancel := context.WithTimeout(s.ctx, saveTimeout)
	defer cancel()
	defer time.AfterFunc(slowWrite, s.slows).Stop()
	defer func() {
		if p := recover(); p != nil {
			err = &PanicError{Value: p}
		}
	}()
	if !j.remove || !s.owns || s.deleter == nil {
		began := time.Now()
		err = s.record(ctx, j)
		s.pulse.beat(min(time.Since(began), s.every))
		if err == nil {
			s.owns, s.whole = true, j.checkpoint.Done
		}
		if err != nil || !j.remove {
			return err
		}
	}
	s.does("delete")
	if s.deleter != nil {
		return s.deleter.DeleteIf(ctx, j.checkpoint)
	}

	return s.store.Delete(ctx, j.checkpoint.RunID)
}

// record writes a checkpoint: what is new of it, if the store can add and that is at most half; else the whole. A store that
// could not add is given the whole at once or, if it failed, at the next try.
func (s *saver) record(ctx context.Context, j job) error {
	if d, size, ok := s.delta(j); ok {
		s.does("append")
		err := s.weighed(j, size, true, func() error { return s.appender.Append(ctx, d) })
		if !errors.Is(err, checkpointstore.ErrNoBase) && !errors.Is(err, checkpointstore.ErrTooLarge) {
			return err
		}
	}
	s.does("put")

	return s.weighed(j, j.size, false, func() error { return s.store.Put(ctx, j.checkpoint) })
}

// does takes note of the operation that begins.
func (s *saver) does(op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doing = op
}

// weighed makes a write, and takes note of what is stored then. After a Put that failed what was stored before is still the
// best guess: a store that has something else says so when that is to be added to.
func (s *saver) weighed(j job, size int, adds bool, write func() error) error {
	t, done := s.pace.tally, false
	t.begin(size)
	defer func() { // the store may panic
		if !done {
			t.failed(time.Now(), size, adds)
		}
		if !done && adds {
			s.kept = nil
			t.base.Store(0)
		}
	}()
	if err := write(); err != nil {
		return err
	}
	done = true
	t.wrote(j.size, size, adds, s.appender != nil)
	if s.appender != nil {
		s.kept = &j.checkpoint
	}

	return nil
}

// restored says that what has come so far is what was claimed.
func (s *saver) restored() {
	t, total := s.pace.tally, s.pace.total()
	t.begin(total)
	t.wrote(total, total, false, s.kept != nil)
	s.pace.unsaved, s.pace.call = 0, time.Time{}
	s.restoring = false
}

// delta returns what is to be added to what is stored, and how long that is. It reports false if the whole is to be written.
func (s *saver) delta(j job) (d checkpointstore.Delta, size int, ok bool) {
	if s.appender == nil || s.kept == nil {
		return d, 0, false
	}
	if _, adds := s.pace.tally.next(time.Now(), j.size); !adds {
		return d, 0, false
	}
	d, ok = checkpointstore.Diff(*s.kept, j.checkpoint)
	size = deltaSize(d)

	return d, size, ok && s.pace.tally.small(size, j.size)
}

// ended takes note of how an operation ended, and returns which it was and whether that is final.
func (s *saver) ended(err error) (op string, final bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op = s.doing
	slow := s.slow
	s.slow = false
	switch {
	case err == nil:
		s.failing = slow // one after the other is one episode
	case errors.Is(err, checkpointstore.ErrStale):
		s.waiting = nil
		if op != "delete" || !s.whole { // the delete of a whole answer that another call is delivering does no harm
			s.taken = &TakenOverError{RunID: s.base.RunID, Err: err}
			s.lost()
		}
	default:
		s.failed(op, err)

		return op, errors.Is(err, checkpointstore.ErrTooLarge) // the next time it is not smaller
	}

	return op, true
}
