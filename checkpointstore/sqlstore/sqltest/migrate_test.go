package sqltest_test

import (
	"strings"
	"sync"
	"testing"

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
