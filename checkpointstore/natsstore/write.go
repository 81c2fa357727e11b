package natsstore

import (
	"context"
	"errors"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// errSettled ends a change that has nothing to write.
var errSettled = errors.New("there is nothing to write")

// publishWhole writes under the whole's subject if its last message there is at a sequence: the server compares and writes
// in one step.
func (s *AppendStore) publishWhole(ctx context.Context, run subjects, header nats.Header, data []byte, last uint64) (uint64, error) {
	m := &nats.Msg{Subject: s.prefix + run.whole, Header: header, Data: data}
	ack, err := s.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(last))
	if err != nil {
		return 0, err
	}

	return ack.Sequence, nil
}

// publishDelta writes a delta if the last message under the whole's subject is at a sequence. A server that does not know the
// second header compares with the last message under the delta's own subject, which cannot be that, and so it refuses.
func (s *AppendStore) publishDelta(ctx context.Context, run subjects, d checkpointstore.Delta, data []byte, whole uint64) (uint64, error) {
	m := nats.NewMsg(s.prefix + run.delta(d.After, d.Seq))
	m.Data = data
	m.Header.Set(jetstream.ExpectedLastSubjSeqHeader, strconv.FormatUint(whole, 10))
	m.Header.Set(jetstream.ExpectedLastSubjSeqSubjHeader, run.whole)
	ack, err := s.js.PublishMsg(ctx, m)
	if err != nil {
		return 0, err
	}

	return ack.Sequence, nil
}

// change lets do write behind what is stored, which it is given: what this store knows, or else what it reads. Of what it knows
// nothing follows but a write, which the server refuses if it is no longer so. It reads again as long as somebody else was
// faster; each round that is lost was won by another, and do ends it if that one is newer.
func (s *AppendStore) change(ctx context.Context, runID string, by checkpointstore.Fence, do func(chain) (chain, error)) error {
	unlock, err := s.writers.lock(ctx, runID, by)
	if err != nil {
		return err
	}
	defer unlock()
	now, known := s.known.take(runID)
	unsure := now.unsure
	known = known && !unsure
	for wait := firstRetryWait; ; {
		err = nil
		if !known {
			now, _, err = s.load(ctx, runID)
			now.unsure = unsure
		}
		next := now
		if err == nil {
			next, err = do(now)
		}
		switch {
		case err == nil, errors.Is(err, errSettled) && !known:
			s.remember(runID, next)

			return nil
		case known && judged(err):
		case judged(err), !lostRace(err):
			if unsure || !judged(err) {
				s.known.set(runID, chain{unsure: true})
			}

			return fail(ctx, err)
		case !known:
			if wait, err = backOff(ctx, wait); err != nil {
				return err
			}
		}
		known = false
	}
}

// remember keeps what the next write needs. Of what is not there nothing is kept: most such runs are over.
func (s *AppendStore) remember(runID string, now chain) {
	if now.stored {
		s.known.set(runID, now)
	}
}

// judged reports whether an error only says how things stand.
func judged(err error) bool {
	for _, judgement := range []error{errSettled, checkpointstore.ErrStale, checkpointstore.ErrNoBase, checkpointstore.ErrTooLarge, nats.ErrMaxPayload} {
		if errors.Is(err, judgement) {
			return true
		}
	}

	return false
}
