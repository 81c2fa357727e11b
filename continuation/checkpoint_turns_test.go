package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckUser is another question than that of the other tests.
func ckUser(s string) []*schema.Message { return []*schema.Message{schema.UserMessage(s)} }

// ckRuns are the ways in which a model knows the run that a call is of.
func ckRuns() map[string]func(ctx context.Context, id string) (context.Context, continuation.Option) {
	return map[string]func(ctx context.Context, id string) (context.Context, continuation.Option){
		"of the context": func(ctx context.Context, id string) (context.Context, continuation.Option) {
			return continuation.ContextWithRunID(ctx, id), continuation.WithoutHint()
		},
		"of a function": func(ctx context.Context, id string) (context.Context, continuation.Option) {
			return ctx, continuation.WithRunID(func(context.Context) string { return id })
		},
	}
}

// ckPatience lets a call wait for a real disk that is busy with other things.
func ckPatience() continuation.CheckpointOption { return continuation.StartTimeout(20 * time.Second) }

// TestAskedAgainAtOnce: a call that follows one whose last write is still under way goes on with what that one has, and is
// not ended by it.
func TestAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	ends := map[string]fm.Step{"closed": fm.Stall(), "failed": fm.Fail(brRefusal{StatusCode: 401})}
	for how, run := range ckRuns() {
		for end, last := range ends {
			t.Run(how+", "+end, func(t *testing.T) {
				t.Parallel()
				for i := range 10 {
					store, err := filestore.New(t.TempDir())
					require.NoError(t, err)
					inner := fm.New(
						fm.Script{fm.Text("Water "), last},
						fm.Script{fm.Text("boils "), fm.Idle(30 * time.Millisecond), fm.Text("now."), fm.Finish("stop")},
					)
					ctx, opt := run(t.Context(), fmt.Sprint("run-", i))
					m := continuation.Wrap(inner, opt, continuation.WithCheckpoints(store, continuation.FlushEvery(time.Millisecond, 1), ckPatience()))
					r, err := m.Stream(ctx, ctInput())
					require.NoError(t, err)
					_, err = r.Recv()
					require.NoError(t, err)
					if end == "failed" {
						_, err = r.Recv()
						require.Error(t, err)
					}
					r.Close()
					got := ctStream(ctx, m)
					require.NoError(t, got.err)
					assert.Equal(t, "Water boils now.", got.text(), "what had come is in the store")
				}
			})
		}
	}
}

// TestAgentAskedAgainAtOnce is TestAskedAgainAtOnce for an agent.
func TestAgentAskedAgainAtOnce(t *testing.T) {
	t.Parallel()
	store, err := filestore.New(t.TempDir())
	require.NoError(t, err)
	for i := range 10 {
		inner := fm.New(
			fm.Script{fm.Text("Water "), fm.Fail(brRefusal{StatusCode: 401})},
			fm.Script{fm.Text("boils "), fm.Idle(30 * time.Millisecond), fm.Text("now."), fm.Finish("stop")},
		)
		m, err := continuation.NewMiddleware(continuation.WithRunID(continuation.RunIDFromSession("run")),
			continuation.WithCheckpoints(store, continuation.FlushEvery(time.Millisecond, 1), ckPatience()))
		require.NoError(t, err)
		agent := ckAgent{model: inner, middleware: m, run: fmt.Sprint("run-", i)}
		_, err = agent.ask(t)
		require.Error(t, err)
		texts, err := agent.ask(t)
		require.NoError(t, err)
		assert.Equal(t, []string{"Water boils now."}, texts)
	}
}

