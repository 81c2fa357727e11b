package sqltest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

func testContract(t *testing.T, d database) {
	t.Helper()
	storetest.Run(t, d.newStore, storetest.WithPeer(func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store {
		tb.Helper()
		o := d.below(tb, s)

		return d.store(tb, o.dsn, o.table)
	}), storetest.WithPlant(func(tb testing.TB, s checkpointstore.Store, runID string, data []byte) {
		tb.Helper()
		o := d.below(tb, s)
		mark := map[sqlstore.Dialect][2]string{sqlstore.SQLite: {"?1", "?2"}, sqlstore.PostgreSQL: {"$1", "$2"}}[d.dialect]
		o.exec(tb, "UPDATE "+o.table+" SET body = "+mark[0]+" WHERE run_id = "+mark[1], data, runID)
	}))
}

// What a hand may do to the columns that the fence is in.
func testColumnsEditedByHand(t *testing.T, d database) {
	t.Helper()
	s := d.newStore(t)
	o := d.below(t, s)
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1}))
	for _, value := range []string{"x", "", "1", "-0000000000000000001", strings.Repeat("9", 21)} {
		_, err := o.db.ExecContext(t.Context(), "UPDATE "+o.table+" SET epoch = '"+value+"'")
		require.Error(t, err, "the database takes the epoch %q, which no claim could replace", value)
	}

	o.exec(t, "UPDATE "+o.table+" SET epoch = '00000000000000000007'")
	c, err := s.Get(t.Context(), "run")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
	assert.Equal(t, checkpointstore.Checkpoint{Version: checkpointstore.Version, RunID: "run", Owner: "a", Epoch: 7}, c)
	require.ErrorIs(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Owner: "b", Epoch: 7}), checkpointstore.ErrStale)

	o.exec(t, "UPDATE "+o.table+" SET epoch = '99999999999999999999'") // 20 digits, but no uint64
	_, err = s.Get(t.Context(), "run")
	require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
	require.NoError(t, s.Delete(t.Context(), "run"))
}

// A statement that waits for another connection ends with its context, or (SQLite) when the driver has had enough; and it
// says that its context has ended.
func testContextEndsAWait(t *testing.T, d database) {
	t.Helper()
	s := d.store(t, strings.Replace(d.dsn(t), "busy_timeout(60000)", "busy_timeout(200)", 1), d.newTable())
	o := d.below(t, s)
	c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1}
	require.NoError(t, s.Put(t.Context(), c))
	tx, err := o.db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = tx.ExecContext(t.Context(), "UPDATE "+o.table+" SET epoch = epoch") // holds the row
	require.NoError(t, err)

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Put(ctx, c), context.DeadlineExceeded)
	require.ErrorIs(t, s.DeleteIf(ctx, c), context.DeadlineExceeded)
	require.ErrorIs(t, s.Append(ctx, deltaOf(1, 0, 1, "")), context.DeadlineExceeded)

	require.NoError(t, tx.Rollback())
	require.NoError(t, s.Put(t.Context(), c))
}

func TestServerThatIsGone(t *testing.T) {
	t.Parallel()
	server := testserver.Need(t, testserver.PostgreSQL, "-c", "fsync=off")
	d := database{driver: "pgx", dialect: sqlstore.PostgreSQL}
	db := d.open(t, "postgres://postgres@"+server.Addr+"/postgres?sslmode=disable")
	s, err := sqlstore.New(db, sqlstore.PostgreSQL)
	require.NoError(t, err)
	require.NoError(t, s.Migrate(t.Context()))
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run"}))
	require.NoError(t, server.Stop())
	_, err = s.Get(t.Context(), "run")
	for name, err := range map[string]error{
		"Get": err, "Put": s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run"}), "Delete": s.Delete(t.Context(), "run"),
		"DeleteIf": s.DeleteIf(t.Context(), checkpointstore.Checkpoint{RunID: "run"}), "Migrate": s.Migrate(t.Context()),
		"Append": s.Append(t.Context(), deltaOf(0, 0, 1, "")),
	} {
		require.ErrorContains(t, err, "sqlstore:", name)
		assert.False(t, errors.Is(err, checkpointstore.ErrStale) || errors.Is(err, checkpointstore.ErrNotFound), "%s: a server that is gone says nothing of the run", name)
	}
}

func BenchmarkStore(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { storetest.Benchmark(b, sqlite().newStore) })
	b.Run("postgresql", func(b *testing.B) {
		d := postgresql(b)
		storetest.Benchmark(b, d.newStore)
	})
}
