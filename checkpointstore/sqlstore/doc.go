// Package sqlstore keeps checkpoints in tables of an SQL database, through database/sql and the caller's driver. SQLite
// and PostgreSQL are spoken.
//
//	db, err := sql.Open("pgx", url)
//	…
//	store, err := sqlstore.New(db, sqlstore.PostgreSQL)
//	…
//	err = store.Migrate(ctx) // once, at the start
//
// A Put is one step, and so are an Append and the delete of DeleteIf (in PostgreSQL one statement): the database compares
// and writes, at every isolation level; at those above READ COMMITTED a lost race may come out as the database's error
// instead of ErrStale. The transactions of several stores do not help each other: use one table for what belongs together.
//
// An Append writes the delta into a row of a second table, whose name ends in _deltas, and does not write the body of the
// checkpoint again: behind one of a megabyte 4 KB cost some 15 KB of SQLite's log, and 5 KB of PostgreSQL's. The row of the
// checkpoint keeps the sequence in PostgreSQL, which moves it without the body. SQLite would have to read all of the row for
// that, so it is left alone there. A Put and a Delete remove the run's deltas. In PostgreSQL one that waited for an Append
// leaves its delta behind; it is not read with the next checkpoint, and goes with that or by DeleteOlderThan.
//
// Tables that an earlier version made have no deltas: call Migrate before anything else. Until then every verb that needs
// the second table returns an error that says so, and changes nothing. On PostgreSQL the role that writes needs its rights
// on both. Programs of the version before may go on beside this one for as long as it takes to replace them: what was
// appended to they take for corrupt in PostgreSQL, in SQLite they read it as it was last put.
//
// Open SQLite with a busy timeout and a write-ahead log (with modernc.org/sqlite:
// "?_pragma=busy_timeout(500)&_pragma=journal_mode(wal)"), since two connections cannot write to it at once. It is the
// driver that waits, and that wait does not end with the context: keep it short. The writes of one Store that come at one
// time are one transaction, of at most 64; each of them is refused, or fails, alone.
//
// A pool of connections that is smaller than what is used at one time opens a connection for most writes, which costs more
// than the write. database/sql keeps two: give PostgreSQL SetMaxOpenConns and SetMaxIdleConns of the same number (8 carried a
// thousand streams). SQLite needs no more than three, and the default will do. Bodies are not compressed and not
// encrypted by this package; a row is as large as what was put. Nothing removes rows by itself: call DeleteOlderThan.
package sqlstore
