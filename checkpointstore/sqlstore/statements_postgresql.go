package sqlstore

import "fmt"

// counted ends a statement: how many rows it changed.
const counted = ` SELECT count(*) FROM changed`

// withDeltas does first, which returns a row for each that it changed, and then removes the deltas. It has the lock on the
// row by then, so that nobody adds any more.
func withDeltas(first string) string {
	return `WITH changed AS (` + first + ` RETURNING 1),
gone AS (DELETE FROM @deltas WHERE run_id = @1 AND EXISTS (SELECT 1 FROM changed))` + counted
}

// postgresql returns the writing statements of PostgreSQL. There an Append moves the sequence of the row, and whoever waits
// for the row then sees it there: a look at the deltas would show those of the time before it waited. The body stays where
// it is, it is not written again.
//
// For that reason a Put or a Delete that waited for an Append does not see its delta either, and leaves it behind as an
// orphan. Get passes it by (see chain), an Append to the same sequence writes over it, and what removes the run the next
// time removes it.
func (w writer) postgresql() statements {
	return statements{
		put: w.change(withDeltas(upsert + `stored.seq <= excluded.seq)`)),
		append: w.change(`WITH changed AS (UPDATE @table AS stored SET seq = @5, updated_at = @6
WHERE run_id = @1 AND epoch = @2 AND seq = @3 AND owner = @4 AND ` + fmt.Sprintf(bytesTo, "@3") + ` <= @9
RETURNING run_id, epoch, seq, updated_at, ` + fmt.Sprintf(bytesTo, "@3") + ` + @8 AS total),
added AS (INSERT INTO @deltas AS d (run_id, epoch, seq, after_seq, updated_at, total, body)
SELECT run_id, epoch, seq, CAST(@3 AS text), updated_at, total, CAST(@7 AS bytea) FROM changed
ON CONFLICT (run_id, epoch, seq) DO UPDATE
SET after_seq = excluded.after_seq, updated_at = excluded.updated_at, total = excluded.total, body = excluded.body)` + counted),
		delete:   w.change(withDeltas(deleteRow)),
		deleteIf: w.change(withDeltas(`DELETE FROM @table WHERE run_id = @1 AND epoch = @2 AND seq <= @3 AND owner = @4`)),
		deleteOlderThan: w.change(`WITH changed AS (DELETE FROM @table WHERE updated_at < @1 RETURNING run_id),
gone AS (DELETE FROM @deltas AS d USING changed WHERE d.run_id = changed.run_id)` + counted),
		// One whose key is being used again has a new time.
		deleteOrphans: w.change(`WITH changed AS (DELETE FROM @deltas AS d WHERE updated_at < @1 AND NOT EXISTS
(SELECT 1 FROM @table AS stored WHERE ` + ofRow + `) RETURNING 1)` + counted),
	}
}
