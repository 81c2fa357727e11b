package sqltest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

// at is a checkpoint of owner a.
func at(epoch, seq uint64, text string) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{Version: checkpointstore.Version, RunID: "run", Owner: "a", Epoch: epoch, Seq: seq, Text: text}
}

// deltaOf leads from a sequence of owner a to another.
func deltaOf(epoch, after, seq uint64, text string) checkpointstore.Delta {
	return checkpointstore.Delta{RunID: "run", Owner: "a", Epoch: epoch, After: after, Seq: seq, Text: text}
}

func holds(t *testing.T, s *sqlstore.Store, want checkpointstore.Checkpoint) {
	t.Helper()
	got, err := s.Get(t.Context(), want.RunID)
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// count is how many deltas there are, of whatever checkpoint.
func (o opened) count(tb testing.TB) (n int) {
	tb.Helper()
	require.NoError(tb, o.db.QueryRowContext(tb.Context(), "SELECT count(*) FROM "+o.table+"_deltas").Scan(&n))

	return n
}

// TestAppendCostsWhatItAdds: behind a checkpoint of a megabyte the database writes some pages for a delta of four KB, and
// not the megabyte. The Put shows that what is measured is what is written.
func TestAppendCostsWhatItAdds(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		d := sqlite()
		dsn := d.dsn(t) + "&_pragma=wal_autocheckpoint(0)" // nothing but the log is written then
		appendCosts(t, d.store(t, dsn, "runs"), func() int64 {
			path, _, _ := strings.Cut(strings.TrimPrefix(dsn, "file:"), "?")
			info, err := os.Stat(path + "-wal")
			require.NoError(t, err)

			return info.Size()
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		d := postgresql(t, "-c", "fsync=off", "-c", "autovacuum=off") // a server of its own, on which nobody else writes
		db := d.open(t, d.dsn(t))
		appendCosts(t, d.store(t, d.dsn(t), "runs"), func() (n int64) {
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT CAST(pg_current_wal_insert_lsn() - '0/0' AS bigint)").Scan(&n))

			return n
		})
	})
}

func appendCosts(t *testing.T, s *sqlstore.Store, written func() int64) {
	t.Helper()
	const size, appends, allowed = 1 << 20, 50, 32 << 10
	whole := at(1, 0, incompressible(size))
	began := written()
	require.NoError(t, s.Put(t.Context(), whole))
	put := written() - began
	require.Greater(t, put, int64(size), "a Put writes the whole, so this measures something else")

	more, most := incompressible(4<<10), int64(0)
	began = written()
	for i := range uint64(appends) {
		before := written()
		require.NoError(t, s.Append(t.Context(), deltaOf(1, i, i+1, more)))
		most = max(most, written()-before)
		whole.Seq, whole.Text = i+1, whole.Text+more
	}
	t.Logf("a Put of 1 MB writes %d KB; an Append of 4 KB behind it %d KB, at most %d KB", put>>10, (written()-began)/appends>>10, most>>10)
	assert.LessOrEqual(t, most, int64(allowed))
	holds(t, s, whole)
}

// incompressible is a text that PostgreSQL cannot make shorter.
func incompressible(size int) string {
	var b strings.Builder
	for n := uint64(88172645463325252); b.Len() < size; { // xorshift
		n ^= n << 13
		n ^= n >> 7
		n ^= n << 17
		fmt.Fprintf(&b, "%x", n)
	}

	return b.String()[:size]
}

// testOrphans: deltas that a checkpoint left behind are not read with the next one, wherever they would stand, and the
// cleaning takes them away.
func testOrphans(t *testing.T, d database) {
	t.Helper()
	s := d.store(t, d.dsn(t), d.newTable())
	o := d.below(t, s)
	plant := func(epoch, after, seq uint64) {
		t.Helper()
		body, err := checkpointstore.EncodeDelta(deltaOf(epoch, after, seq, " of another life"))
		require.NoError(t, err)
		o.exec(t, fmt.Sprintf("INSERT INTO %s_deltas (run_id, epoch, seq, after_seq, updated_at, total, body) VALUES ('run', '%020d', '%020d', '%020d', '0001-01-01T00:00:00.000000000Z', 9, %s)",
			o.table, epoch, seq, after, map[sqlstore.Dialect]string{sqlstore.SQLite: "?1", sqlstore.PostgreSQL: "$1"}[d.dialect]), body)
	}
	require.NoError(t, s.Put(t.Context(), at(2, 5, "text")))
	plant(1, 5, 6)
	plant(1, 8, 9)
	plant(2, 3, 4)
	plant(2, 4, 5)
	plant(3, 5, 6)
	holds(t, s, at(2, 5, "text"))
	require.NoError(t, s.Append(t.Context(), deltaOf(2, 5, 8, ", more")))
	holds(t, s, at(2, 8, "text, more"))
	if d.dialect == sqlstore.PostgreSQL { // where the row says which delta is the last
		plant(2, 8, 9)
		plant(2, 5, 6)
		holds(t, s, at(2, 8, "text, more"))
		require.NoError(t, s.Append(t.Context(), deltaOf(2, 8, 9, " and more")), "in the place of one")
		require.NoError(t, s.Append(t.Context(), deltaOf(2, 9, 10, "!")))
		holds(t, s, at(2, 10, "text, more and more!"))
	}
	want, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	n, err := s.DeleteOlderThan(t.Context(), want.UpdatedAt) // the row is not older
	require.NoError(t, err)
	assert.Zero(t, n)
	holds(t, s, want)
	require.NoError(t, s.Put(t.Context(), want))
	holds(t, s, want)
	assert.Zero(t, o.count(t), "a Put removes what is there of its run")

	plant(1, 5, 6)
	require.NoError(t, s.Delete(t.Context(), "run"))
	assert.Zero(t, o.count(t))
	plant(1, 5, 6)
	n, err = s.DeleteOlderThan(t.Context(), time.Time{}.AddDate(1, 0, 0))
	require.NoError(t, err)
	assert.Zero(t, n, "an orphan is no checkpoint")
	assert.Zero(t, o.count(t), "the cleaning removes them")
}

// testDamagedChain: a delta that is missing or is not what it was is damage, of which the fence can be read.
func testDamagedChain(t *testing.T, d database) {
	t.Helper()
	for name, damage := range map[string]string{
		"one is missing":          "DELETE FROM %s_deltas WHERE seq LIKE '%%6'",
		"it leads elsewhere":      "UPDATE %s_deltas SET after_seq = '00000000000000000004' WHERE seq LIKE '%%6'",
		"it leads in a circle":    "UPDATE %s_deltas SET after_seq = '00000000000000000007' WHERE seq LIKE '%%6'",
		"one is another":          "UPDATE %[1]s_deltas SET body = (SELECT body FROM %[1]s_deltas WHERE seq LIKE '%%7') WHERE seq LIKE '%%6'",
		"one is empty":            "UPDATE %s_deltas SET body = substr(body, 1, 0) WHERE seq LIKE '%%7'",
		"one is cut":              "UPDATE %s_deltas SET body = substr(body, 1, 60) WHERE seq LIKE '%%7'",
		"one is a checkpoint":     "UPDATE %[1]s_deltas SET body = (SELECT body FROM %[1]s) WHERE seq LIKE '%%7'",
		"the checkpoint is empty": "UPDATE %s SET body = substr(body, 1, 0)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := d.store(t, d.dsn(t), d.newTable())
			require.NoError(t, s.Put(t.Context(), at(2, 5, "text")))
			require.NoError(t, s.Append(t.Context(), deltaOf(2, 5, 6, ", more")))
			require.NoError(t, s.Append(t.Context(), deltaOf(2, 6, 7, ", more")))
			o := d.below(t, s)
			o.exec(t, fmt.Sprintf(damage, o.table))
			c, err := s.Get(t.Context(), "run")
			require.ErrorIs(t, err, checkpointstore.ErrCorrupt)
			c.Version = checkpointstore.Version
			assert.Equal(t, at(2, 7, ""), c)
			require.NoError(t, s.Put(t.Context(), at(3, 0, "claimed")))
			holds(t, s, at(3, 0, "claimed"))
			assert.Zero(t, o.count(t))
		})
	}
}

