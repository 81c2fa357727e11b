// Package encrypted seals checkpoints before they reach any other store, with AES-256-GCM.
//
// What the store below sees, and needs for its own rules, is RunID, Owner, Epoch, Seq, UpdatedAt, Done, the number of a
// key and the size. All else is sealed: text, reasoning, tool calls, Extra, fingerprint, model, usage, counts. What is
// visible is bound to what is sealed: a checkpoint that was edited, or moved to another run, is ErrCorrupt. An
// older whole checkpoint of the same run that somebody puts back is not noticed.
//
// Keys are rotated by giving the new one first: the first key writes, all of them read.
package encrypted

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// ErrUnknownKey means that a checkpoint was sealed with a key that was not given to New. It is not ErrCorrupt, since
// with the right key it could be read.
var ErrUnknownKey = errors.New("encrypted: sealed with a key that is not here")

// sealedKey is where in Extra the sealed checkpoint is.
const sealedKey = "sealed"

// New returns a store that keeps sealed checkpoints in inner. It is a ConditionalDeleter if inner is one, and a Cleaner
// if inner is one; it is as safe for concurrent use as inner. There must be a key, and each must have KeyBytes random
// bytes; New keeps none of the slices. A key may seal 2³² checkpoints, then rotate it.
func New(inner checkpointstore.Store, keys ...[]byte) (checkpointstore.Store, error) {
	if inner == nil {
		return nil, errors.New("encrypted: no store")
	}
	ring, err := newKeyRing(keys)
	if err != nil {
		return nil, err
	}
	s := &store{inner: inner, keys: ring}
	d, deletes := inner.(checkpointstore.ConditionalDeleter)
	c, cleans := inner.(checkpointstore.Cleaner)
	switch {
	case deletes && cleans:
		return struct {
			*store
			deleter
			cleaner
		}{s, deleter{d}, cleaner{c}}, nil
	case deletes:
		return struct {
			*store
			deleter
		}{s, deleter{d}}, nil
	case cleans:
		return struct {
			*store
			cleaner
		}{s, cleaner{c}}, nil
	default:
		return s, nil
	}
}

type store struct {
	inner checkpointstore.Store
	keys  keyRing
}

// Put implements checkpointstore.Store.
func (s *store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	plain, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	outer := visible(c)
	outer.Extra = map[string]any{sealedKey: s.keys.seal(plain, c.RunID)}

	return s.inner.Put(ctx, outer)
}

// Get implements checkpointstore.Store.
func (s *store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	outer, err := s.inner.Get(ctx, runID)
	if err != nil {
		return outer, err
	}
	c, err := s.open(outer)
	if err != nil {
		return checkpointstore.Checkpoint{Version: outer.Version, RunID: runID, Owner: outer.Owner, Epoch: outer.Epoch, Seq: outer.Seq}, err
	}

	return c, nil
}

func (s *store) open(outer checkpointstore.Checkpoint) (checkpointstore.Checkpoint, error) {
	sealed, ok := outer.Extra[sealedKey].([]byte)
	if !ok {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: it is not sealed", checkpointstore.ErrCorrupt)
	}
	plain, err := s.keys.open(sealed, outer.RunID)
	if err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	c, err := checkpointstore.DecodeFor(outer.RunID, plain)
	if err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	if c.Fence() != outer.Fence() || c.Done != outer.Done || !c.UpdatedAt.Equal(outer.UpdatedAt) {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: what is visible of it was changed", checkpointstore.ErrCorrupt)
	}

	return c, nil
}

// Delete implements checkpointstore.Store.
func (s *store) Delete(ctx context.Context, runID string) error { return s.inner.Delete(ctx, runID) }

// visible is the part of c that the store below may see.
func visible(c checkpointstore.Checkpoint) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: c.RunID, Owner: c.Owner, Epoch: c.Epoch, Seq: c.Seq, UpdatedAt: c.UpdatedAt, Done: c.Done}
}

type deleter struct {
	inner checkpointstore.ConditionalDeleter
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (d deleter) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	return d.inner.DeleteIf(ctx, visible(c))
}

type cleaner struct{ inner checkpointstore.Cleaner }

// DeleteOlderThan implements checkpointstore.Cleaner.
func (c cleaner) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	return c.inner.DeleteOlderThan(ctx, t)
}
