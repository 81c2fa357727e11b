// Package sqlstore keeps checkpoints in a table of an SQL database, through database/sql and the caller's driver. SQLite
// and PostgreSQL are spoken.
//
//	db, err := sql.Open("pgx", url)
//	…
//	store, err := sqlstore.New(db, sqlstore.PostgreSQL)
//	…
//	err = store.Migrate(ctx) // once, at the start
//
// A Put is one statement, and so is the delete of DeleteIf: the database compares and writes in one step, at every
// isolation level; at those above READ COMMITTED a lost race may come out as the database's error instead of ErrStale.
// The transactions of several stores do not help each other: use one table for what belongs together.
//
// Open SQLite with a busy timeout and a write-ahead log (with modernc.org/sqlite:
// "?_pragma=busy_timeout(500)&_pragma=journal_mode(wal)"), since two connections cannot write to it at once. It is the
// driver that waits, and that wait does not end with the context: keep it short. The writes of one Store that come at one
// time are one transaction, of at most 64; each of them is refused, or fails, alone.
//
// A pool of connections that is smaller than what is used at one time opens a connection for most writes, which costs more
// than the write. database/sql keeps two: give PostgreSQL SetMaxOpenConns and SetMaxIdleConns of the same number (8 carried a
// thousand streams). SQLite needs no more than three, and the default will do. Bodies are not compressed and not
// encrypted by this package; a row is as large as its checkpoint. Nothing removes rows by itself: call DeleteOlderThan.
package sqlstore
