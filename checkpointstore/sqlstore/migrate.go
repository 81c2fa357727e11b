package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
	"time"
)

// migration brings the schema from one version to the next.
type migration struct{ sqlite, postgresql string }

// migrations are applied in order and never changed: a new schema is a new migration.
func migrations() []migration {
	return []migration{
		{
			// 1: the checks keep a hand from making a row that no claim could ever replace.
			sqlite: `CREATE TABLE @table (
	run_id     TEXT NOT NULL PRIMARY KEY,
	epoch      TEXT NOT NULL CHECK (length(epoch) = 20 AND epoch NOT GLOB '*[^0-9]*'),
	seq        TEXT NOT NULL CHECK (length(seq) = 20 AND seq NOT GLOB '*[^0-9]*'),
	owner      BLOB NOT NULL,
	updated_at TEXT NOT NULL,
	body       BLOB NOT NULL
)`,
			postgresql: `CREATE TABLE @table (
	run_id     text COLLATE "C" NOT NULL PRIMARY KEY,
	epoch      text COLLATE "C" NOT NULL CHECK (epoch ~ '^[0-9]{20}$'),
	seq        text COLLATE "C" NOT NULL CHECK (seq ~ '^[0-9]{20}$'),
	owner      bytea NOT NULL,
	updated_at text COLLATE "C" NOT NULL,
	body       bytea NOT NULL
)`,
		},
		{
			// 2: what is added to a checkpoint, since the row would be written again with its body. total is the length of
			// the checkpoint with its deltas up to this one.
			sqlite: `CREATE TABLE @deltas (
	run_id     TEXT NOT NULL,
	epoch      TEXT NOT NULL,
	seq        TEXT NOT NULL,
	after_seq  TEXT NOT NULL,
	updated_at TEXT NOT NULL,
	total      INTEGER NOT NULL,
	body       BLOB NOT NULL,
	PRIMARY KEY (run_id, epoch, seq)
) WITHOUT ROWID`,
			postgresql: `CREATE TABLE @deltas (
	run_id     text COLLATE "C" NOT NULL,
	epoch      text COLLATE "C" NOT NULL,
	seq        text COLLATE "C" NOT NULL,
	after_seq  text COLLATE "C" NOT NULL,
	updated_at text COLLATE "C" NOT NULL,
	total      bigint NOT NULL,
	body       bytea NOT NULL,
	PRIMARY KEY (run_id, epoch, seq)
)`,
		},
	}
}

// Migrate creates the tables, or brings them up to date. What it did it notes in a table of the same name with the suffix
// _migrations, so that calling it again does nothing; tables of a later version of this package are left as they are.
// Several processes may call it at once. It needs the right to create tables; without it, run the statements of
// Schema by hand.
func (s *Store) Migrate(ctx context.Context) error {
	if err := s.migrate(ctx, migrations()); err != nil {
		return fmt.Errorf("sqlstore: migrate %s: %w", s.table, errOf(ctx, err))
	}

	return nil
}

// Schema returns the statements that Migrate would run on an empty database, for those who run them by hand.
func (s *Store) Schema() string {
	all := []string{s.sql(createMigrations)}
	for i, m := range migrations() {
		all = append(all, s.sql(s.pick(m)), s.sql(fmt.Sprintf("INSERT INTO @migrations (version) VALUES (%d)", i+1)))
	}

	return strings.Join(all, ";\n") + ";\n"
}

const createMigrations = `CREATE TABLE IF NOT EXISTS @migrations (version INTEGER NOT NULL PRIMARY KEY)`

func (s *Store) sql(text string) string { return newWriter(s.dialect, s.table).statement(text).text }

func (s *Store) pick(m migration) string {
	if s.dialect == PostgreSQL {
		return m.postgresql
	}

	return m.sqlite
}

// migrate runs in one transaction that shuts others out from its start: in SQLite by the kind of transaction, which
// database/sql cannot ask for, in PostgreSQL by a lock that ends with the transaction.
func (s *Store) migrate(ctx context.Context, all []migration) (err error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	begin := "BEGIN IMMEDIATE"
	if s.dialect == PostgreSQL {
		begin = "BEGIN"
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return err
	}
	if err := s.migrateIn(ctx, conn, all); err != nil {
		// The caller's context may have ended, and the connection goes back to the pool.
		_, rollbackErr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")

		return errors.Join(err, rollbackErr)
	}
	_, err = conn.ExecContext(ctx, "COMMIT")

	return err
}

// How often Migrate tries to open a file that others are just making, and how long it waits in between.
const (
	connects     = 50
	connectPause = 10 * time.Millisecond
)

// connect returns a connection. SQLite lets one at a time switch a new file to the write-ahead log, which drivers do while they
// open it, and refuses the others at once, whatever their busy timeout.
func (s *Store) connect(ctx context.Context) (*sql.Conn, error) {
	for n := 1; ; n++ {
		conn, err := s.db.Conn(ctx)
		if err == nil || n == connects || s.dialect != SQLite || !strings.Contains(err.Error(), "database is locked") {
			return conn, err
		}
		select {
		case <-time.After(connectPause):
		case <-ctx.Done():
			return nil, errOf(ctx, err)
		}
	}
}

// lockNumber is the same in all processes, and hardly that of any other program.
func (s *Store) lockNumber() int64 {
	h := fnv.New64a()
	h.Write([]byte("carryon " + s.table.String()))

	return int64(h.Sum64())
}

func (s *Store) migrateIn(ctx context.Context, conn *sql.Conn, all []migration) error {
	if s.dialect == PostgreSQL {
		if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", s.lockNumber()); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, s.sql(createMigrations)); err != nil {
		return err
	}
	var version int
	if err := conn.QueryRowContext(ctx, s.sql("SELECT COALESCE(MAX(version), 0) FROM @migrations")).Scan(&version); err != nil {
		return err
	}
	for i, m := range all {
		if i < version {
			continue
		}
		if _, err := conn.ExecContext(ctx, s.sql(s.pick(m))); err != nil {
			return fmt.Errorf("version %d: %w", i+1, err)
		}
		if _, err := conn.ExecContext(ctx, s.sql(fmt.Sprintf("INSERT INTO @migrations (version) VALUES (%d)", i+1))); err != nil {
			return err
		}
	}

	return nil
}
