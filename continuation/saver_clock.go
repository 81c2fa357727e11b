package continuation

import "time"

// deadline fires when the answer is to be written though nothing more comes.
func (s *saver) deadline() <-chan time.Time {
	if s == nil {
		return nil
	}
	d, ok := s.patience()
	if !ok {
		return nil
	}
	if s.timer == nil {
		s.timer = time.NewTimer(d)
	} else {
		s.timer.Reset(d)
	}

	return s.timer.C
}

// patience is how long it is until something is to be written; false if there is nothing.
func (s *saver) patience() (time.Duration, bool) {
	d, ok := s.pace.wait(time.Now())
	if ok && d == 0 { // it would have been written, but for a write under way
		d = s.every
	}

	return d, ok
}

// stop lets go of the timer.
func (s *saver) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// watchOver sets the alarm for an answer whose consumer is busy with what it has got: nobody is in Recv then, which writes
// otherwise. It is called behind a Recv, without the call's lock.
func (c *call) watchOver(s *saver, d time.Duration) {
	if s == nil || !s.armed.CompareAndSwap(false, true) {
		return
	}
	time.AfterFunc(d, func() { c.alarmed(s) })
}

// alarmed writes what is due. A Recv that is under way sees to it itself, and sets the alarm again at its end.
func (c *call) alarmed(s *saver) {
	s.armed.Store(false)
	if !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if s, d := c.unsaved(); s != nil {
		c.save(false)
		c.watchOver(s, d)
	}
}

// unsaved returns the saver if it has something to write, and when.
func (c *call) unsaved() (*saver, time.Duration) {
	if c.saver == nil || c.phase == phaseEnded || !c.saves() {
		return nil, 0
	}
	d, ok := c.saver.patience()
	if !ok {
		return nil, 0
	}

	return c.saver, d
}
