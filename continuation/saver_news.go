package continuation

import (
	"cmp"
	"errors"
	"time"
)

// What is told of a store that takes too long.
var (
	errSlowStore = errors.New("continuation: a write has taken more than two seconds, and is still under way")
	errSlowEnd   = errors.New("continuation: the last write was still under way when the call ended")
)

// maxUntold bounds the episodes that wait to be told of: nobody is in Recv, which does so.
const maxUntold = 8

// failed notes a failure, to be told once an episode. The lock is held.
func (s *saver) failed(op string, err error) {
	if !s.failing {
		s.failing = true
		if len(s.untold) == maxUntold {
			return
		}
		s.untold = append(s.untold, storeFailure{op, err})
	}
}

// slows notes that a write takes long.
func (s *saver) slows() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.slow = true
	s.failed(s.doing, errSlowStore)
}

// leavesOut notes what a checkpoint cannot hold.
func (s *saver) leavesOut(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untold = append(s.untold, storeFailure{"encode", err})
}

// news returns what was not told yet.
func (s *saver) news() []storeFailure {
	s.mu.Lock()
	defer s.mu.Unlock()
	untold := s.untold
	s.untold = nil

	return untold
}

// wait waits until all is written, for the start timeout, or until nobody waits for the call any more. That the store takes
// longer is a failure of it.
func (s *saver) wait(gone ...<-chan struct{}) {
	s.mu.Lock()
	idle := s.idle
	s.mu.Unlock()
	if idle == nil {
		return
	}
	limit := time.NewTimer(s.startTimeout)
	defer limit.Stop()
	gone = append(gone, nil, nil)
	select {
	case <-idle:
	case <-gone[0]:
	case <-gone[1]:
	case <-limit.C:
		s.mu.Lock()
		defer s.mu.Unlock()
		s.failed(cmp.Or(s.doing, "put"), errSlowEnd)
	}
}
