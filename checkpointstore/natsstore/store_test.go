package natsstore_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/natsstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func key(runID string) string { return "run." + base64.RawURLEncoding.EncodeToString([]byte(runID)) }

func TestContract(t *testing.T) {
	t.Parallel()
	contract(t, jetstream.KeyValueConfig{}, startServer(t, 16<<20))
}

// In a cluster a write is refused in other words, and a read may be behind.
func TestContractInACluster(t *testing.T) {
	t.Parallel()
	contract(t, jetstream.KeyValueConfig{Replicas: 3}, startCluster(t)...)
}

func contract(t *testing.T, config jetstream.KeyValueConfig, servers ...*server.Server) {
	t.Helper()
	for name, kind := range map[string]struct {
		open func(testing.TB, *server.Server, jetstream.KeyValueConfig) checkpointstore.Store
		key  func(runID string) string
		ttl  time.Duration // of what is in a bucket with a TTL of a second
	}{
		"Put":    {openStore, key, time.Second},
		"Append": {openAppendStore, func(runID string) string { return key(runID) + ".whole" }, 3 * time.Second / 4},
	} {
		var count atomic.Int64
		var buckets sync.Map
		newStore := func(tb testing.TB, ttl time.Duration) checkpointstore.Store {
			tb.Helper()
			config := config
			config.Bucket, config.TTL = fmt.Sprintf("%s-%d", name, count.Add(1)), ttl
			s := kind.open(tb, servers[0], config)
			buckets.Store(s, config)

			return s
		}
		configOf := func(tb testing.TB, s checkpointstore.Store) jetstream.KeyValueConfig {
			tb.Helper()
			v, _ := buckets.Load(s)
			config, ok := v.(jetstream.KeyValueConfig)
			require.True(tb, ok)

			return config
		}
		other := servers[len(servers)-1]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(tb testing.TB) checkpointstore.Store {
				tb.Helper()

				return newStore(tb, 0)
			}, storetest.WithPeer(func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store {
				tb.Helper()

				return kind.open(tb, other, configOf(tb, s))
			}), storetest.WithPlant(func(tb testing.TB, s checkpointstore.Store, runID string, data []byte) {
				tb.Helper()
				_, err := bucket(tb, other, configOf(tb, s)).Put(tb.Context(), kind.key(runID), data)
				require.NoError(tb, err)
			}), storetest.WithTTL(kind.ttl, func(tb testing.TB) checkpointstore.Store {
				tb.Helper()

				return newStore(tb, time.Second)
			}))
		})
	}
}

func openStore(tb testing.TB, s *server.Server, config jetstream.KeyValueConfig) checkpointstore.Store {
	tb.Helper()

	return natsstore.New(bucket(tb, s, config))
}

func openAppendStore(tb testing.TB, s *server.Server, config jetstream.KeyValueConfig) checkpointstore.Store {
	tb.Helper()
	js, _ := connect(tb, s, config)

	return appendStore(tb, js, config.Bucket)
}

func appendStore(tb testing.TB, js jetstream.JetStream, bucket string) *natsstore.AppendStore {
	tb.Helper()
	store, err := natsstore.NewAppendStore(tb.Context(), js, bucket)
	require.NoError(tb, err)

	return store
}

// watched counts what a store asks of the bucket.
type watched struct {
	jetstream.KeyValue

	gets, writes atomic.Int64
}

func (w *watched) Get(ctx context.Context, key string) (jetstream.KeyValueEntry, error) {
	w.gets.Add(1)

	return w.KeyValue.Get(ctx, key)
}

func (w *watched) Update(ctx context.Context, key string, value []byte, revision uint64) (uint64, error) {
	w.writes.Add(1)

	return w.KeyValue.Update(ctx, key, value, revision)
}

