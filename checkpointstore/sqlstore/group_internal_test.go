package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// noting is a database that notes what it is told, and fails or waits where it is told to.
type noting struct {
	fails map[string]error         // by statement, once
	waits map[string]chan struct{} // by statement

	mu   sync.Mutex
	said []string
}

func (d *noting) Connect(context.Context) (driver.Conn, error) { return notingConn{d}, nil }
func (d *noting) Driver() driver.Driver                        { return nil }

type notingConn struct{ *noting }

func (notingConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("not in this test") }

func (notingConn) Begin() (driver.Tx, error) { return nil, errors.New("not in this test") }
func (notingConn) Close() error              { return nil }

func (c notingConn) ExecContext(ctx context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	c.mu.Lock()
	c.said = append(c.said, statement)
	err, wait := c.fails[statement], c.waits[statement]
	delete(c.fails, statement)
	c.mu.Unlock()
	if wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}

	return driver.RowsAffected(len(statement)), err
}

func only(text string) change { return change{{text: text}} }

// inGroup tells a group to write "first", which waits, then the others, and then lets go. It returns what the database
// was told, and what became of each.
func inGroup(t *testing.T, d *noting, others ...string) (string, []error) {
	t.Helper()
	db := sql.OpenDB(d)
	defer db.Close()
	g := newGroup(db)
	hold := make(chan struct{})
	d.waits["first"] = hold
	errs := make([]error, 1+len(others))
	var wg sync.WaitGroup
	for i, statement := range append([]string{"first"}, others...) {
		wg.Go(func() {
			var n int64
			if n, errs[i] = g.exec(t.Context(), only(statement), nil); errs[i] == nil {
				assert.EqualValues(t, len(statement), n, "the rows are those of its own statement")
			}
		})
		synctest.Wait()
	}
	close(hold)
	wg.Wait()

	return strings.Join(d.said, " "), errs
}

// TestGroup: what comes while one writes is written in one transaction, and what goes wrong with one of them is nobody
// else's.
func TestGroup(t *testing.T) {
	t.Parallel()
	boom := errors.New("constraint failed")
	for name, tt := range map[string]struct {
		fails  string
		said   string
		failed []string // who is told
	}{
		"all is well":        {"", "first BEGIN IMMEDIATE a b c COMMIT", nil},
		"one is refused":     {"b", "first BEGIN IMMEDIATE a b ROLLBACK BEGIN IMMEDIATE a c COMMIT", []string{"b"}},
		"the leader's is":    {"a", "first BEGIN IMMEDIATE a ROLLBACK BEGIN IMMEDIATE b c COMMIT", []string{"a"}},
		"the alone one is":   {"first", "first BEGIN IMMEDIATE a b c COMMIT", []string{"first"}},
		"it cannot begin":    {"BEGIN IMMEDIATE", "first BEGIN IMMEDIATE", []string{"a", "b", "c"}},
		"it cannot be ended": {"COMMIT", "first BEGIN IMMEDIATE a b c COMMIT ROLLBACK", []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &noting{fails: map[string]error{tt.fails: boom}, waits: map[string]chan struct{}{}}
				said, errs := inGroup(t, d, "a", "b", "c")
				var failed []string
				for i, statement := range []string{"first", "a", "b", "c"} {
					if errs[i] != nil {
						require.ErrorIs(t, errs[i], boom)
						failed = append(failed, statement)
					}
				}
				assert.Equal(t, tt.failed, failed)
				assert.Equal(t, len(tt.said), len(said), "%s", said) // the order of those that were put back is free
				assert.ElementsMatch(t, strings.Fields(tt.said), strings.Fields(said))
			})
		})
	}
}

// TestChangeOfSeveralStatements: the later ones are run in the same transaction, and only if the first changed a row; the rows
// are those of the first.
func TestChangeOfSeveralStatements(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, fails, said string
	}{
		"it changed rows":     {"abc", "", "BEGIN IMMEDIATE|abc|second|third|COMMIT"},
		"it changed nothing":  {"", "", "BEGIN IMMEDIATE||COMMIT"},
		"a later one is lost": {"abc", "second", "BEGIN IMMEDIATE|abc|second|ROLLBACK"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			boom := errors.New("constraint failed")
			d := &noting{fails: map[string]error{tt.fails: boom}}
			if tt.fails == "" {
				d.fails = nil
			}
			db := sql.OpenDB(d)
			defer db.Close()
			n, err := newGroup(db).exec(t.Context(), change{{text: tt.first}, {text: "second"}, {text: "third"}}, nil)
			if tt.fails != "" {
				require.ErrorIs(t, err, boom)
			} else {
				require.NoError(t, err)
				assert.EqualValues(t, len(tt.first), n)
			}
			assert.Equal(t, tt.said, strings.Join(d.said, "|"))
		})
	}
}

