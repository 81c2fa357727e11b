package sqlstore

import "fmt"

const (
	// The sequence and the time of what a row has become by its deltas.
	lastSeq    = `COALESCE((SELECT MAX(d.seq) FROM @deltas AS d WHERE ` + ofRow + ` AND d.seq > stored.seq), stored.seq)`
	lastUpdate = `COALESCE((SELECT d.updated_at FROM @deltas AS d WHERE ` + ofRow + ` AND d.seq > stored.seq ORDER BY d.seq DESC LIMIT 1), stored.updated_at)`

	deleteDeltas = `DELETE FROM @deltas WHERE run_id = @1`

	deleteOrphans = `DELETE FROM @deltas AS d WHERE NOT EXISTS (SELECT 1 FROM @table AS stored WHERE ` + ofRow + `)`
)

// sqlite returns the writing statements of SQLite. There an Append leaves the row as it is: to change a column SQLite reads
// the whole row, which takes as long as the body is long, and everybody else waits. The sequence is that of the last delta.
// That can be looked up there, since there is one writer at a time, who sees what the one before has done.
func (w writer) sqlite() statements {
	return statements{
		put: w.change(upsert+lastSeq+` <= excluded.seq)`, deleteDeltas),
		append: w.change(`INSERT INTO @deltas (run_id, epoch, seq, after_seq, updated_at, total, body)
SELECT stored.run_id, stored.epoch, @5, @3, @6, ` + fmt.Sprintf(bytesTo, "@3") + ` + @8, @7 FROM @table AS stored
WHERE stored.run_id = @1 AND stored.epoch = @2 AND stored.owner = @4 AND ` + lastSeq + ` = @3
AND ` + fmt.Sprintf(bytesTo, "@3") + ` <= @9`),
		delete: w.change(deleteRow, deleteDeltas),
		deleteIf: w.change(`DELETE FROM @table AS stored WHERE run_id = @1 AND epoch = @2 AND owner = @4 AND `+lastSeq+` <= @3`,
			deleteDeltas),
		deleteOlderThan: w.change(`DELETE FROM @table AS stored WHERE `+lastUpdate+` < @1`, deleteOrphans),
		deleteOrphans:   w.change(deleteOrphans),
	}
}
