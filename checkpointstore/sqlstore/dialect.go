package sqlstore

import (
	"fmt"
	"regexp"
	"strings"
)

// Dialect is the SQL that a database speaks.
type Dialect int

// The dialects.
const (
	SQLite     Dialect = iota + 1 // from 3.24, which has upserts
	PostgreSQL                    // from 9.5, which has them
)

// String returns "sqlite", "postgresql" or "unknown".
func (d Dialect) String() string {
	switch d {
	case SQLite:
		return "sqlite"
	case PostgreSQL:
		return "postgresql"
	default:
		return "unknown"
	}
}

// mark is the placeholder of the n-th argument.
func (d Dialect) mark(n int) string {
	if d == PostgreSQL {
		return fmt.Sprintf("$%d", n)
	}

	return fmt.Sprintf("?%d", n)
}

// table is the checked and quoted name of a table.
type table struct{ schema, name string }

// parseTable reads "name" or "schema.name". Names are lower case and not longer than PostgreSQL keeps them, with room for
// the suffix of the table of migrations.
func parseTable(s string) (table, error) {
	if !regexp.MustCompile(`^([a-z_][a-z0-9_]{0,49}\.)?[a-z_][a-z0-9_]{0,49}$`).MatchString(s) {
		return table{}, fmt.Errorf("sqlstore: %q is no name of a table: lower-case letters, digits and _, at most 50, after a schema's if need be", s)
	}
	schema, name, found := strings.Cut(s, ".")
	if !found {
		return table{name: s}, nil
	}

	return table{schema: schema, name: name}, nil
}

func (t table) String() string { return t.with("") }

// with returns the quoted name of the table with a suffix.
func (t table) with(suffix string) string {
	name := `"` + t.name + suffix + `"`
	if t.schema != "" {
		name = `"` + t.schema + `".` + name
	}

	return name
}

// statements are what a store says, in its dialect and for its table.
type statements struct {
	put, get, delete, deleteIf, exists, deleteOlderThan string
}

// newStatements writes the rules of checkpointstore.AllowPut and AllowDelete in SQL. Epoch and sequence are texts of 20
// digits: unsigned 64-bit numbers have no type that both databases order rightly.
func newStatements(d Dialect, t table) statements {
	sql := func(s string) string {
		for n := 6; n > 0; n-- {
			s = strings.ReplaceAll(s, fmt.Sprintf("@%d", n), d.mark(n))
		}

		return strings.ReplaceAll(s, "@table", t.String())
	}

	return statements{
		put: sql(`INSERT INTO @table AS stored (run_id, epoch, seq, owner, updated_at, body) VALUES (@1, @2, @3, @4, @5, @6)
ON CONFLICT (run_id) DO UPDATE
SET epoch = excluded.epoch, seq = excluded.seq, owner = excluded.owner, updated_at = excluded.updated_at, body = excluded.body
WHERE stored.epoch < excluded.epoch
OR (stored.epoch = excluded.epoch AND stored.owner = excluded.owner AND stored.seq <= excluded.seq)`),
		get:             sql(`SELECT epoch, seq, owner, substr(body, 1, @2) FROM @table WHERE run_id = @1`),
		delete:          sql(`DELETE FROM @table WHERE run_id = @1`),
		deleteIf:        sql(`DELETE FROM @table WHERE run_id = @1 AND epoch = @2 AND seq <= @3 AND owner = @4`),
		exists:          sql(`SELECT 1 FROM @table WHERE run_id = @1`),
		deleteOlderThan: sql(`DELETE FROM @table WHERE updated_at < @1`),
	}
}
