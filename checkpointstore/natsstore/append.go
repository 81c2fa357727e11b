package natsstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eino-carryon/carryon/checkpointstore"
)

const (
	// What makes a message of a bucket the marker of a purge.
	operationHeader = "KV-Operation"
	purgeOperation  = "PURGE"

	// How often a server may refuse to add where nothing has changed.
	maxRefusals = 3
)

// AppendStore is a checkpointstore.Store in a bucket that adds to what is there. It is also a ConditionalDeleter, and safe
// for concurrent use.
type AppendStore struct {
	js      jetstream.JetStream
	stream  jetstream.Stream
	prefix  string // of the subjects that are published to
	bucket  string
	ttl     time.Duration
	timeout time.Duration // where a context has no deadline
	known   *revisions[chain]
	writers writers
}

var (
	_ checkpointstore.Store              = (*AppendStore)(nil)
	_ checkpointstore.ConditionalDeleter = (*AppendStore)(nil)
	_ checkpointstore.Appender           = (*AppendStore)(nil)
)

// NewAppendStore returns a store in a bucket that is there, whose TTL it asks for. The connection of js stays the caller's to
// close. A bucket that mirrors another one is an error.
func NewAppendStore(ctx context.Context, js jetstream.JetStream, bucket string) (*AppendStore, error) {
	stream, err := js.Stream(ctx, "KV_"+bucket)
	if err != nil {
		return nil, fail(ctx, err)
	}
	config := stream.CachedInfo().Config
	if config.Mirror != nil {
		return nil, fmt.Errorf("natsstore: the bucket %q mirrors another one", bucket)
	}
	s := &AppendStore{js: js, stream: stream, bucket: bucket, ttl: config.MaxAge, timeout: js.Options().DefaultTimeout, known: newRevisions[chain]()}
	switch opts := js.Options(); {
	case opts.Domain != "":
		s.prefix = "$JS." + opts.Domain + ".API."
	case opts.APIPrefix != "":
		s.prefix = strings.TrimSuffix(opts.APIPrefix, ".") + "."
	}

	return s, nil
}

// Put implements checkpointstore.Store. Where this store wrote or read last it is one round trip, and one more that clears
// away what had been added to the checkpoint before.
func (s *AppendStore) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}

	return s.change(ctx, c.RunID, c.Fence(), func(now chain) (chain, error) {
		if err := now.allowPut(c.Fence()); err != nil {
			return now, err
		}

		return s.replace(ctx, c.RunID, now, c.Fence(), data)
	})
}

// Append implements checkpointstore.Appender. Where this store wrote or read last it is one round trip. More than MaxBytes
// together is ErrTooLarge. A server before 2.11 refuses it; that is ErrNoBase.
func (s *AppendStore) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := checkpointstore.Begin(ctx, d.RunID); err != nil {
		return err
	}
	data, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}
	refused, refusals := uint64(0), 0

	return s.change(ctx, d.RunID, d.Fence(), func(now chain) (chain, error) {
		again, err := now.allowAppend(d, len(data))
		if again {
			return now, errSettled
		}
		if err != nil {
			return now, err
		}
		if now.whole != refused {
			refused, refusals = now.whole, 0
		}
		next, err := s.add(ctx, d, data, now)
		if !wrongSequence(err) {
			return next, err
		}
		if refusals++; refusals > maxRefusals {
			return now, fmt.Errorf("%w: the server refuses to add although nothing has changed: %w", checkpointstore.ErrNoBase, err)
		}

		return now, err
	})
}

// add writes a delta that goes on from what is stored now, or the whole if it is time for that. A whole that is larger
// than the server takes cannot be renewed.
func (s *AppendStore) add(ctx context.Context, d checkpointstore.Delta, data []byte, now chain) (chain, error) {
	if !now.renewal.IsZero() && !time.Now().Before(now.renewal) {
		next, err := s.renew(ctx, d, data, now)
		if !errors.Is(err, nats.ErrMaxPayload) {
			return next, err
		}
	}
	run := subjectsOf(s.bucket, d.RunID)
	tail, err := s.publishDelta(ctx, run, d, data, now.whole)

	return now.with(tail, d.Fence(), len(data)), err
}

