// Package memstore keeps checkpoints in memory: for tests, and for runs that need not outlive their process.
package memstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// Store is a checkpointstore.Store in memory. It is also a ConditionalDeleter, an Appender and a Cleaner, and safe
// for concurrent use. It holds every checkpoint until it is deleted; DeleteOlderThan keeps a long-lived process small.
type Store struct {
	mu   sync.Mutex
	runs map[string]record
}

// record is a checkpoint as it would be on a disk: encoded, it shares no memory with anybody's, and what another store
// could not hold this one does not hold either.
type record struct {
	fence   checkpointstore.Fence
	updated time.Time
	data    []byte
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
	_ checkpointstore.Appender           = (*Store)(nil)
	_ checkpointstore.Cleaner            = (*Store)(nil)
)

// New returns an empty store.
func New() *Store { return &Store{runs: map[string]record{}} }

// Put implements checkpointstore.Store.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if stored, ok := s.runs[c.RunID]; ok {
		if err := checkpointstore.AllowPut(stored.fence, c.Fence()); err != nil {
			return err
		}
	}
	s.runs[c.RunID] = record{fence: c.Fence(), updated: c.UpdatedAt, data: data}

	return nil
}

// Append implements checkpointstore.Appender. More than MaxBytes together is ErrTooLarge.
func (s *Store) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := checkpointstore.Begin(ctx, d.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.runs[d.RunID]
	if !ok {
		return fmt.Errorf("%w: nothing is stored of %q", checkpointstore.ErrNoBase, d.RunID)
	}
	again, err := checkpointstore.AllowAppend(stored.fence, d)
	if again || err != nil {
		return err
	}
	if size := len(stored.data) + len(data); size > checkpointstore.MaxBytes {
		return fmt.Errorf("%w: together they take %d bytes, %d are allowed", checkpointstore.ErrTooLarge, size, checkpointstore.MaxBytes)
	}
	// What readers have of the old bytes ends before those that append writes to.
	s.runs[d.RunID] = record{fence: d.Fence(), updated: d.UpdatedAt, data: append(stored.data, data...)}

	return nil
}

// Get implements checkpointstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	s.mu.Lock()
	stored, ok := s.runs[runID]
	s.mu.Unlock()
	if !ok {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}

	return checkpointstore.DecodeFor(runID, stored.data)
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.runs, runID)

	return nil
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	stored, ok := s.runs[c.RunID]
	if !ok {
		return nil
	}
	if err := checkpointstore.AllowDelete(stored.fence, c.Fence()); err != nil {
		return err
	}
	delete(s.runs, c.RunID)

	return nil
}

// DeleteOlderThan implements checkpointstore.Cleaner.
func (s *Store) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	deleted := 0
	for runID, stored := range s.runs {
		if stored.updated.Before(t) {
			delete(s.runs, runID)
			deleted++
		}
	}

	return deleted, nil
}
