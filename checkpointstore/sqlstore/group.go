package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// What one transaction of a group takes at most.
const (
	groupWrites = 64
	groupBytes  = 4 << 20
)

// group makes one transaction of the writes that come while another is under way. SQLite has one writer at a time, whom the
// others would wait for in their sleep, and each transaction waits for the disk. There is no goroutine of its own: one of
// those who wait writes for the others.
type group struct {
	db   *sql.DB
	turn chan struct{} // who writes holds it

	mu    sync.Mutex
	queue []*write
}

// write is a change that waits. The result may be read when done is closed.
type write struct {
	ctx    context.Context //nolint:containedctx // of the caller, which waits
	change change
	args   []any
	size   int

	done chan struct{}
	n    int64
	err  error
}

func newGroup(db *sql.DB) *group { return &group{db: db, turn: make(chan struct{}, 1)} }

// exec makes a change and returns how many rows its first statement changed. If ctx ends first, it may have been made
// or not.
func (g *group) exec(ctx context.Context, c change, args []any) (int64, error) {
	w := &write{ctx: ctx, change: c, args: args, done: make(chan struct{})}
	for _, a := range args {
		if body, ok := a.([]byte); ok {
			w.size += len(body)
		}
	}
	g.enqueue(w)
	for {
		select {
		case <-w.done:
			return w.n, w.err
		case <-ctx.Done():
			g.withdraw(w)

			return 0, ctx.Err()
		case g.turn <- struct{}{}:
			g.lead(w)
			<-g.turn
		}
	}
}

func (g *group) enqueue(ws ...*write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = append(g.queue, ws...)
}

func (g *group) withdraw(w *write) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range g.queue {
		if g.queue[i] == w {
			g.queue = append(g.queue[:i], g.queue[i+1:]...)

			return
		}
	}
}

// take returns the writes of the next transaction: the leader's own and, in order, what fits beside it.
func (g *group) take(leader *write) []*write {
	g.mu.Lock()
	defer g.mu.Unlock()
	batch, size := []*write{leader}, leader.size
	rest := g.queue[:0]
	for _, w := range g.queue {
		switch {
		case w == leader:
		case len(batch) < groupWrites && size+w.size <= groupBytes:
			batch, size = append(batch, w), size+w.size
		default:
			rest = append(rest, w)
		}
	}
	clear(g.queue[len(rest):])
	g.queue = rest

	return batch
}

// lead writes for leader, unless that was done meanwhile, and for others that wait.
func (g *group) lead(leader *write) {
	select {
	case <-leader.done:
		return
	default:
	}
	batch := g.take(leader)
	if len(batch) == 1 && len(leader.change) == 1 { // a statement is a transaction
		leader.end(leader.run(leader.ctx, g.db))

		return
	}
	culprit, err := g.transact(leader.ctx, batch)
	for _, w := range batch {
		switch {
		case err == nil, culprit == nil && leader.ctx.Err() == nil, w == culprit:
			w.end(err)
		case w == leader && leader.ctx.Err() != nil:
			w.end(err)
		case w.ctx.Err() != nil: // nobody waits for it any more: run later, it would be behind what its run has written since
			w.end(w.ctx.Err())
		default: // it is not the fault of this one
			g.enqueue(w)
		}
	}
}

// run makes the change through db.
func (w *write) run(ctx context.Context, db interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
},
) error {
	for i, s := range w.change {
		result, err := db.ExecContext(ctx, s.text, w.args[:s.args]...)
		if err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if w.n, err = result.RowsAffected(); err != nil || w.n == 0 {
			return err
		}
	}

	return nil
}

func (w *write) end(err error) {
	w.err = err
	close(w.done)
}

// transact runs a batch in one transaction. Beside the error it returns the write that is to blame; nil if none is.
func (g *group) transact(ctx context.Context, batch []*write) (culprit *write, err error) {
	conn, err := g.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	culprit, err = g.execAll(ctx, conn, batch)
	if err == nil {
		if _, err = conn.ExecContext(ctx, "COMMIT"); err == nil {
			return nil, nil
		}
	}
	// The context may have ended, and the connection goes back to the pool. What fails here was rolled back already.
	_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")

	return culprit, err
}

func (g *group) execAll(ctx context.Context, conn *sql.Conn, batch []*write) (culprit *write, err error) {
	for _, w := range batch {
		if err := w.run(ctx, conn); err != nil {
			return w, err
		}
	}

	return nil, nil
}
