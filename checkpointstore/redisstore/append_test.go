package redisstore_test

import (
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
	"github.com/eino-carryon/carryon/checkpointstore/redisstore"
)

// at is a checkpoint whose text has n bytes.
func at(seq uint64, n int) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Seq: seq, Text: strings.Repeat("x", n)}
}

// more is a delta of n bytes of text behind a sequence.
func more(after uint64, n int) checkpointstore.Delta {
	return checkpointstore.Delta{RunID: "run", Owner: "a", Epoch: 1, After: after, Seq: after + 1, Text: strings.Repeat("y", n)}
}

// number returns a number that INFO tells.
func number(tb testing.TB, client *redis.Client, section, name string) int64 {
	tb.Helper()
	info, err := client.Info(tb.Context(), section).Result()
	require.NoError(tb, err)
	for line := range strings.Lines(info) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			n, err := strconv.ParseInt(value, 10, 64)
			require.NoError(tb, err)

			return n
		}
	}
	require.Fail(tb, "INFO does not tell "+name)

	return 0
}

// A delta goes to the server, to its replica and to its file, and nothing of what is there goes again.
func TestAppendCostsTheDelta(t *testing.T) {
	t.Parallel()
	primary := testserver.Need(t, testserver.Redis, "--appendonly", "yes", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "3600")
	host, port, err := net.SplitHostPort(primary.Addr)
	require.NoError(t, err)
	replica := testserver.Need(t, testserver.Redis, "--replicaof", host, port)
	client := open(t, primary.Addr)
	s := redisstore.New(client, redisstore.WithTTL(time.Hour))
	replicated := func() {
		t.Helper()
		n, err := client.Wait(t.Context(), 1, time.Minute).Result() // WAIT waits for acknowledgements of what this connection wrote
		require.NoError(t, err)
		require.Equal(t, int64(1), n)
	}
	costs := func() map[string]int64 {
		return map[string]int64{
			"sent":       number(t, client, "stats", "total_net_input_bytes"),
			"replicated": number(t, client, "replication", "master_repl_offset"),
			"logged":     number(t, client, "persistence", "aof_current_size"),
		}
	}
	const size, delta, deltas = 1 << 20, 4 << 10, 16
	require.NoError(t, s.Put(t.Context(), at(0, size)))
	require.NoError(t, s.Append(t.Context(), more(0, delta))) // the script goes to the server with the first
	replicated()
	before := costs()
	for i := range uint64(deltas) {
		require.NoError(t, s.Append(t.Context(), more(1+i, delta)))
	}
	replicated()
	for what, n := range costs() {
		n -= before[what]
		t.Logf("%d Appends of %d bytes to %d: %d bytes %s", deltas, delta, size, n, what)
		assert.Greater(t, n, int64(deltas*delta), what)
		assert.Less(t, n, int64(deltas*(delta+1500)), what)
	}
	before = costs()
	require.NoError(t, s.Append(t.Context(), more(deltas, delta)))
	assert.Less(t, costs()["replicated"]-before["replicated"], int64(200), "what is there already is not written again")

	c, err := redisstore.New(open(t, replica.Addr)).Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x", size)+strings.Repeat("y", (deltas+1)*delta), c.Text)
	ttl, err := client.PTTL(t.Context(), "carryon:run").Result()
	require.NoError(t, err)
	assert.Greater(t, ttl, time.Duration(0))
}

// What stands beside the fields of a run is nothing to it; what is wrong in them is damage, and gives way.
func TestDamagedDeltas(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	s := redisstore.New(client)
	ctx := t.Context()
	const key = "carryon:run"
	field := func(n int) string { return "d:0000000000000000000" + strconv.Itoa(n) }
	for name, test := range map[string]struct {
		damage func() error
		want   error
	}{
		"foreign fields": {func() error {
			return client.HSet(ctx, key, "note", "x", "d:", "x", "d:7", "x", "d:x", "x", "d:99999999999999999999", "x", "d:+0000000000000000007", "x").Err()
		}, nil},
		"one is missing":       {func() error { return client.HDel(ctx, key, field(1)).Err() }, checkpointstore.ErrCorrupt},
		"the last is missing":  {func() error { return client.HDel(ctx, key, field(2)).Err() }, checkpointstore.ErrCorrupt},
		"one is cut":           {func() error { return client.HSet(ctx, key, field(2), "carryon-delta 1 ").Err() }, checkpointstore.ErrCorrupt},
		"one is empty":         {func() error { return client.HSet(ctx, key, field(1), "").Err() }, checkpointstore.ErrCorrupt},
		"one too many":         {func() error { return client.HSet(ctx, key, field(3), "x").Err() }, checkpointstore.ErrCorrupt},
		"the sequence is back": {func() error { return client.HSet(ctx, key, "seq", "00000000000000000001").Err() }, checkpointstore.ErrCorrupt},
		"no body":              {func() error { return client.HDel(ctx, key, "body").Err() }, checkpointstore.ErrCorrupt},
		"deltas alone":         {func() error { return client.HDel(ctx, key, "body", "epoch", "seq", "owner").Err() }, checkpointstore.ErrCorrupt},
	} {
		require.NoError(t, s.Delete(ctx, "run"))
		require.NoError(t, s.Put(ctx, at(0, 10)))
		require.NoError(t, s.Append(ctx, more(0, 10)))
		require.NoError(t, s.Append(ctx, more(1, 10)))
		require.NoError(t, test.damage(), name)
		c, err := s.Get(ctx, "run")
		if test.want == nil {
			require.NoError(t, err, name)
			assert.Equal(t, strings.Repeat("x", 10)+strings.Repeat("y", 20), c.Text, name)
			require.NoError(t, s.Append(ctx, more(2, 10)), name)
		} else {
			require.ErrorIs(t, err, test.want, name)
			assert.Empty(t, c.Text, name)
		}
		claim := at(0, 5)
		claim.Epoch, claim.Owner = 2, "b"
		require.NoError(t, s.Put(ctx, claim), name)
		c, err = s.Get(ctx, "run")
		require.NoError(t, err, name)
		assert.Equal(t, "b", c.Owner, name)
		fields, err := client.HGetAll(ctx, key).Result()
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"epoch", "seq", "owner", "body", "bytes"}, slices.Collect(maps.Keys(fields)), "after %s: a Put replaces everything", name)
	}
}

