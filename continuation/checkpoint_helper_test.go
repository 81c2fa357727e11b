package continuation_test

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

// ckStore is a store with something wrong.
type ckStore struct {
	checkpointstore.Store
	getErr, putErr  error
	delay, putDelay time.Duration
	deaf            time.Duration // a delay that no context ends
	putPanic        bool
	beforePut       chan struct{}

	gets, puts, now, most atomic.Int32
	bytes                 atomic.Int64
	put                   atomic.Pointer[checkpointstore.Checkpoint] // the last one
}

func (s *ckStore) wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *ckStore) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	s.gets.Add(1)
	if s.deaf > 0 {
		<-time.After(s.deaf)
	}
	if err := s.wait(ctx, s.delay); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	if s.getErr != nil {
		return checkpointstore.Checkpoint{RunID: runID}, s.getErr
	}

	return s.Store.Get(ctx, runID)
}

func (s *ckStore) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	s.puts.Add(1)
	s.put.Store(&c)
	s.most.Store(max(s.most.Load(), s.now.Add(1)))
	defer s.now.Add(-1)
	s.bytes.Add(int64(len(c.Text)))
	if s.beforePut != nil {
		<-s.beforePut
	}
	if err := s.wait(ctx, s.delay+s.putDelay); err != nil {
		return err
	}
	switch {
	case s.putPanic:
		panic("oops")
	case s.putErr != nil:
		return s.putErr
	default:
		return s.Store.Put(ctx, c)
	}
}

// ckFixed always returns the same checkpoint.
type ckFixed struct {
	*memstore.Store
	c checkpointstore.Checkpoint
}

func (s *ckFixed) Get(context.Context, string) (checkpointstore.Checkpoint, error) { return s.c, nil }
