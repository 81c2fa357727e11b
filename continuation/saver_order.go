package continuation

import "context"

// enter makes s the last call of its key in this process. What an earlier one still writes is waited for, half the start
// timeout at most; after that its writes are of an older epoch, and come too late. It reports false if an earlier call has
// not ended that asks something else: both cannot keep a checkpoint under one key.
func (s *saver) enter(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.startTimeout/2)
	defer cancel()
	var over *saver
	for {
		before := s.ledger.enter(s.base.RunID, s, over)
		if before == nil {
			return true
		}
		if before.settle(ctx) {
			continue
		}
		if before.lives() && before.base.Fingerprint != s.base.Fingerprint {
			return false
		}
		over = before
	}
}

// end says that the call has ended. What it still has to write is written.
func (s *saver) end() {
	s.mu.Lock()
	if s.lives() {
		close(s.over)
	}
	s.retire()
	s.mu.Unlock()
	s.ledger.leave(s.base.RunID, s)
}

// settle waits until the call has ended and all is written, and reports false if ctx ended first.
func (s *saver) settle(ctx context.Context) bool {
	select {
	case <-s.over:
	case <-ctx.Done():
		return false
	}
	for {
		s.mu.Lock()
		idle := s.idle
		s.mu.Unlock()
		if idle == nil {
			return true
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return false
		}
	}
}

// lives reports whether the call has not ended.
func (s *saver) lives() bool {
	select {
	case <-s.over:
		return false
	default:
		return true
	}
}

// settled reports whether the call has ended and has written all.
func (s *saver) settled() bool { return !s.lives() && !s.busy() }