// TestTurnsWithASlowStore: two calls of a run, one after the other, while the store is still writing for the first: the
// second is late by no more than a call may be, and nothing of the first ends it.
func TestTurnsWithASlowStore(t *testing.T) {
	t.Parallel()
	for how, run := range ckRuns() {
		for _, takes := range []time.Duration{20 * time.Millisecond, 600 * time.Millisecond, 5 * time.Second} {
			for _, keep := range []bool{true, false} {
				t.Run(fmt.Sprint(how, takes, keep), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						store := &ckStore{Store: memstore.New(), putDelay: takes}
						var opts []continuation.CheckpointOption
						if keep {
							opts = append(opts, continuation.KeepUntilCommit())
						}
						inner := fm.New(
							fm.Script{fm.Text("Water "), fm.Idle(300 * time.Millisecond), fm.Text("boils."), fm.Finish("stop")},
							fm.Script{fm.Text("It "), fm.Idle(time.Minute), fm.Text("freezes."), fm.Finish("stop")},
						)
						ctx, opt := run(t.Context(), "run-7")
						m := continuation.Wrap(inner, opt, continuation.WithCheckpoints(store, opts...))
						require.NoError(t, ctStreamOf(ctx, m, ckUser("one")).err)
						began := time.Now()
						r, err := m.Stream(ctx, ckUser("two"))
						require.NoError(t, err)
						assert.LessOrEqual(t, time.Since(began), 500*time.Millisecond)
						_, err = r.Recv()
						require.NoError(t, err)
						began = time.Now()
						_, err = r.Recv()
						require.NoError(t, err)
						assert.Equal(t, time.Minute, time.Since(began), "no chunk is late")
						c, err := store.Get(t.Context(), "run-7")
						require.NoError(t, err, "the second call is in the store, whatever became of the first")
						assert.Equal(t, "It ", c.Text)
						for err == nil {
							_, err = r.Recv()
						}
						require.Equal(t, io.EOF, err)
						<-time.After(time.Hour)
					})
				})
			}
		}
	}
}

// TestSideBySide: of calls under one run id at one time the first keeps a checkpoint; the others say why they do not, and
// all are answered. One that asks the same takes the first one over.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		ctx := ckContext(t)
		var wg sync.WaitGroup
		events := &ctEvents{}
		for i := range 4 {
			wg.Go(func() {
				inner := fm.New(fm.Script{fm.Text("a "), fm.Idle(time.Second), fm.Text("b"), fm.Finish("stop")})
				m := continuation.Wrap(inner, continuation.WithCheckpoints(store), continuation.WithHandler(events))
				assert.NoError(t, ctStreamOf(ctx, m, ckUser(fmt.Sprint("question ", i))).err)
			})
		}
		wg.Wait()
		told := ctOf[callbacks.CheckpointFailed](events)
		require.Len(t, told, 3)
		assert.Contains(t, told[0].ErrorMessage, "run ids of their own")

		first, err := continuation.Wrap(fm.New(fm.Script{fm.Text("a "), fm.Stall()}), continuation.WithCheckpoints(store)).Stream(ctx, ctInput())
		require.NoError(t, err)
		errs := make(chan error, 1)
		go func() { _, err := fm.Collect(first); errs <- err }()
		<-time.After(time.Second)
		second := fm.New(fm.Script{fm.Text("b"), fm.Finish("stop")})
		got := ctStream(ctx, continuation.Wrap(second, continuation.WithCheckpoints(store)))
		require.NoError(t, got.err)
		assert.Equal(t, "a b", got.text())
		first.Close()
		require.Error(t, <-errs)
	})
}

// TestManyRuns: a model forgets runs that it has heard nothing of for long; what it knows has a bound.
func TestManyRuns(t *testing.T) {
	t.Parallel()
	store := memstore.New()
	id := ""
	m := continuation.Wrap(fm.Continuer(fm.Script{fm.Text("a"), fm.Finish("stop")}), continuation.WithRunID(func(context.Context) string { return id }),
		continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
	for i := range 1026 {
		id = fmt.Sprint("run-", i)
		if r := ctStream(t.Context(), m); i == 0 {
			require.NoError(t, r.err)
		}
	}
	for _, n := range []int{1025, 2, 1, 0} {
		id = fmt.Sprint("run-", n)
		c, err := store.Get(t.Context(), id)
		if errors.Is(err, checkpointstore.ErrNotFound) {
			c = checkpointstore.Checkpoint{RunID: id, Fingerprint: "another"}
		} else {
			require.NoError(t, err)
		}
		c.Epoch += 3
		c.Owner = "another"
		require.NoError(t, store.Put(t.Context(), c))
		assert.Equal(t, n > 1, errors.Is(ctStream(t.Context(), m).err, checkpointstore.ErrStale), "%s", id)
	}
}
