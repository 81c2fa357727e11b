package natsstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// How many messages are asked for at once: so many wait in memory.
	fetchSize = 64
	// How often it is read again when what came does not fit together.
	readAttempts = 8
	// How long to wait for the next message.
	fetchWait = 2 * time.Second
	// How long the server keeps what reads a chain, if its reader died.
	readerLife = 10 * time.Second
)

// errTorn means that the chain was replaced while it was read, or was read from a replica that is behind.
var errTorn = errors.New("the chain does not fit together")

// load returns what is stored of a run, encoded as well. What does not fit however often it is read is left out.
func (s *AppendStore) load(ctx context.Context, runID string) (chain, []byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.timeout)
		defer cancel()
	}
	wait := firstRetryWait
	for attempt := 1; ; attempt++ {
		now, data, err := s.read(ctx, subjectsOf(s.bucket, runID))
		if !errors.Is(err, errTorn) {
			return now, data, err
		}
		if attempt == readAttempts {
			if now.tail == 0 {
				return chain{}, nil, err
			}

			return now, data, nil
		}
		if wait, err = backOff(ctx, wait); err != nil {
			return chain{}, nil, err
		}
	}
}

// read asks for the last message of a run, which is most often all there is to know.
func (s *AppendStore) read(ctx context.Context, run subjects) (chain, []byte, error) {
	last, err := s.stream.GetLastMsgForSubject(ctx, run.all)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return chain{}, nil, nil
	}
	if err != nil {
		return chain{}, nil, err
	}
	a := assembly{run: run, ttl: s.ttl}
	if last.Subject == run.whole {
		a.add(message{last.Subject, last.Header, last.Data, last.Sequence, last.Time})

		return a.chain, a.data, nil
	}
	if err := s.readAll(ctx, &a, last.Sequence); err != nil {
		return chain{}, nil, err
	}

	err = a.link()

	return a.chain, a.data, err
}

// readAll reads the last message of each subject of the run, in the order of the stream, up to that with a sequence or a
// later one. The reader in the server may be at a replica that does not have it yet: that is errTorn.
func (s *AppendStore) readAll(ctx context.Context, a *assembly, upTo uint64) error {
	reader, err := s.stream.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: a.run.all, DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: readerLife, MemoryStorage: true, Replicas: 1,
	})
	if err != nil {
		return err
	}
	defer func() {
		_ = s.stream.DeleteConsumer(ctx, reader.CachedInfo().Name) // if that fails, it has readerLife
	}()
	wait := firstRetryWait
	for pending, read := reader.CachedInfo().NumPending, uint64(0); a.tail < upTo; {
		if read >= pending {
			return fmt.Errorf("%w: sequence %d is not there", errTorn, upTo)
		}
		n, err := fetch(ctx, reader, a, upTo, int(min(pending-read, fetchSize)))
		read += uint64(n)
		if errors.Is(err, nats.ErrNoResponders) { // its server has not yet told the others of it
			wait, err = backOff(ctx, wait)
		}
		if err != nil {
			return err
		}
	}

	return nil
}

// backOff waits, and returns how long to wait the next time.
func backOff(ctx context.Context, wait time.Duration) (time.Duration, error) {
	select {
	case <-time.After(wait):
		return min(2*wait, maxRetryWait), nil
	case <-ctx.Done():
		return wait, ctx.Err()
	}
}

// fetch adds the next messages. If none comes (they may have been cleared away meanwhile), that is errTorn.
// It does not wait for what was cleared away behind upTo: that does not come.
func fetch(ctx context.Context, reader jetstream.Consumer, a *assembly, upTo uint64, size int) (int, error) {
	waiting, cancel := context.WithTimeout(ctx, fetchWait)
	defer cancel()
	batch, err := reader.Fetch(size, jetstream.FetchContext(waiting))
	if err != nil {
		return 0, err
	}
	n := 0
	for m := range batch.Messages() {
		n++
		meta, err := m.Metadata()
		if err != nil {
			return n, err
		}
		a.add(message{m.Subject(), m.Headers(), m.Data(), meta.Sequence.Stream, meta.Timestamp})
		if a.tail >= upTo {
			return n, nil
		}
	}
	switch err := batch.Error(); {
	case ctx.Err() != nil:
		return n, ctx.Err()
	case err != nil && waiting.Err() == nil:
		return n, err
	case n == 0:
		return n, fmt.Errorf("%w: nothing came", errTorn)
	default:
		return n, nil
	}
}
