package sqltest_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/internal/testserver"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

// database is a place for tables, which any number of connections may open.
type database struct {
	driver  string
	dialect sqlstore.Dialect
	dsn     func(tb testing.TB) string
	tables  *atomic.Int64
	of      *sync.Map // what is below a store: opened
}

type opened struct {
	db         *sql.DB
	dsn, table string
}

func sqlite() database {
	return database{
		driver: "sqlite", dialect: sqlstore.SQLite, tables: new(atomic.Int64), of: new(sync.Map),
		dsn: func(tb testing.TB) string {
			tb.Helper()

			return "file:" + filepath.Join(tb.TempDir(), "db") + "?_pragma=busy_timeout(60000)&_pragma=journal_mode(wal)"
		},
	}
}

func postgresql(tb testing.TB, args ...string) database {
	tb.Helper()
	server := testserver.Need(tb, testserver.PostgreSQL, args...)

	return database{
		driver: "pgx", dialect: sqlstore.PostgreSQL, tables: new(atomic.Int64), of: new(sync.Map),
		dsn: func(testing.TB) string { return "postgres://postgres@" + server.Addr + "/postgres?sslmode=disable" },
	}
}

func (d database) open(tb testing.TB, dsn string) *sql.DB {
	tb.Helper()
	db, err := sql.Open(d.driver, dsn)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, db.Close()) })
	db.SetMaxOpenConns(8)

	return db
}

// store opens a store on a table; it is made if it is not there.
func (d database) store(tb testing.TB, dsn, table string) *sqlstore.Store {
	tb.Helper()
	db := d.open(tb, dsn)
	s, err := sqlstore.New(db, d.dialect, sqlstore.WithTable(table))
	require.NoError(tb, err)
	require.NoError(tb, s.Migrate(tb.Context()))
	d.of.Store(s, opened{db, dsn, table})

	return s
}

func (d database) newTable() string { return fmt.Sprintf("runs_%d", d.tables.Add(1)) }

func (d database) newStore(tb testing.TB) checkpointstore.Store {
	tb.Helper()

	return d.store(tb, d.dsn(tb), d.newTable())
}

func (d database) below(tb testing.TB, s checkpointstore.Store) opened {
	tb.Helper()
	v, _ := d.of.Load(s)
	o, ok := v.(opened)
	require.True(tb, ok)

	return o
}

func (o opened) exec(tb testing.TB, statement string, args ...any) {
	tb.Helper()
	_, err := o.db.ExecContext(tb.Context(), statement, args...)
	require.NoError(tb, err)
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	testAll(t, sqlite())
}

func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	testAll(t, postgresql(t, "-c", "fsync=off"))
}

func testAll(t *testing.T, d database) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, database){
		"Contract":                        testContract,
		"ColumnsEditedByHand":             testColumnsEditedByHand,
		"ContextEndsAWait":                testContextEndsAWait,
		"Orphans":                         testOrphans,
		"DamagedChain":                    testDamagedChain,
		"TooLarge":                        testTooLarge,
		"AppendToColumnsEditedByHand":     testAppendToColumnsEditedByHand,
		"MigrateFromVersion1":             testMigrateFromVersion1,
		"MigrateManyTimesAtOnce":          testMigrateManyTimesAtOnce,
		"MigrateThatFailsLeavesNothing":   testMigrateThatFailsLeavesNothing,
		"MigrateLeavesALaterVersionAlone": testMigrateLeavesALaterVersionAlone,
		"SchemaByHand":                    testSchemaByHand,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, d)
		})
	}
}
