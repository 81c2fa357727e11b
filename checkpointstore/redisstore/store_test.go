package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
	"github.com/eino-carryon/carryon/checkpointstore/redisstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func open(tb testing.TB, addr string) *redis.Client {
	tb.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	tb.Cleanup(func() { client.Close() })

	return client
}

// redisCluster is a cluster of one node: it refuses what a cluster refuses.
func redisCluster(tb testing.TB) string {
	tb.Helper()
	server := testserver.Need(tb, testserver.Redis, "--cluster-enabled", "yes")
	client := open(tb, server.Addr)
	require.NoError(tb, client.ClusterAddSlotsRange(tb.Context(), 0, 16383).Err())
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		info, err := client.ClusterInfo(tb.Context()).Result()
		require.NoError(tb, err)
		if strings.Contains(info, "cluster_state:ok") {
			return server.Addr
		}
		<-tick.C
	}
}

func contract(t *testing.T, dial func(testing.TB) redis.UniversalClient) {
	t.Helper()
	var count atomic.Int64
	var prefixes sync.Map
	newStore := func(tb testing.TB, opts ...redisstore.Option) checkpointstore.Store {
		tb.Helper()
		prefix := fmt.Sprintf("test %d:", count.Add(1))
		s := redisstore.New(dial(tb), append(opts, redisstore.WithPrefix(prefix))...)
		prefixes.Store(s, prefix)

		return s
	}
	prefixOf := func(s checkpointstore.Store) string {
		prefix, _ := prefixes.Load(s)

		return fmt.Sprint(prefix)
	}
	const ttl = time.Second
	storetest.Run(t, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()

		return newStore(tb)
	}, storetest.WithPeer(func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store {
		tb.Helper()

		return redisstore.New(dial(tb), redisstore.WithPrefix(prefixOf(s)))
	}), storetest.WithPlant(func(tb testing.TB, s checkpointstore.Store, runID string, data []byte) {
		tb.Helper()
		require.NoError(tb, dial(tb).HSet(tb.Context(), prefixOf(s)+runID, "body", data).Err())
	}), storetest.WithTTL(ttl, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()

		return newStore(tb, redisstore.WithTTL(ttl))
	}))
}

func TestContract(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	contract(t, func(tb testing.TB) redis.UniversalClient {
		tb.Helper()

		return open(tb, server.Addr)
	})
}

func TestContractInACluster(t *testing.T) {
	t.Parallel()
	addr := redisCluster(t)
	contract(t, func(tb testing.TB) redis.UniversalClient {
		tb.Helper()
		client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{addr}, ContextTimeoutEnabled: true})
		tb.Cleanup(func() { client.Close() })

		return client
	})
}

// What others, or a hand, may leave under the key of a run gives way.
func TestGarbageUnderTheKey(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	s := redisstore.New(client)
	ctx := t.Context()
	claim := checkpointstore.Checkpoint{RunID: "run", Owner: "b", Epoch: 1}
	for name, plant := range map[string]func() error{
		"a string": func() error { return client.Set(ctx, "carryon:run", "x", 0).Err() },
		"a list":   func() error { return client.RPush(ctx, "carryon:run", "x").Err() },
		"no fence": func() error { return client.HSet(ctx, "carryon:run", "body", "x").Err() },
		"words": func() error {
			return client.HSet(ctx, "carryon:run", "epoch", "zzzzzzzzzzzzzzzzzzzz", "seq", "1").Err()
		},
		"short numbers": func() error { return client.HSet(ctx, "carryon:run", "epoch", "9", "seq", "9", "owner", "a").Err() },
	} {
		for verb, do := range map[string]func() error{
			"Put":      func() error { return s.Put(ctx, claim) },
			"Delete":   func() error { return s.Delete(ctx, "run") },
			"DeleteIf": func() error { return s.DeleteIf(ctx, claim) },
		} {
			require.NoError(t, client.Del(ctx, "carryon:run").Err())
			require.NoError(t, plant())
			_, err := s.Get(ctx, "run")
			require.ErrorIs(t, err, checkpointstore.ErrCorrupt, name)
			require.NoError(t, do(), "%s over %s", verb, name)
			c, err := s.Get(ctx, "run")
			if verb == "Put" {
				require.NoError(t, err)
				assert.Equal(t, "b", c.Owner)
			} else {
				require.ErrorIs(t, err, checkpointstore.ErrNotFound, "%s over %s", verb, name)
			}
		}
	}

	require.NoError(t, s.Put(ctx, claim))
	require.NoError(t, client.HSet(ctx, "carryon:run", "epoch", "00000000000000000005").Err())
	c, err := s.Get(ctx, "run")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
	assert.Equal(t, uint64(5), c.Epoch, "the epoch that a claim must pass")
}

