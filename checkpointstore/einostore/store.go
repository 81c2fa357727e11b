// Package einostore keeps checkpoints in a store that Eino's own checkpoints are in already: whatever is given to
// compose.WithCheckPointStore or adk.RunnerConfig.
//
//	store := einostore.New(shared)
//
// A run is one entry, under Prefix and the run id, so that a run may have the same name as a checkpoint of Eino's. If the
// store has a Delete, as Eino's optional interface has it (adk.CheckPointDeleter), entries are deleted; otherwise they are
// set to a few bytes that stand for nothing, and stay until the store's owner removes them. Nothing here lists entries,
// so there is no DeleteOlderThan.
//
// # What it cannot do
//
// Eino's interface has no compare-and-set. Inside one Store, comparing and writing are one step all the same: give all
// models of a process the same one. Between processes, and between two Stores, they are two steps, a Get and a Set:
//
//   - Two processes that take one run over at the same moment may both believe that they have it. Both answer, and both
//     pay. The first Put of either that finds the other's in its place ends that one with a TakenOverError.
//   - A process thought dead that goes on is refused if its successor has written before, as with every store; in the
//     moment between its Get and its Set it is not, and overwrites a checkpoint, which the successor's next one replaces.
//     A delete in such a moment removes the successor's.
//
// Where a process may be thought dead while it lives, and acts on what it answers, use a store that compares: sqlstore,
// redisstore, natsstore, or filestore. Each Put reads the entry first: two round trips, and the whole of it twice.
package einostore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/compose"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// Prefix is before each run id.
const Prefix = "carryon/"

// gone stands for nothing in a store that cannot delete.
const gone = "carryon-deleted"

// Store is a checkpointstore.Store in one of Eino's. It is also a ConditionalDeleter, and safe for concurrent use if the
// store below is.
type Store struct {
	below   compose.CheckPointStore
	deleter deleter // nil if below is none
	locks   locks
}

// deleter is Eino's optional interface.
type deleter interface {
	Delete(ctx context.Context, checkPointID string) error
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
)

// New returns a store in below, which stays the caller's and must not be nil.
func New(below compose.CheckPointStore) *Store {
	s := &Store{below: below, locks: newLocks()}
	s.deleter, _ = below.(deleter)

	return s
}

// Put implements checkpointstore.Store, but for what the package's comment says of several processes.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	unlock, err := s.locks.lock(ctx, c.RunID)
	if err != nil {
		return err
	}
	defer unlock()
	if stored, found, err := s.fence(ctx, c.RunID); err != nil {
		return err
	} else if found {
		if err := checkpointstore.AllowPut(stored, c.Fence()); err != nil {
			return err
		}
	}

	return errOf(ctx, s.below.Set(ctx, Prefix+c.RunID, data))
}

// Get implements checkpointstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	data, found, err := s.read(ctx, runID)
	if err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	if !found {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}

	return checkpointstore.DecodeFor(runID, data)
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	return s.delete(ctx, runID, func(checkpointstore.Fence) error { return nil })
}

// DeleteIf implements checkpointstore.ConditionalDeleter, but for what the package's comment says of several processes.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	return s.delete(ctx, c.RunID, func(stored checkpointstore.Fence) error {
		return checkpointstore.AllowDelete(stored, c.Fence())
	})
}

func (s *Store) delete(ctx context.Context, runID string, allow func(stored checkpointstore.Fence) error) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	unlock, err := s.locks.lock(ctx, runID)
	if err != nil {
		return err
	}
	defer unlock()
	data, found, err := s.read(ctx, runID)
	if err != nil || !found {
		return err
	}
	if h, err := checkpointstore.DecodeHeader(data); err == nil && h.RunID == runID {
		if err := allow(h.Fence); err != nil {
			return err
		}
	}
	if s.deleter == nil {
		return errOf(ctx, s.below.Set(ctx, Prefix+runID, []byte(gone)))
	}

	return errOf(ctx, s.deleter.Delete(ctx, Prefix+runID))
}

// fence returns the fence of what is stored. Not found is also what has no readable fence, or another run's.
func (s *Store) fence(ctx context.Context, runID string) (checkpointstore.Fence, bool, error) {
	data, found, err := s.read(ctx, runID)
	if err != nil || !found {
		return checkpointstore.Fence{}, false, err
	}
	h, err := checkpointstore.DecodeHeader(data)

	return h.Fence, err == nil && h.RunID == runID, nil
}

// read returns the entry of a run.
func (s *Store) read(ctx context.Context, runID string) (data []byte, found bool, err error) {
	data, found, err = s.below.Get(ctx, Prefix+runID)
	if err != nil {
		return nil, false, errOf(ctx, err)
	}

	return data, found && !bytes.Equal(data, []byte(gone)), nil
}

// errOf wraps an error of the store below, and adds the context's if that has ended.
func errOf(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("einostore: %w: %w", ended, err)
	}

	return fmt.Errorf("einostore: %w", err)
}
