// Package redisstore keeps checkpoints in Redis, or in a server that speaks as it does and runs its scripts.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
//	store := redisstore.New(client, redisstore.WithTTL(24*time.Hour))
//
// A run is one hash under one key: the prefix and the run id. Nothing touches two keys, so a cluster may spread them as
// it likes; a part of a run id in braces is what the cluster places the key by.
//
// A Put is one round trip, and so is an Append, which adds a field to the hash: the client sends the delta and the
// server passes it on to its replicas and its append-only file, whatever the length of what is there. A Put replaces all
// fields. Get reads them all with one command. Without ContextTimeoutEnabled the client waits for its own timeouts instead of the context's.
// Redis acknowledges a write before its replicas have it: a failover may lose the last Puts, and with them
// a claim. Where that matters, use a store whose writes are durable. A server that evicts keys (maxmemory-policy) may
// remove a checkpoint like any other key.
package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// DefaultPrefix is before each run id unless WithPrefix says another.
const DefaultPrefix = "carryon:"

// Store is a checkpointstore.Store in Redis. It is also a ConditionalDeleter and an Appender, and safe for
// concurrent use.
type Store struct {
	client redis.UniversalClient
	prefix string
	ttl    time.Duration

	put, append, delete *redis.Script
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
	_ checkpointstore.Appender           = (*Store)(nil)
)

// Option changes what New makes.
type Option func(*Store)

// WithPrefix says what comes before the run id in a key; the default is DefaultPrefix. Give each application its own.
func WithPrefix(prefix string) Option { return func(s *Store) { s.prefix = prefix } }

// WithTTL lets a checkpoint go that long after its last Put or Append; the default, and 0 and less, is to keep it. It is counted
// in milliseconds, at least one.
func WithTTL(ttl time.Duration) Option {
	return func(s *Store) {
		s.ttl = max(ttl, 0)
		if ttl > 0 {
			s.ttl = max(ttl, time.Millisecond)
		}
	}
}

// New returns a store that uses client, which stays the caller's to close.
func New(client redis.UniversalClient, opts ...Option) *Store {
	s := &Store{
		client: client, prefix: DefaultPrefix,
		put: redis.NewScript(putScript), append: redis.NewScript(appendScript), delete: redis.NewScript(deleteScript),
	}
	for _, opt := range opts {
		opt(s)
	}

	return s
}

// Put implements checkpointstore.Store.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	body, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}

	return s.run(ctx, s.put, c.RunID, c.Fence(), body, s.ttl.Milliseconds())
}

// Append implements checkpointstore.Appender. More than MaxBytes together is ErrTooLarge.
func (s *Store) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := checkpointstore.Begin(ctx, d.RunID); err != nil {
		return err
	}
	delta, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}

	return s.run(ctx, s.append, d.RunID, d.Fence(), digits(d.After), delta, s.ttl.Milliseconds(), checkpointstore.MaxBytes)
}

// Get implements checkpointstore.Store. The fence it returns is that of the hash, which Put compares.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	fields, err := s.client.HGetAll(ctx, s.prefix+runID).Result()
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return checkpointstore.Checkpoint{RunID: runID}, fmt.Errorf("%w: %w", checkpointstore.ErrCorrupt, err)
	}
	if err != nil {
		return checkpointstore.Checkpoint{}, fmt.Errorf("redisstore: %w", errOf(ctx, err))
	}

	return parse(runID, fields)
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	if err := s.client.Del(ctx, s.prefix+runID).Err(); err != nil {
		return fmt.Errorf("redisstore: %w", errOf(ctx, err))
	}

	return nil
}

// DeleteIf implements checkpointstore.ConditionalDeleter.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}

	return s.run(ctx, s.delete, c.RunID, c.Fence())
}

// run runs a script by its hash, and by its text on a server that has not seen it yet.
func (s *Store) run(ctx context.Context, script *redis.Script, runID string, f checkpointstore.Fence, more ...any) error {
	args := append([]any{digits(f.Epoch), digits(f.Seq), f.Owner}, more...)
	said, err := script.Run(ctx, s.client, []string{s.prefix + runID}, args...).Int()
	if err != nil {
		return fmt.Errorf("redisstore: %w", errOf(ctx, err))
	}
	switch said {
	case done:
		return nil
	case noBase:
		err = checkpointstore.ErrNoBase
	case tooLarge:
		err = checkpointstore.ErrTooLarge
	default:
		err = checkpointstore.ErrStale
	}

	return fmt.Errorf("%w: epoch %d, sequence %d", err, f.Epoch, f.Seq)
}

// errOf adds the context's error to that of a call that ended with it: the client may report a timeout of its socket.
func errOf(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("%w: %w", ended, err)
	}

	return err
}
