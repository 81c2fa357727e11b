package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// chain is what is stored of a run: the row, and the deltas of its epoch by the sequence they lead to, as texts.
type chain struct {
	epoch, seq string // the fence that Put compares
	owner      []byte
	body       []byte
	found      bool

	deltas map[string]link
	size   int // of all bodies
}

type link struct {
	after string
	body  []byte
}

// maxRead bounds what is kept of a chain: orphans may stand beside it, but not many.
const maxRead = 2 * checkpointstore.MaxBytes

func (s *Store) readChain(ctx context.Context, runID string) (c chain, err error) {
	done, err := s.reader(ctx)
	if err != nil {
		return chain{}, err
	}
	defer done()
	rows, err := s.db.QueryContext(ctx, s.say.get.text, runID, checkpointstore.MaxBytes+1)
	if err != nil {
		return chain{}, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := c.scan(rows); err != nil {
			return chain{}, err
		}
	}

	return c, rows.Err()
}

func (c *chain) scan(rows *sql.Rows) error {
	var isDelta bool
	var epoch, seq string
	var owner []byte
	var l link
	if err := rows.Scan(&isDelta, &epoch, &seq, &owner, &l.after, &l.body); err != nil {
		return err
	}
	c.size += len(l.body)
	switch {
	case !isDelta:
		c.epoch, c.seq, c.owner, c.body, c.found = epoch, seq, owner, l.body, true
	case c.size <= maxRead: // what is not kept is missed by whole
		if c.deltas == nil {
			c.deltas = map[string]link{}
		}
		c.deltas[seq] = l
	}

	return nil
}

// fence is that of the row.
func (c *chain) fence() (f checkpointstore.Fence, err error) {
	var err1, err2 error
	f.Owner = string(c.owner)
	f.Epoch, err1 = strconv.ParseUint(c.epoch, 10, 64)
	f.Seq, err2 = strconv.ParseUint(c.seq, 10, 64)

	return f, errors.Join(err1, err2)
}

// whole returns the body with the deltas that made of it what the row is now. They are found from the end: the delta that
// leads to the row's sequence, the one before it, and so on to the sequence in the body. What else is there is not of
// this checkpoint. If one is missing it returns the body alone.
func (c *chain) whole() []byte {
	h, err := checkpointstore.DecodeHeader(c.body)
	if err != nil {
		return c.body
	}
	var bodies [][]byte
	first, seq := digits(h.Seq), c.seq
	for seq > first {
		l, ok := c.deltas[seq]
		if !ok || l.after >= seq {
			return c.body
		}
		bodies, seq = append(bodies, l.body), l.after
	}
	if seq != first {
		return c.body
	}
	slices.Reverse(bodies)

	return slices.Concat(append([][]byte{c.body}, bodies...)...)
}

// Get implements checkpointstore.Store. The fence it returns is that of the row, which Put compares.
func (s *Store) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	if err := checkpointstore.Begin(ctx, runID); err != nil {
		return checkpointstore.Checkpoint{}, err
	}
	stored, err := s.readChain(ctx, runID)
	if err != nil {
		return checkpointstore.Checkpoint{}, s.wrap(ctx, err)
	}
	if !stored.found {
		return checkpointstore.Checkpoint{}, fmt.Errorf("%w: %q", checkpointstore.ErrNotFound, runID)
	}
	row, fenceErr := stored.fence()
	c, err := checkpointstore.DecodeFor(runID, stored.whole())
	if err == nil && (fenceErr != nil || c.Fence() != row) {
		err = fmt.Errorf("%w: the columns of its row were changed, or a delta is missing", checkpointstore.ErrCorrupt)
	}
	if err != nil {
		return checkpointstore.Checkpoint{RunID: runID, Version: c.Version, Epoch: row.Epoch, Seq: row.Seq, Owner: row.Owner}, err
	}

	return c, nil
}
