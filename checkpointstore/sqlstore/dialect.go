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
