package sqlstore

import (
	"fmt"
	"strings"
)

// statement is one of a store's, in its dialect and for its table. It takes the first args of the arguments.
type statement struct {
	text string
	args int
}

// change is what is done in one step: of several statements the later ones are run if the first changed a row, in one
// transaction. PostgreSQL has one statement for it, which returns how many rows it changed.
type change []statement

// statements are what a store says.
type statements struct {
	put, append, delete, deleteIf, deleteOlderThan, deleteOrphans change

	get, exists, stored statement
}

// writer writes statements with the names that a store has for things.
type writer struct {
	dialect Dialect
	names   *strings.Replacer
}

func newWriter(d Dialect, t table) writer {
	return writer{dialect: d, names: strings.NewReplacer("@table", t.String(), "@deltas", t.with("_deltas"), "@migrations", t.with("_migrations"))}
}

// statement replaces @1 to @9, the arguments, and the names of the tables.
func (w writer) statement(s string) statement {
	args := 0
	for n := 9; n > 0; n-- {
		mark := fmt.Sprintf("@%d", n)
		if args == 0 && strings.Contains(s, mark) {
			args = n
		}
		s = strings.ReplaceAll(s, mark, w.dialect.mark(n))
	}

	return statement{text: w.names.Replace(s), args: args}
}

func (w writer) change(all ...string) change {
	c := make(change, 0, len(all))
	for _, s := range all {
		c = append(c, w.statement(s))
	}

	return c
}

// The rules of checkpointstore.AllowPut, AllowDelete and AllowAppend in SQL. Epoch and sequence are texts of 20 digits:
// unsigned 64-bit numbers have no type that both databases order rightly.
const (
	upsert = `INSERT INTO @table AS stored (run_id, epoch, seq, owner, updated_at, body) VALUES (@1, @2, @3, @4, @5, @6)
ON CONFLICT (run_id) DO UPDATE
SET epoch = excluded.epoch, seq = excluded.seq, owner = excluded.owner, updated_at = excluded.updated_at, body = excluded.body
WHERE stored.epoch < excluded.epoch
OR (stored.epoch = excluded.epoch AND stored.owner = excluded.owner AND `

	deleteRow = `DELETE FROM @table WHERE run_id = @1`

	// A delta belongs to a row of its run and epoch.
	ofRow = `d.run_id = stored.run_id AND d.epoch = stored.epoch`

	// What there is of bytes up to the sequence that stands behind.
	bytesTo = `COALESCE((SELECT d.total FROM @deltas AS d WHERE ` + ofRow + ` AND d.seq = %s), length(stored.body))`
)

// newStatements returns what is the same for both databases, but for where the fence of what was appended is.
func newStatements(d Dialect, t table) statements {
	w := newWriter(d, t)
	say := w.sqlite
	seq := lastSeq
	if d == PostgreSQL {
		say, seq = w.postgresql, "stored.seq"
	}
	s := say()
	s.get = w.statement(`SELECT 0, stored.epoch, ` + seq + `, stored.owner, '', substr(stored.body, 1, @2) FROM @table AS stored WHERE stored.run_id = @1
UNION ALL
SELECT 1, d.epoch, d.seq, NULL, d.after_seq, substr(d.body, 1, @2) FROM @table AS stored JOIN @deltas AS d ON ` + ofRow + ` WHERE stored.run_id = @1`)
	s.exists = w.statement(`SELECT 1 FROM @table WHERE run_id = @1`)
	s.stored = w.statement(`SELECT epoch, ` + seq + `, owner, ` + fmt.Sprintf(bytesTo, seq) + ` FROM @table AS stored WHERE run_id = @1`)

	return s
}
