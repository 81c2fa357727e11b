package einostore

import (
	"context"
	"hash/fnv"
)

// lockCount is how many locks the runs of a store share.
const lockCount = 64

// locks keep the goroutines of one process from each other. What is held is a place in a channel, so that waiting for it
// ends with a context.
type locks [lockCount]chan struct{}

func newLocks() (l locks) {
	for i := range l {
		l[i] = make(chan struct{}, 1)
	}

	return l
}

func (l *locks) lock(ctx context.Context, runID string) (unlock func(), err error) {
	h := fnv.New32a()
	h.Write([]byte(runID))
	mine := l[h.Sum32()%lockCount]
	select {
	case mine <- struct{}{}:
		return func() { <-mine }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