// testTooLarge: together with its deltas a checkpoint has a bound, too. So that the test need not write 64 MB the column
// says it.
func testTooLarge(t *testing.T, d database) {
	t.Helper()
	s := d.store(t, d.dsn(t), d.newTable())
	o := d.below(t, s)
	require.NoError(t, s.Put(t.Context(), at(1, 0, "text")))
	require.NoError(t, s.Append(t.Context(), deltaOf(1, 0, 1, ", more")))
	next := deltaOf(1, 1, 2, ", more")
	body, err := checkpointstore.EncodeDelta(next)
	require.NoError(t, err)
	set := func(total int) { o.exec(t, fmt.Sprintf("UPDATE %s_deltas SET total = %d", o.table, total)) }
	set(checkpointstore.MaxBytes - len(body) + 1)
	require.ErrorIs(t, s.Append(t.Context(), next), checkpointstore.ErrTooLarge)
	holds(t, s, at(1, 1, "text, more"))
	set(checkpointstore.MaxBytes - len(body))
	require.NoError(t, s.Append(t.Context(), next))
	require.ErrorIs(t, s.Append(t.Context(), deltaOf(1, 2, 3, "")), checkpointstore.ErrTooLarge, "each adds to it")
	require.NoError(t, s.Append(t.Context(), next), "again")
	holds(t, s, at(1, 2, "text, more, more"))
	require.NoError(t, s.Put(t.Context(), at(1, 3, "the whole")))
	require.NoError(t, s.Append(t.Context(), deltaOf(1, 3, 4, ", more")), "it is counted from the whole")
}

