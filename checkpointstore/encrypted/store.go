// Package encrypted seals checkpoints before they reach any other store, with AES-256-GCM.
//
// What the store below sees, and needs for its own rules, is RunID, Owner, Epoch, Seq, UpdatedAt, Done, the number of a
// key and the size. All else is sealed: text, reasoning, tool calls, Extra, fingerprint, model, usage, counts. What is
// visible is bound to what is sealed: a checkpoint that was edited, or moved to another run, is ErrCorrupt. An
// older whole checkpoint of the same run that somebody puts back is not noticed. What is added to a checkpoint (Append) is sealed
// by itself, behind what is there, with a number in plain sight: so the store below also sees how often something was added,
// and how long each piece is; a piece that is missing, twice or out of order is ErrCorrupt.
//
// Keys are rotated by giving the new one first: the first key writes, all of them read.
package encrypted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// ErrUnknownKey means that a checkpoint was sealed with a key that was not given to New. It is not ErrCorrupt, since
// with the right key it could be read.
var ErrUnknownKey = errors.New("encrypted: sealed with a key that is not here")

// sealedKey is where in Extra the sealed checkpoint is. What was added to it is under this, a slash and the sequence, of 20
// digits so that the keys order as the sequences do.
const sealedKey = "sealed"

// New returns a store that keeps sealed checkpoints in inner. It is a ConditionalDeleter, an Appender and a Cleaner as far
// as inner is; it is as safe for concurrent use as inner. There must be a key, and each must have KeyBytes random bytes; New
// keeps none of the slices. A key may seal 2³² checkpoints and deltas, then rotate it.
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
	a, appends := inner.(checkpointstore.Appender)
	c, cleans := inner.(checkpointstore.Cleaner)
	del, app, cln := deleter{d}, appender{a, s}, cleaner{c}
	switch [3]bool{deletes, appends, cleans} {
	case [3]bool{true, true, true}:
		return struct {
			*store
			deleter
			appender
			cleaner
		}{s, del, app, cln}, nil
	case [3]bool{true, true, false}:
		return struct {
			*store
			deleter
			appender
		}{s, del, app}, nil
	case [3]bool{true, false, true}:
		return struct {
			*store
			deleter
			cleaner
		}{s, del, cln}, nil
	case [3]bool{false, true, true}:
		return struct {
			*store
			appender
			cleaner
		}{s, app, cln}, nil
	case [3]bool{true, false, false}:
		return struct {
			*store
			deleter
		}{s, del}, nil
	case [3]bool{false, true, false}:
		return struct {
			*store
			appender
		}{s, app}, nil
	case [3]bool{false, false, true}:
		return struct {
			*store
			cleaner
		}{s, cln}, nil
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
	var plain []byte
	keys := slices.Sorted(maps.Keys(outer.Extra)) // the checkpoint, then what was added to it
	for i, key := range keys {
		sealed, ok := outer.Extra[key].([]byte)
		if !ok || (i == 0) != (key == sealedKey) || i > 0 && !strings.HasPrefix(key, sealedKey+"/") {
			return checkpointstore.Checkpoint{}, fmt.Errorf("%w: Extra[%.64q] is nothing sealed", checkpointstore.ErrCorrupt, key)
		}
		record, err := s.keys.open(sealed, outer.RunID)
		if err != nil {
			return checkpointstore.Checkpoint{}, err
		}
		plain = append(plain, record...)
	}
	if plain == nil {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: it is not sealed", checkpointstore.ErrCorrupt)
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

type appender struct {
	inner  checkpointstore.Appender
	sealer *store // and not its keys: with a list in it a Store could be neither compared nor a key of a map
}

// Append implements checkpointstore.Appender.
func (a appender) Append(ctx context.Context, d checkpointstore.Delta) error {
	plain, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}

	return a.inner.Append(ctx, checkpointstore.Delta{
		RunID: d.RunID, Owner: d.Owner, Epoch: d.Epoch, After: d.After, Seq: d.Seq, UpdatedAt: d.UpdatedAt, Done: d.Done,
		Extra: map[string]any{fmt.Sprintf("%s/%020d", sealedKey, d.Seq): a.sealer.keys.seal(plain, d.RunID)},
	})
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
