// Package redisstore keeps checkpoints in Redis, or in a server that speaks as it does and runs its scripts.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
//	store := redisstore.New(client, redisstore.WithTTL(24*time.Hour))
//
// A run is one hash under one key: the prefix and the run id. Nothing touches two keys, so a cluster may spread them as
// it likes; a part of a run id in braces is what the cluster places the key by.
//
// A Put is one round trip. Without ContextTimeoutEnabled the client waits for its own timeouts instead of the context's.
// Redis acknowledges a write before its replicas have it: a failover may lose the last Puts, and with them
// a claim. Where that matters, use a store whose writes are durable. A server that evicts keys (maxmemory-policy) may
// remove a checkpoint like any other key.
package redisstore

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// DefaultPrefix is before each run id unless WithPrefix says another.
const DefaultPrefix = "carryon:"

// Store is a checkpointstore.Store in Redis. It is also a ConditionalDeleter, and safe for concurrent use.
type Store struct {
	client redis.UniversalClient
	prefix string
	ttl    time.Duration

	put, delete *redis.Script
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
)

// Option changes what New makes.
type Option func(*Store)

// WithPrefix says what comes before the run id in a key; the default is DefaultPrefix. Give each application its own.
func WithPrefix(prefix string) Option { return func(s *Store) { s.prefix = prefix } }

// WithTTL lets a checkpoint go that long after its last Put; the default, and 0 and less, is to keep it. It is counted
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
		put: redis.NewScript(putScript), delete: redis.NewScript(deleteScript),
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

	return s.run(ctx, s.put, c, body, s.ttl.Milliseconds())
}

// Get implements checkpointstore.Store. The fence it returns is that of the hash, which Put compares.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	fields, err := s.client.HMGet(ctx, s.prefix+runID, "epoch", "seq", "owner", "body").Result()
	if redis.HasErrorPrefix(err, "WRONGTYPE") {
		return checkpointstore.Checkpoint{RunID: runID}, fmt.Errorf("%w: %w", checkpointstore.ErrCorrupt, err)
	}
	if err != nil {
		return checkpointstore.Checkpoint{}, fmt.Errorf("redisstore: %w", errOf(ctx, err))
	}

	return parse(runID, fields)
}

func parse(runID string, fields []any) (checkpointstore.Checkpoint, error) {
	text := make([]string, 4)
	found := false
	for i := range min(len(fields), len(text)) {
		if s, ok := fields[i].(string); ok {
			text[i], found = s, true
		}
	}
	if !found {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	var hash checkpointstore.Fence
	epoch, err1 := strconv.ParseUint(text[0], 10, 64)
	seq, err2 := strconv.ParseUint(text[1], 10, 64)
	if err1 == nil && err2 == nil {
		hash = checkpointstore.Fence{Epoch: epoch, Seq: seq, Owner: text[2]}
	}
	c, err := checkpointstore.DecodeFor(runID, []byte(text[3]))
	if err == nil && c.Fence() != hash {
		err = fmt.Errorf("%w: the fields of its hash were changed", checkpointstore.ErrCorrupt)
	}
	if err != nil {
		return checkpointstore.Checkpoint{RunID: runID, Version: c.Version, Epoch: hash.Epoch, Seq: hash.Seq, Owner: hash.Owner}, err
	}

	return c, nil
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

	return s.run(ctx, s.delete, c)
}

// run runs a script by its hash, and by its text on a server that has not seen it yet.
func (s *Store) run(ctx context.Context, script *redis.Script, c checkpointstore.Checkpoint, more ...any) error {
	args := append([]any{digits(c.Epoch), digits(c.Seq), c.Owner}, more...)
	done, err := script.Run(ctx, s.client, []string{s.prefix + c.RunID}, args...).Int()
	if err != nil {
		return fmt.Errorf("redisstore: %w", errOf(ctx, err))
	}
	if done == 0 {
		return fmt.Errorf("%w: epoch %d, sequence %d", checkpointstore.ErrStale, c.Epoch, c.Seq)
	}

	return nil
}

// errOf adds the context's error to that of a call that ended with it: the client may report a timeout of its socket.
func errOf(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil {
		return fmt.Errorf("%w: %w", ended, err)
	}

	return err
}

// digits writes n so that texts order as numbers do.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }
