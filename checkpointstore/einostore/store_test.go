package einostore_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/einostore"
	"github.com/eino-carryon/carryon/checkpointstore/storetest"
)

// eino is a store as programs give Eino one.
type eino struct {
	mu      sync.Mutex
	entries map[string][]byte

	err   error                                // of every call
	delay func(ctx context.Context, op string) // before a call
}

func newEino() *eino { return &eino{entries: map[string][]byte{}} }

func (s *eino) at(ctx context.Context, op string, do func()) error {
	if s.delay != nil {
		s.delay(ctx, op)
	}
	if s.err != nil {
		return s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	do()

	return nil
}

func (s *eino) Get(ctx context.Context, id string) (data []byte, found bool, err error) {
	err = s.at(ctx, "get", func() { data, found = s.entries[id] })

	return data, found, err
}

func (s *eino) Set(ctx context.Context, id string, data []byte) error {
	return s.at(ctx, "set", func() { s.entries[id] = data })
}

func (s *eino) ids() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return slices.Sorted(maps.Keys(s.entries))
}

// deleting is one that has Eino's optional interface.
type deleting struct{ *eino }

var _ adk.CheckPointDeleter = deleting{}

func (s deleting) Delete(ctx context.Context, id string) error {
	return s.at(ctx, "delete", func() { delete(s.entries, id) })
}

// world is a Store and what lies below it.
type world struct {
	*einostore.Store
	below *eino
	again func() *einostore.Store // what another process would have
}

func newWorld(deletes bool) world {
	below := newEino()
	again := func() *einostore.Store { return einostore.New(below) }
	if deletes {
		again = func() *einostore.Store { return einostore.New(deleting{below}) }
	}

	return world{again(), below, again}
}

func plant(tb testing.TB, s checkpointstore.Store, runID string, data []byte) {
	tb.Helper()
	w, ok := s.(world)
	require.True(tb, ok)
	require.NoError(tb, w.below.Set(tb.Context(), einostore.Prefix+runID, data))
}

// TestContract: inside a process it is a store as any.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, deletes := range map[string]bool{"deletes": true, "cannot delete": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Run(t, func(testing.TB) checkpointstore.Store { return newWorld(deletes) }, storetest.WithPlant(plant))
		})
	}
}

// TestContractBetweenProcesses: between processes it is one but for what needs comparing and writing in one step.
func TestContractBetweenProcesses(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(testing.TB) checkpointstore.Store { return newWorld(true) },
		storetest.WithPlant(plant),
		storetest.WithPeer(func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store {
			tb.Helper()
			w, ok := s.(world)
			require.True(tb, ok)

			return w.again()
		}),
		storetest.Without("OneClaimerWins", "Eino's store compares and writes in two steps: of two processes both may win"),
		storetest.Without("ZombieAndSuccessor", "Eino's store compares and writes in two steps: a zombie may write between them"),
	)
}

// TestZombieOfAnotherProcess: one that comes when its successor has written is refused, also when it deletes.
func TestZombieOfAnotherProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(true)
	zombie := checkpointstore.Checkpoint{RunID: "run", Epoch: 1, Seq: 4, Owner: "a"}
	heir := checkpointstore.Checkpoint{RunID: "run", Epoch: 2, Seq: 1, Owner: "b", Text: "whole"}
	require.NoError(t, w.Put(t.Context(), zombie))
	require.NoError(t, w.again().Put(t.Context(), heir))
	zombie.Seq++
	require.ErrorIs(t, w.Put(t.Context(), zombie), checkpointstore.ErrStale)
	require.ErrorIs(t, w.DeleteIf(t.Context(), zombie), checkpointstore.ErrStale)
	got, err := w.Get(t.Context(), "run")
	require.NoError(t, err)
	assert.Equal(t, "whole", got.Text)
}

// TestTheGap shows what the package's comment says: between processes two may claim one run, and the next Put of either
// tells the one that has lost.
func TestTheGap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(true)
		w.below.delay = func(_ context.Context, op string) {
			if op == "set" {
				<-time.After(time.Second)
			}
		}
		claim := func(owner string) checkpointstore.Checkpoint {
			return checkpointstore.Checkpoint{RunID: "run", Epoch: 2, Seq: 1, Owner: owner}
		}
		var wg sync.WaitGroup
		for i, owner := range []string{"a", "b"} {
			s := w.again()
			wg.Go(func() {
				<-time.After(time.Duration(i) * time.Millisecond)
				assert.NoError(t, s.Put(t.Context(), claim(owner)))
			})
		}
		wg.Wait()
		next := claim("a")
		next.Seq++
		require.ErrorIs(t, w.Put(t.Context(), next), checkpointstore.ErrStale)
		next = claim("b")
		next.Seq++
		require.NoError(t, w.Put(t.Context(), next))
	})
}

// TestBesideEinosCheckpoints: a run and a checkpoint of Eino's may have one name.
func TestBesideEinosCheckpoints(t *testing.T) {
	t.Parallel()
	for name, deletes := range map[string]bool{"deletes": true, "cannot delete": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(deletes)
			require.NoError(t, w.below.Set(t.Context(), "order-1", []byte("Eino's own")))
			_, err := w.Get(t.Context(), "order-1")
			require.ErrorIs(t, err, checkpointstore.ErrNotFound)
			require.NoError(t, w.Put(t.Context(), checkpointstore.Checkpoint{RunID: "order-1", Epoch: 1}))
			assert.Equal(t, []string{"carryon/order-1", "order-1"}, w.below.ids())
			require.NoError(t, w.Delete(t.Context(), "order-1"))
			_, err = w.Get(t.Context(), "order-1")
			require.ErrorIs(t, err, checkpointstore.ErrNotFound)
			assert.Equal(t, "Eino's own", string(w.below.entries["order-1"]))
			if deletes {
				assert.Equal(t, []string{"order-1"}, w.below.ids())
			} else {
				assert.Len(t, w.below.entries["carryon/order-1"], len("carryon-deleted"), "the answer is gone")
			}
		})
	}
}

// TestErrorsOfTheStoreBelow: they come wrapped, and with the context's where that has ended; waiting for another write of
// the run ends with the context.
func TestErrorsOfTheStoreBelow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("no route to host")
		c := checkpointstore.Checkpoint{RunID: "run", Epoch: 1}
		w := newWorld(true)
		w.below.err = boom
		_, err := w.Get(t.Context(), "run")
		for _, err := range []error{err, w.Put(t.Context(), c), w.Delete(t.Context(), "run"), w.DeleteIf(t.Context(), c)} {
			require.ErrorIs(t, err, boom)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		}
		w.below.delay = func(ctx context.Context, _ string) { <-ctx.Done() }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = w.Put(ctx, c)
		require.ErrorIs(t, err, boom)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		w = newWorld(true)
		hold := make(chan struct{})
		w.below.delay = func(context.Context, string) { <-hold }
		held := make(chan error)
		go func() { held <- w.Put(t.Context(), c) }()
		synctest.Wait()
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, w.Put(ctx, c), context.DeadlineExceeded)
		require.ErrorIs(t, w.Delete(ctx, "run"), context.DeadlineExceeded)
		close(hold)
		require.NoError(t, <-held)
	})
}
