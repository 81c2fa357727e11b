package sqltest_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

func works(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run", Text: "text"}))
	c, err := s.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "text", c.Text)
}

func testMigrateManyTimesAtOnce(t *testing.T, d database) {
	t.Helper()
	dsn, table := d.dsn(t), d.newTable()
	const processes = 8
	var errs [processes]error
	stores := [processes]*sqlstore.Store{}
	for i := range processes {
		s, err := sqlstore.New(d.open(t, dsn), d.dialect, sqlstore.WithTable(table))
		require.NoError(t, err)
		stores[i] = s
	}
	var wg sync.WaitGroup
	for i, s := range stores {
		wg.Go(func() { errs[i] = s.Migrate(t.Context()) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	works(t, stores[0])
	require.NoError(t, stores[1].Migrate(t.Context()), "again, with data")
	works(t, stores[2])
}

func testMigrateThatFailsLeavesNothing(t *testing.T, d database) {
	t.Helper()
	db := d.open(t, d.dsn(t))
	o := opened{db: db}
	o.exec(t, "CREATE TABLE taken (x int)")
	s, err := sqlstore.New(db, d.dialect, sqlstore.WithTable("taken"))
	require.NoError(t, err)
	require.ErrorContains(t, s.Migrate(t.Context()), "taken")
	_, err = db.ExecContext(t.Context(), "SELECT * FROM taken_migrations")
	require.Error(t, err, "half a migration is noted as a whole one")
	o.exec(t, "DROP TABLE taken")
	require.NoError(t, s.Migrate(t.Context()), "the connection is free again")
	works(t, s)
}

func testMigrateLeavesALaterVersionAlone(t *testing.T, d database) {
	t.Helper()
	dsn, table := d.dsn(t), d.newTable()
	s := d.store(t, dsn, table)
	o := d.below(t, s)
	o.exec(t, "INSERT INTO "+table+"_migrations (version) VALUES (99)")
	require.NoError(t, s.Migrate(t.Context()))
	works(t, s)
}

func testSchemaByHand(t *testing.T, d database) {
	t.Helper()
	db := d.open(t, d.dsn(t))
	name := map[sqlstore.Dialect]string{sqlstore.SQLite: "main.by_hand", sqlstore.PostgreSQL: "other.by_hand"}[d.dialect]
	if d.dialect == sqlstore.PostgreSQL {
		opened{db: db}.exec(t, "CREATE SCHEMA other")
	}
	s, err := sqlstore.New(db, d.dialect, sqlstore.WithTable(name))
	require.NoError(t, err)
	for _, statement := range strings.SplitAfter(s.Schema(), ";\n") {
		if statement != "" {
			opened{db: db}.exec(t, statement)
		}
	}
	works(t, s)
	require.NoError(t, s.Migrate(t.Context()), "it is up to date")
}

// testMigrateFromVersion1: a table that the first version made, with checkpoints in it. Before Migrate every verb says what
// to do and changes nothing, then all of them work on what is there.
func testMigrateFromVersion1(t *testing.T, d database) {
	t.Helper()
	db, table := d.open(t, d.dsn(t)), d.newTable()
	s, err := sqlstore.New(db, d.dialect, sqlstore.WithTable(table))
	require.NoError(t, err)
	o := opened{db: db, table: table}
	version1, _, found := strings.Cut(s.Schema(), "CREATE TABLE \""+table+"_deltas\"")
	require.True(t, found, "what comes behind version 1")
	for _, statement := range strings.SplitAfter(version1, ";\n") {
		if statement != "" {
			o.exec(t, statement)
		}
	}
	marks := map[sqlstore.Dialect]string{sqlstore.SQLite: "?1, ?2, ?3, ?4, ?5, ?6", sqlstore.PostgreSQL: "$1, $2, $3, $4, $5, $6"}[d.dialect]
	for _, runID := range []string{"run", "another"} {
		c := at(1, 5, "old text")
		c.RunID = runID
		body, err := checkpointstore.Encode(c)
		require.NoError(t, err)
		o.exec(t, "INSERT INTO "+table+" (run_id, epoch, seq, owner, updated_at, body) VALUES ("+marks+")",
			runID, "00000000000000000001", "00000000000000000005", []byte("a"), "0001-01-01T00:00:00.000000000Z", body)
	}
	_, getErr := s.Get(t.Context(), "run")
	_, cleanErr := s.DeleteOlderThan(t.Context(), time.Time{}.AddDate(1, 0, 0))
	for name, err := range map[string]error{
		"Get": getErr, "Put": s.Put(t.Context(), at(1, 6, "text")), "Append": s.Append(t.Context(), deltaOf(1, 5, 6, ", more")),
		"Delete": s.Delete(t.Context(), "run"), "DeleteIf": s.DeleteIf(t.Context(), at(1, 5, "")), "DeleteOlderThan": cleanErr,
	} {
		require.ErrorContains(t, err, "call Migrate", name)
	}

	require.NoError(t, s.Migrate(t.Context()))
	holds(t, s, at(1, 5, "old text"))
	require.NoError(t, s.Append(t.Context(), deltaOf(1, 5, 6, ", more")))
	holds(t, s, at(1, 6, "old text, more"))
	require.ErrorIs(t, s.Put(t.Context(), at(1, 5, "late")), checkpointstore.ErrStale)
	require.NoError(t, s.Put(t.Context(), at(2, 0, "text")))
	holds(t, s, at(2, 0, "text"))
	n, err := s.DeleteOlderThan(t.Context(), time.Time{}.AddDate(1, 0, 0))
	require.NoError(t, err)
	assert.Equal(t, 2, n)
}