// To what nobody can read nothing is added: its writer has to put the whole.
func TestAppendToGarbage(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	s := redisstore.New(client)
	ctx := t.Context()
	const key = "carryon:run"
	for name, plant := range map[string]func() error{
		"a string": func() error { return client.Set(ctx, key, "x", 0).Err() },
		"no fence": func() error { return client.HSet(ctx, key, "body", "x").Err() },
		"no body": func() error {
			return client.HSet(ctx, key, "epoch", "00000000000000000001", "seq", "00000000000000000000", "owner", "a").Err()
		},
		"no body, and the sequence that it leads to": func() error {
			return client.HSet(ctx, key, "epoch", "00000000000000000001", "seq", "00000000000000000001", "owner", "a").Err()
		},
	} {
		require.NoError(t, client.Del(ctx, key).Err())
		require.NoError(t, plant())
		before, err := client.Dump(ctx, key).Result()
		require.NoError(t, err)
		require.ErrorIs(t, s.Append(ctx, more(0, 10)), checkpointstore.ErrNoBase, name)
		after, err := client.Dump(ctx, key).Result()
		require.NoError(t, err)
		assert.Equal(t, before, after, name)
		require.NoError(t, s.Put(ctx, at(1, 10)), name)
		require.NoError(t, s.Append(ctx, more(1, 10)), name)
	}
}

// The length of all is counted, so that no chain grows to what Get refuses.
func TestTooLargeTogether(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis)
	client := open(t, server.Addr)
	s := redisstore.New(client)
	ctx := t.Context()
	require.NoError(t, s.Put(ctx, at(0, checkpointstore.MaxBytes-2<<20)))
	require.NoError(t, s.Append(ctx, more(0, 1<<20)))
	require.ErrorIs(t, s.Append(ctx, more(1, 1<<20)), checkpointstore.ErrTooLarge)
	c, err := s.Get(ctx, "run")
	require.NoError(t, err)
	assert.Equal(t, uint64(1), c.Seq)
	require.NoError(t, s.Append(ctx, more(1, 1<<19)))
	require.NoError(t, s.Put(ctx, at(3, 10)))
	require.NoError(t, s.Append(ctx, more(3, 1<<20)), "a Put counts anew")
}

// A server that has no memory left and removes nothing refuses what is new, and keeps what is there as it was.
func TestServerOutOfMemory(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.Redis, "--maxmemory-policy", "noeviction")
	client := open(t, server.Addr)
	s := redisstore.New(client)
	ctx := t.Context()
	require.NoError(t, s.Put(ctx, at(0, 100)))
	require.NoError(t, s.Append(ctx, more(0, 100)))
	require.NoError(t, client.ConfigSet(ctx, "maxmemory", "1").Err())
	other := at(0, 100)
	other.RunID = "other"
	for name, err := range map[string]error{
		"Put": s.Put(ctx, at(1, 200)), "Put of a new run": s.Put(ctx, other), "Append": s.Append(ctx, more(1, 100)),
	} {
		require.ErrorContains(t, err, "OOM", name)
	}
	c, err := s.Get(ctx, "run")
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x", 100)+strings.Repeat("y", 100), c.Text)
	_, err = s.Get(ctx, "other")
	require.ErrorIs(t, err, checkpointstore.ErrNotFound)
	require.NoError(t, client.ConfigSet(ctx, "maxmemory", "0").Err())
	require.NoError(t, s.Append(ctx, more(1, 100)))
}