// A growing answer must not be read back before each write.
func TestOwnPutsAreOneRoundTrip(t *testing.T) {
	t.Parallel()
	srv := startServer(t, 0)
	w := &watched{KeyValue: bucket(t, srv, jetstream.KeyValueConfig{Bucket: "b"})}
	s, other := natsstore.New(w), natsstore.New(w.KeyValue)
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1}
	require.NoError(t, s.Put(t.Context(), c))
	gets := w.gets.Load()
	for range 10 {
		c.Seq++
		require.NoError(t, s.Put(t.Context(), c))
	}
	assert.Equal(t, gets, w.gets.Load())
	assert.Equal(t, int64(10), w.writes.Load())

	// What it remembers is no longer so: somebody deleted, claimed, or both.
	require.NoError(t, other.Delete(t.Context(), "run"))
	first := checkpointstore.Checkpoint{RunID: "run", Owner: "z", Epoch: 1}
	require.NoError(t, s.Put(t.Context(), first), "nothing is stored, so nothing is older")
	require.NoError(t, other.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "b", Epoch: 2}))
	first.Seq++
	require.ErrorIs(t, s.Put(t.Context(), first), checkpointstore.ErrStale)
}

// More runs than a store remembers.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	s := natsstore.New(bucket(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b", Storage: jetstream.MemoryStorage}))
	for seq := range uint64(2) {
		for i := range 1100 {
			require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: fmt.Sprint("run-", i), Owner: "a", Seq: seq}))
		}
	}
}

func TestDeletesLeaveNoData(t *testing.T) {
	t.Parallel()
	kv := bucket(t, startServer(t, 0), jetstream.KeyValueConfig{Bucket: "b"})
	s := natsstore.New(kv)
	large := checkpointstore.Checkpoint{RunID: "run", Text: strings.Repeat("x", 100<<10)}
	for range 5 {
		require.NoError(t, s.Put(t.Context(), large))
		require.NoError(t, s.Delete(t.Context(), "run"))
		require.NoError(t, s.Put(t.Context(), large))
		require.NoError(t, s.DeleteIf(t.Context(), large))
		require.NoError(t, s.Delete(t.Context(), "no such run"))
	}
	status, err := kv.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, uint64(1), status.Values(), "one marker")
	assert.Less(t, status.Bytes(), uint64(1000))
}

func TestLargerThanTheServerTakes(t *testing.T) {
	t.Parallel()
	s := natsstore.New(bucket(t, startServer(t, 64<<10), jetstream.KeyValueConfig{Bucket: "b"}))
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Text: "small"}
	require.NoError(t, s.Put(t.Context(), c))
	large := c
	large.Seq, large.Text = 1, strings.Repeat("x", 64<<10)
	for _, runID := range []string{"run", "new"} {
		large.RunID = runID
		err := s.Put(t.Context(), large)
		require.ErrorIs(t, err, checkpointstore.ErrTooLarge)
		require.ErrorIs(t, err, nats.ErrMaxPayload)
	}
	got, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "small", got.Text)
}

func TestServerThatIsGone(t *testing.T) {
	t.Parallel()
	srv := startServer(t, 0)
	s := natsstore.New(bucket(t, srv, jetstream.KeyValueConfig{Bucket: "b"}))
	c := checkpointstore.Checkpoint{RunID: "run"}
	require.NoError(t, s.Put(t.Context(), c))
	srv.Shutdown()
	srv.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := s.Get(ctx, "run")
	for verb, err := range map[string]error{"Get": err, "Put": s.Put(ctx, c), "Delete": s.Delete(ctx, "run"), "DeleteIf": s.DeleteIf(ctx, c)} {
		require.Error(t, err, verb)
		assert.False(t, errors.Is(err, checkpointstore.ErrStale) || errors.Is(err, checkpointstore.ErrNotFound), "%s: a server that is gone says nothing of the run: %v", verb, err)
	}
}

func BenchmarkStore(b *testing.B) {
	srv := startServer(b, 16<<20)
	var count atomic.Int64
	for name, open := range map[string]func(testing.TB, *server.Server, jetstream.KeyValueConfig) checkpointstore.Store{
		"Store": openStore, "AppendStore": openAppendStore,
	} {
		b.Run(name, func(b *testing.B) {
			storetest.Benchmark(b, func(tb testing.TB) checkpointstore.Store {
				tb.Helper()

				return open(tb, srv, jetstream.KeyValueConfig{Bucket: fmt.Sprintf("bench-%d", count.Add(1))})
			})
		})
	}
}