// TestAppendThatWasOvertaken: a Put or a Delete that waits for an Append does not see the delta that it adds, and leaves it
// behind. The row is held until both wait, so that it happens each time.
func TestAppendThatWasOvertaken(t *testing.T) {
	t.Parallel()
	d := postgresql(t, "-c", "fsync=off")
	for name, overtake := range map[string]func(*sqlstore.Store) error{
		"by a claim":                func(s *sqlstore.Store) error { return s.Put(t.Context(), at(2, 0, "claimed")) },
		"by the whole of it":        func(s *sqlstore.Store) error { return s.Put(t.Context(), at(1, 6, "text, more")) },
		"by a Delete":               func(s *sqlstore.Store) error { return s.Delete(t.Context(), "run") },
		"by a Put of what is older": func(s *sqlstore.Store) error { return s.Put(t.Context(), at(1, 5, "older")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := d.store(t, d.dsn(t), d.newTable())
			o := d.below(t, s)
			require.NoError(t, s.Put(t.Context(), at(1, 5, "text")))
			tx, err := d.open(t, d.dsn(t)).BeginTx(t.Context(), nil)
			require.NoError(t, err)
			_, err = tx.ExecContext(t.Context(), "SELECT 1 FROM "+o.table+" FOR UPDATE")
			require.NoError(t, err)
			errs := [2]chan error{make(chan error, 1), make(chan error, 1)}
			go func() { errs[0] <- s.Append(t.Context(), deltaOf(1, 5, 6, ", more")) }()
			o.waiting(t, 1)
			go func() { errs[1] <- overtake(s) }()
			o.waiting(t, 2)
			require.NoError(t, tx.Rollback())
			require.NoError(t, <-errs[0])
			assert.Equal(t, 1, o.count(t), "it is there, or has become an orphan")
			afterOvertaken(t, s, name, <-errs[1])
		})
	}
}

func afterOvertaken(t *testing.T, s *sqlstore.Store, name string, err error) {
	t.Helper()
	switch name {
	case "by a claim":
		require.NoError(t, err)
		holds(t, s, at(2, 0, "claimed"))
	case "by the whole of it":
		require.NoError(t, err)
		holds(t, s, at(1, 6, "text, more"))
		require.NoError(t, s.Append(t.Context(), deltaOf(1, 6, 7, ", more")))
		holds(t, s, at(1, 7, "text, more, more"))
	case "by a Put of what is older":
		require.ErrorIs(t, err, checkpointstore.ErrStale)
		holds(t, s, at(1, 6, "text, more"))
	default:
		require.NoError(t, err)
		_, err = s.Get(t.Context(), "run")
		require.ErrorIs(t, err, checkpointstore.ErrNotFound)
		require.ErrorIs(t, s.Append(t.Context(), deltaOf(1, 6, 7, ", more")), checkpointstore.ErrNoBase)
	}
}

// waiting returns when n connections wait for a lock.
func (o opened) waiting(t *testing.T, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for found := 0; found < n; {
		err := o.db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").Scan(&found)
		require.NoError(t, err)
	}
}

// testAppendToColumnsEditedByHand: of a row whose fence cannot be read nothing is known: a delta has nothing to go on from.
func testAppendToColumnsEditedByHand(t *testing.T, d database) {
	t.Helper()
	s := d.store(t, d.dsn(t), d.newTable())
	o := d.below(t, s)
	require.NoError(t, s.Put(t.Context(), at(1, 0, "text")))
	o.exec(t, "UPDATE "+o.table+" SET epoch = '99999999999999999999'")
	require.ErrorIs(t, s.Append(t.Context(), deltaOf(1, 0, 1, "")), checkpointstore.ErrNoBase)
}
