package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// DefaultTable is the name of the table if WithTable gives no other.
const DefaultTable = "carryon_checkpoints"

// sqliteReaders is how many read from SQLite at once.
const sqliteReaders = 2

// timeFormat orders as text as the times do, from the year 0 to 9999.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

// Store is a checkpointstore.Store in a table. It is also a ConditionalDeleter, an Appender and a Cleaner, and safe for
// concurrent use, also with other Stores on the table.
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
	_ checkpointstore.Appender           = (*Store)(nil)
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
		return s.wrap(ctx, err)
	default:
		return fmt.Errorf("%w: epoch %d, sequence %d", checkpointstore.ErrStale, c.Epoch, c.Seq)
	}
}

// DeleteOlderThan implements checkpointstore.Cleaner. It reads the whole table: an index would cost every Put. It also
// removes deltas that their checkpoint left behind.
func (s *Store) DeleteOlderThan(ctx context.Context, t time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	before := t.UTC().Format(timeFormat)
	n, err := s.exec(ctx, s.say.deleteOlderThan, before)
	if err != nil {
		return 0, err
	}
	_, err = s.exec(ctx, s.say.deleteOrphans, before)

	return int(n), err
}

// exec makes a change and returns how many rows its first statement changed.
func (s *Store) exec(ctx context.Context, c change, args ...any) (n int64, err error) {
	if s.group != nil {
		n, err = s.group.exec(ctx, c, args)
	} else {
		err = s.db.QueryRowContext(ctx, c[0].text, args[:c[0].args]...).Scan(&n)
	}
	if err != nil {
		return 0, s.wrap(ctx, err)
	}

	return n, nil
}

// queryRow reads a row.
func (s *Store) queryRow(ctx context.Context, query statement, args []any, into ...any) error {
	done, err := s.reader(ctx)
	if err != nil {
		return err
	}
	defer done()

	return s.db.QueryRowContext(ctx, query.text, args...).Scan(into...)
}

// reader waits until one more may read, and returns what ends the reading. Of SQLite few read at once: each reader is a
// connection, and a connection opens and reads the file first.
func (s *Store) reader(ctx context.Context) (done func(), err error) {
	if s.readers == nil {
		return func() {}, nil
	}
	select {
	case s.readers <- struct{}{}:
		return func() { <-s.readers }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wrap wraps an error of the database, and says what to do if it misses a table.
func (s *Store) wrap(ctx context.Context, err error) error {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) && coded.SQLState() == "42P01" || strings.Contains(err.Error(), "no such table") {
		err = fmt.Errorf("the schema is not that of this version, call Migrate: %w", err)
	}

	return fmt.Errorf("sqlstore: %w", errOf(ctx, err))
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
