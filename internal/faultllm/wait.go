package faultllm

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrForgotten says that the record waited for is no longer kept.
	ErrForgotten = errors.New("faultllm: the record is forgotten")
	// ErrNotDisconnected says that the request waited for ended without the client leaving.
	ErrNotDisconnected = errors.New("faultllm: the client did not leave")
)

// Wait waits until request n (from 0) has arrived and its record fulfils until, and returns that record. It ends with
// the cause of ctx, or with [ErrForgotten].
func (s *Server) Wait(ctx context.Context, n int, until func(Record) bool) (Record, error) {
	var found Record
	err := s.ledger.wait(ctx, func(l *ledger) (bool, error) {
		i := n - (l.totals.Requests - len(l.records))
		if i < 0 {
			return false, fmt.Errorf("request %d: %w", n, ErrForgotten)
		}
		if i >= len(l.records) {
			return false, nil
		}
		found = *l.records[i]
		return until(found), nil
	})
	return found, err
}

// WaitFault waits until the fault of request n has begun.
func (s *Server) WaitFault(ctx context.Context, n int) (Record, error) {
	return s.Wait(ctx, n, func(r Record) bool { return r.FaultHit })
}

// WaitEnded waits until request n is served or broken.
func (s *Server) WaitEnded(ctx context.Context, n int) (Record, error) {
	return s.Wait(ctx, n, func(r Record) bool { return !r.Ended.IsZero() })
}

// WaitDisconnect waits until the client of request n has left. It ends with [ErrNotDisconnected] if the response ended
// otherwise.
func (s *Server) WaitDisconnect(ctx context.Context, n int) (Record, error) {
	r, err := s.Wait(ctx, n, func(r Record) bool { return r.Disconnected || !r.Ended.IsZero() })
	if err == nil && !r.Disconnected {
		err = fmt.Errorf("request %d: %w", n, ErrNotDisconnected)
	}
	return r, err
}

// WaitIdle waits until no request is being served.
func (s *Server) WaitIdle(ctx context.Context) error {
	return s.ledger.wait(ctx, func(l *ledger) (bool, error) { return l.active == 0, nil })
}

// WaitConnections waits until at most n connections of clients are open. Idle ones count: a client drops those with
// [net/http.Client.CloseIdleConnections].
func (s *Server) WaitConnections(ctx context.Context, n int) error {
	return s.conns.wait(ctx, n)
}

// wait calls done under the lock after every change until it is true or fails.
func (l *ledger) wait(ctx context.Context, done func(*ledger) (bool, error)) error {
	for {
		l.mu.Lock()
		ok, err := done(l)
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		if ok || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
