package natsstore

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// How long to wait before reading again after a lost race: the reader may be a replica that is behind.
const (
	firstRetryWait = time.Millisecond
	maxRetryWait   = 50 * time.Millisecond
)

// Store is a checkpointstore.Store in a bucket. It is also a ConditionalDeleter, and safe for concurrent use.
type Store struct {
	kv    jetstream.KeyValue
	known *revisions[revision]
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
)

// New returns a store in the bucket kv, whose connection stays the caller's to close.
func New(kv jetstream.KeyValue) *Store { return &Store{kv: kv, known: newRevisions[revision]()} }

// Put implements checkpointstore.Store. It writes where this store wrote last, which is one round trip; if somebody else
// has written since, or nobody yet, it reads first.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	key := keyOf(c.RunID)
	if last, ok := s.known.get(key); ok && checkpointstore.AllowPut(last.fence, c.Fence()) == nil {
		written, err := s.kv.Update(ctx, key, data, last.number)
		if err == nil {
			s.known.set(key, revision{written, c.Fence()})

			return nil
		}
		if !lostRace(err) {
			return fail(ctx, err)
		}
	}
	s.known.forget(key)

	return s.race(ctx, c.RunID, func(now *current) error {
		var written uint64
		var err error
		if now == nil {
			written, err = s.kv.Create(ctx, key, data)
		} else {
			if err := now.allowPut(c.Fence()); err != nil {
				return err
			}
			written, err = s.kv.Update(ctx, key, data, now.number)
		}
		if err == nil {
			s.known.set(key, revision{written, c.Fence()})
		}

		return err
	})
}

// Get implements checkpointstore.Store.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	entry, err := s.kv.Get(ctx, keyOf(runID))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	if err != nil {
		return checkpointstore.Checkpoint{}, fail(ctx, err)
	}

	return checkpointstore.DecodeFor(runID, entry.Value())
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	return s.delete(ctx, runID, func(checkpointstore.Fence) error { return nil })
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	return s.delete(ctx, c.RunID, func(stored checkpointstore.Fence) error {
		return checkpointstore.AllowDelete(stored, c.Fence())
	})
}

func (s *Store) delete(ctx context.Context, runID string, allow func(stored checkpointstore.Fence) error) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	s.known.forget(keyOf(runID))

	return s.race(ctx, runID, func(now *current) error {
		if now == nil { // and so no marker
			return nil
		}
		if now.readable {
			if err := allow(now.fence); err != nil {
				return err
			}
		}

		return s.kv.Purge(ctx, keyOf(runID), jetstream.LastRevision(now.number))
	})
}

// current is what is stored now.
type current struct {
	revision
	readable bool // the fence is known; otherwise it is garbage
}

func (c *current) allowPut(next checkpointstore.Fence) error {
	if !c.readable {
		return nil
	}

	return checkpointstore.AllowPut(c.fence, next)
}

// race reads what is stored, nil if nothing is, and lets do write where it was; and again as long as somebody else was
// faster. Each round that is lost was won by another, and do ends it if that one is newer.
func (s *Store) race(ctx context.Context, runID string, do func(*current) error) error {
	for wait := firstRetryWait; ; wait = min(2*wait, maxRetryWait) {
		var now *current
		entry, err := s.kv.Get(ctx, keyOf(runID))
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
		case err != nil:
			return fail(ctx, err)
		default:
			f, readable := fenceIn(entry.Value(), runID, false)
			now = &current{revision{entry.Revision(), f}, readable}
		}
		err = do(now)
		if !lostRace(err) {
			return fail(ctx, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lostRace reports whether the revision to be replaced is no longer the last one.
func lostRace(err error) bool {
	// What a server of a cluster says (from 2.12) while another write of the key is on its way to the replicas.
	const wrongLastSequence = 10164
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == wrongLastSequence {
		return true
	}

	return wrongSequence(err)
}

// wrongSequence reports whether the server has compared, and found another revision.
func wrongSequence(err error) bool { return errors.Is(err, jetstream.ErrKeyExists) }

func fail(ctx context.Context, err error) error {
	switch {
	case err == nil, errors.Is(err, checkpointstore.ErrStale), errors.Is(err, checkpointstore.ErrNoBase):
		return err
	case errors.Is(err, nats.ErrMaxPayload):
		return fmt.Errorf("%w: %w", checkpointstore.ErrTooLarge, err)
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()): // the client may report a timeout of its own
		return fmt.Errorf("natsstore: %w: %w", ctx.Err(), err)
	default:
		return fmt.Errorf("natsstore: %w", err)
	}
}

func keyOf(runID string) string { return "run." + base64.RawURLEncoding.EncodeToString([]byte(runID)) }