// renew puts the whole with the delta.
func (s *AppendStore) renew(ctx context.Context, d checkpointstore.Delta, data []byte, now chain) (chain, error) {
	stored, whole, err := s.load(ctx, d.RunID)
	switch {
	case err != nil:
		return now, err
	case !stored.stored:
		return now, fmt.Errorf("%w: nothing is stored of %q any more", checkpointstore.ErrNoBase, d.RunID)
	case stored.tail != now.tail:
		return now, jetstream.ErrKeyExists
	}
	c, err := checkpointstore.DecodeFor(d.RunID, append(whole, data...))
	if err != nil {
		return now, fmt.Errorf("%w: %w", checkpointstore.ErrNoBase, err)
	}
	encoded, err := checkpointstore.Encode(c)
	if err != nil {
		return now, err
	}

	return s.replace(ctx, d.RunID, now, d.Fence(), encoded)
}

// replace writes a whole checkpoint in the place of what is stored now.
func (s *AppendStore) replace(ctx context.Context, runID string, now chain, f checkpointstore.Fence, data []byte) (chain, error) {
	run, began := subjectsOf(s.bucket, runID), time.Now()
	sequence, err := s.publishWhole(ctx, run, nil, data, now.whole)
	if err != nil {
		return now, err
	}
	next := chainOf(sequence, f, len(data), began, s.ttl)
	// Nobody reads them any more, so nothing is lost if they stay until the next time.
	next.littered = now.littered && s.clear(ctx, run, sequence) != nil

	return next, nil
}

// clear removes what was added before a sequence. What is added behind it stays.
func (s *AppendStore) clear(ctx context.Context, run subjects, before uint64) error {
	return s.stream.Purge(ctx, jetstream.WithPurgeSubject(run.deltas+">"), jetstream.WithPurgeSequence(before))
}

// Get implements checkpointstore.Store. It is one round trip if nothing was added, and else some more; the deltas come 64 at a
// time.
func (s *AppendStore) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	now, data, err := s.load(ctx, runID)
	if err != nil {
		return checkpointstore.Checkpoint{}, fail(ctx, err)
	}
	if !now.stored {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}

	if _, known := s.known.get(runID); !known { // a claim comes next
		s.remember(runID, now)
	}

	return checkpointstore.DecodeFor(runID, data)
}

// Delete implements checkpointstore.Store.
func (s *AppendStore) Delete(ctx context.Context, runID string) error {
	return s.delete(ctx, runID, checkpointstore.Fence{}, func(chain) error { return nil })
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (s *AppendStore) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	return s.delete(ctx, c.RunID, c.Fence(), func(now chain) error { return now.allowDelete(c.Fence()) })
}

func (s *AppendStore) delete(ctx context.Context, runID string, by checkpointstore.Fence, allow func(chain) error) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	run := subjectsOf(s.bucket, runID)

	return s.change(ctx, runID, by, func(now chain) (chain, error) {
		if err := allow(now); err != nil {
			return now, err
		}
		next, settled := chain{whole: now.whole, tail: now.tail}, errSettled
		if now.stored { // else there is a marker, and maybe what a delete that broke off has left
			marker := nats.Header{}
			marker.Set(operationHeader, purgeOperation)
			marker.Set(jetstream.MsgRollup, jetstream.MsgRollupSubject)
			sequence, err := s.publishWhole(ctx, run, marker, nil, now.whole)
			if err != nil {
				return now, err
			}
			next.whole, next.tail, settled = sequence, sequence, nil
		}
		if now.littered {
			if err := s.clear(ctx, run, next.tail+1); err != nil {
				return now, err
			}
		}

		return next, settled
	})
}