// TestGroupIsBounded: a transaction holds the writes of so many, and so many bytes, and the rest gets its own.
func TestGroupIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &noting{waits: map[string]chan struct{}{}}
		var others []string
		for i := range 2*groupWrites + 1 {
			others = append(others, fmt.Sprint(i))
		}
		said, errs := inGroup(t, d, others...)
		require.NoError(t, errors.Join(errs...))
		assert.Equal(t, 2, strings.Count(said, "COMMIT"), "and one alone")
	})
	g := newGroup(nil)
	large := &write{size: groupBytes}
	g.enqueue(large, &write{size: 1}, &write{size: groupBytes - 1}, &write{size: groupBytes})
	assert.Len(t, g.take(large), 1, "one that is larger than all goes alone")
	assert.Len(t, g.take(g.queue[0]), 2)
	assert.Len(t, g.queue, 1)
}

// TestGroupWithoutALeader: who writes for others and has to go leaves them to another one; who waits and has to go is not
// waited for.
func TestGroupWithoutALeader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, a := make(chan struct{}), make(chan struct{})
		d := &noting{waits: map[string]chan struct{}{"first": first, "a": a}}
		db := sql.OpenDB(d)
		defer db.Close()
		g := newGroup(db)
		errs := make(map[string]error)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for statement, patience := range map[string]time.Duration{"a": time.Second, "b": time.Hour, "c": time.Minute, "first": time.Hour} {
			begins := map[string]time.Duration{"first": 0, "a": 1, "b": 2, "c": 3}[statement]
			wg.Go(func() {
				<-time.After(begins * time.Millisecond)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				_, err := g.exec(ctx, only(statement), nil)
				mu.Lock()
				defer mu.Unlock()
				errs[statement] = err
			})
		}
		<-time.After(10 * time.Millisecond)
		close(first) // a leads, and hangs
		<-time.After(2 * time.Second)
		mu.Lock()
		require.ErrorIs(t, errs["a"], context.DeadlineExceeded)
		mu.Unlock()
		wg.Wait()
		require.NoError(t, errs["b"])
		require.NoError(t, errs["c"])
		require.NoError(t, errs["first"])
		assert.Equal(t, "first BEGIN IMMEDIATE a ROLLBACK BEGIN IMMEDIATE b c COMMIT", strings.Join(d.said, " "))

		d.waits["e"] = make(chan struct{})
		wg.Go(func() { _, err := g.exec(t.Context(), only("e"), nil); assert.NoError(t, err) })
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := g.exec(ctx, only("f"), nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		close(d.waits["e"])
		wg.Wait()
		assert.NotContains(t, d.said, "f")
	})
}

// TestAWriteThatNobodyWaitsForIsNotRunLater: whose caller has left while a transaction that holds it fails, is given up. Run
// with a later one, it would come behind what its run has written or deleted since.
func TestAWriteThatNobodyWaitsForIsNotRunLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		first, begin := make(chan struct{}), make(chan struct{})
		d := &noting{waits: map[string]chan struct{}{"first": first, "BEGIN IMMEDIATE": begin}}
		db := sql.OpenDB(d)
		defer db.Close()
		g := newGroup(db)
		errs := map[string]error{}
		leave := map[string]func(){}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, statement := range []string{"first", "a", "b"} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			leave[statement] = cancel
			wg.Go(func() {
				_, err := g.exec(ctx, only(statement), nil)
				mu.Lock()
				defer mu.Unlock()
				errs[statement] = err
			})
			synctest.Wait()
		}
		close(first)
		synctest.Wait() // a leads, with b, and waits for the database
		leave["b"]()
		synctest.Wait()
		leave["a"]()
		wg.Wait()
		require.NoError(t, errs["first"])
		require.ErrorIs(t, errs["a"], context.Canceled)
		require.ErrorIs(t, errs["b"], context.Canceled)
		assert.Empty(t, g.queue)
		_, err := g.exec(t.Context(), only("later"), nil)
		require.NoError(t, err)
		assert.Equal(t, "first BEGIN IMMEDIATE later", strings.Join(d.said, " "))
	})
}
