package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// Append implements checkpointstore.Appender. More than MaxBytes together is ErrTooLarge. It takes a second statement to
// tell why a delta was not added.
func (s *Store) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := checkpointstore.Begin(ctx, d.RunID); err != nil {
		return err
	}
	body, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}
	n, err := s.exec(ctx, s.say.append, d.RunID, digits(d.Epoch), digits(d.After), []byte(d.Owner), digits(d.Seq),
		d.UpdatedAt.UTC().Format(timeFormat), body, len(body), checkpointstore.MaxBytes-len(body))
	if err != nil || n > 0 {
		return err
	}

	return s.notAdded(ctx, d, len(body))
}

// notAdded returns why d was not added; nil if it is there already.
func (s *Store) notAdded(ctx context.Context, d checkpointstore.Delta, size int) error {
	var c chain
	var total int
	err := s.queryRow(ctx, s.say.stored, []any{d.RunID}, &c.epoch, &c.seq, &c.owner, &total)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: nothing is stored of %q", checkpointstore.ErrNoBase, d.RunID)
	}
	if err != nil {
		return s.wrap(ctx, err)
	}
	stored, err := c.fence()
	if err != nil {
		return fmt.Errorf("%w: the columns of its row were changed: %w", checkpointstore.ErrNoBase, err)
	}
	again, err := checkpointstore.AllowAppend(stored, d)
	switch {
	case again || err != nil:
		return err
	case total+size > checkpointstore.MaxBytes:
		return fmt.Errorf("%w: together they take %d bytes, %d are allowed", checkpointstore.ErrTooLarge, total+size, checkpointstore.MaxBytes)
	default:
		return fmt.Errorf("sqlstore: what the delta goes on from came while it was being added: sequence %d of %q", d.After, d.RunID)
	}
}