// counter counts the scripts that are sent to the server.
type counter struct{ sent atomic.Int64 }

func (*counter) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *counter) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if strings.HasPrefix(cmd.Name(), "eval") { // and not what a new connection says first
			c.sent.Add(1)
		}

		return next(ctx, cmd)
	}
}

func (*counter) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestAWriteIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	var c counter
	client.AddHook(&c)
	s := redisstore.New(client)
	put := func(seq uint64) int64 {
		before := c.sent.Load()
		require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Seq: seq}))

		return c.sent.Load() - before
	}
	assert.Equal(t, int64(2), put(1), "the first sends the script after its hash")
	for seq := range uint64(5) {
		assert.Equal(t, int64(1), put(2+seq))
	}
	require.NoError(t, client.ScriptFlush(t.Context()).Err()) // as a restart of the server does
	assert.Equal(t, int64(2), put(9))
	assert.Equal(t, int64(1), put(9))

	for i, want := range []int64{2, 1, 1} {
		before := c.sent.Load()
		require.NoError(t, s.Append(t.Context(), checkpointstore.Delta{RunID: "run", After: 9 + uint64(i), Seq: 10 + uint64(i)}))
		assert.Equal(t, want, c.sent.Load()-before, "Append %d", i)
	}
}

func TestWithoutTTLNothingExpires(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a"}
	for ttl, want := range map[time.Duration]bool{0: false, -time.Second: false, time.Nanosecond: true, time.Hour: true} {
		require.NoError(t, redisstore.New(client).Delete(t.Context(), "run"))
		require.NoError(t, redisstore.New(client, redisstore.WithTTL(time.Hour)).Put(t.Context(), c))
		require.NoError(t, redisstore.New(client, redisstore.WithTTL(ttl)).Put(t.Context(), c))
		left, err := client.PTTL(t.Context(), "carryon:run").Result()
		require.NoError(t, err)
		assert.Equal(t, want, left != -1, "%s leaves %s", ttl, left)
		if ttl != time.Nanosecond { // what has that is gone
			require.NoError(t, redisstore.New(client, redisstore.WithTTL(2*time.Hour)).Put(t.Context(), c))
			require.NoError(t, redisstore.New(client, redisstore.WithTTL(ttl)).Append(t.Context(), checkpointstore.Delta{RunID: "run", Owner: "a", Seq: 1}))
			left, err := client.PTTL(t.Context(), "carryon:run").Result()
			require.NoError(t, err)
			assert.Equal(t, want, left != -1, "Append with %s leaves %s", ttl, left)
		}
	}
}

func TestServerThatIsGone(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := redis.NewClient(&redis.Options{Addr: server.Addr, MaxRetries: -1, DialerRetries: 1})
	defer client.Close()
	s := redisstore.New(client)
	c := checkpointstore.Checkpoint{RunID: "run"}
	require.NoError(t, s.Put(t.Context(), c))
	require.NoError(t, server.Stop())
	_, err := s.Get(t.Context(), "run")
	for verb, err := range map[string]error{"Get": err, "Put": s.Put(t.Context(), c), "Append": s.Append(t.Context(), checkpointstore.Delta{RunID: "run", Seq: 1}), "Delete": s.Delete(t.Context(), "run"), "DeleteIf": s.DeleteIf(t.Context(), c)} {
		require.ErrorContains(t, err, "redisstore:", verb)
		assert.False(t, errors.Is(err, checkpointstore.ErrStale) || errors.Is(err, checkpointstore.ErrNoBase) || errors.Is(err, checkpointstore.ErrNotFound), "%s: a server that is gone says nothing of the run", verb)
	}
}

// A server that accepts and says nothing: the call ends with its context and says so.
func TestServerThatIsSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	s := redisstore.New(open(t, l.Addr().String()))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Put(ctx, checkpointstore.Checkpoint{RunID: "run"}), context.DeadlineExceeded)
	ctx, cancel = context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Append(ctx, checkpointstore.Delta{RunID: "run", Seq: 1}), context.DeadlineExceeded)
}

func BenchmarkStore(b *testing.B) {
	server := testserver.Need(b, testserver.Redis)
	storetest.Benchmark(b, func(tb testing.TB) checkpointstore.Store {
		tb.Helper()
		client := open(tb, server.Addr)
		require.NoError(tb, client.FlushAll(tb.Context()).Err())

		return redisstore.New(client)
	})
}
