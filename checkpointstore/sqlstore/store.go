package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// DefaultTable is the name of the table if WithTable gives no other.
const DefaultTable = "carryon_checkpoints"

// sqliteReaders is how many read from SQLite at once.
const sqliteReaders = 2

// timeFormat orders as text as the times do, from the year 0 to 9999.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

// Store is a checkpointstore.Store in a table. It is also a ConditionalDeleter and a Cleaner, and safe for concurrent
// use, also with other Stores on the table.
type Store struct {
	db      *sql.DB
	dialect Dialect
	table   table
	say     statements
	group   *group        // nil where the database lets many write at once
	readers chan struct{} // nil likewise
}

var (
	_ checkpointstore.Store              = (*Store)(nil)
	_ checkpointstore.ConditionalDeleter = (*Store)(nil)
	_ checkpointstore.Cleaner            = (*Store)(nil)
)

// Option changes what New makes.
type Option func(*Store) error

// WithTable names the table, "name" or "schema.name"; the default is DefaultTable. Names are of lower-case letters,
// digits and underscores.
func WithTable(name string) Option {
	return func(s *Store) (err error) {
		s.table, err = parseTable(name)

		return err
	}
}

// New returns a store that uses db, which stays the caller's to close. It does not speak to the database; Migrate
// makes the table.
func New(db *sql.DB, dialect Dialect, opts ...Option) (*Store, error) {
	if db == nil {
		return nil, errors.New("sqlstore: no database")
	}
	if dialect != SQLite && dialect != PostgreSQL {
		return nil, fmt.Errorf("sqlstore: %d is no dialect", dialect)
	}
	s := &Store{db: db, dialect: dialect, table: table{name: DefaultTable}}
	for _, opt := range opts {
		if err := opt(s); err != nil {
			return nil, err
		}
	}
	s.say = newStatements(dialect, s.table)
	if dialect == SQLite {
		s.group, s.readers = newGroup(db), make(chan struct{}, sqliteReaders)
	}

	return s, nil
}

// Put implements checkpointstore.Store.
func (s *Store) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	body, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, s.say.put, c.RunID, digits(c.Epoch), digits(c.Seq), []byte(c.Owner), c.UpdatedAt.UTC().Format(timeFormat), body)
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: epoch %d, sequence %d", checkpointstore.ErrStale, c.Epoch, c.Seq)
	}

	return err
}

// Get implements checkpointstore.Store. The fence it returns is that of the row, which Put compares.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	var epoch, seq string
	var owner, body []byte
	err := s.queryRow(ctx, s.say.get, []any{runID, checkpointstore.MaxBytes + 1}, &epoch, &seq, &owner, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	if err != nil {
		return checkpointstore.Checkpoint{}, fmt.Errorf("sqlstore: %w", errOf(ctx, err))
	}
	row := checkpointstore.Fence{Owner: string(owner)}
	var err1, err2 error
	row.Epoch, err1 = strconv.ParseUint(epoch, 10, 64)
	row.Seq, err2 = strconv.ParseUint(seq, 10, 64)
	c, err := checkpointstore.DecodeFor(runID, body)
	if err == nil && (err1 != nil || err2 != nil || c.Fence() != row) {
		err = fmt.Errorf("%w: the columns of its row were changed", checkpointstore.ErrCorrupt)
	}
	if err != nil {
		return checkpointstore.Checkpoint{RunID: runID, Version: c.Version, Epoch: row.Epoch, Seq: row.Seq, Owner: row.Owner}, err
	}

	return c, nil
}

// Delete implements checkpointstore.Store.
func (s *Store) Delete(ctx context.Context, runID string) error {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return err
	}
	_, err := s.exec(ctx, s.say.delete, runID)

	return err
}

// DeleteIf implements checkpointstore.ConditionalDeleter. It takes a second statement to tell what was not there from
// what was not allowed.
func (s *Store) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := checkpointstore.Begin(ctx, c.RunID); err != nil {
		return err
	}
	n, err := s.exec(ctx, s.say.deleteIf, c.RunID, digits(c.Epoch), digits(c.Seq), []byte(c.Owner))
	if err != nil || n > 0 {
		return err
	}
	var one int
	err = s.queryRow(ctx, s.say.exists, []any{c.RunID}, &one)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("sqlstore: %w", errOf(ctx, err))
	default:
		return fmt.Errorf("%w: epoch %d, sequence %d", checkpointstore.ErrStale, c.Epoch, c.Seq)
	}
}

// DeleteOlderThan implements checkpointstore.Cleaner. It reads the whole table: an index would cost every Put.
func (s *Store) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.exec(ctx, s.say.deleteOlderThan, t.UTC().Format(timeFormat))

	return int(n), err
}

// exec runs a statement and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, statement string, args ...any) (n int64, err error) {
	if s.group != nil {
		n, err = s.group.exec(ctx, statement, args)
	} else {
		var result sql.Result
		if result, err = s.db.ExecContext(ctx, statement, args...); err == nil {
			n, err = result.RowsAffected()
		}
	}
	if err != nil {
		return 0, fmt.Errorf("sqlstore: %w", errOf(ctx, err))
	}

	return n, nil
}

// queryRow reads a row. Of SQLite few are read at once: each reader is a connection, and a connection opens and reads the
// file first.
func (s *Store) queryRow(ctx context.Context, query string, args []any, into ...any) error {
	if s.readers != nil {
		select {
		case s.readers <- struct{}{}:
			defer func() { <-s.readers }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}

	return s.db.QueryRowContext(ctx, query, args...).Scan(into...)
}

// errOf adds the context's error to that of a driver that ended with it: some say "interrupted".
func errOf(ctx context.Context, err error) error {
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		return fmt.Errorf("%w: %w", ended, err)
	}

	return err
}

// digits writes n so that texts order as numbers do.
func digits(n uint64) string { return fmt.Sprintf("%020d", n) }
