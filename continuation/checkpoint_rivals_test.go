package continuation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestRivals: of two that take over one wins, and the other says so.
func TestRivals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, _ := ckDie(t, ckAnswers()["text"], 2)
		slow := &ckStore{Store: left, beforePut: make(chan struct{})}
		second := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(slow))
		lost := make(chan error)
		go func() { lost <- ctStream(ckContext(t), second).err }()
		synctest.Wait() // it has read what is there
		first := continuation.Wrap(fm.Continuer(ckAnswers()["text"], fm.BreakAt(0, fm.Stall())), ctNow(), continuation.WithCheckpoints(left))
		r, err := first.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		defer r.Close()
		close(slow.beforePut)
		err = <-lost
		var taken *continuation.TakenOverError
		require.ErrorAs(t, err, &taken)
		require.ErrorIs(t, err, checkpointstore.ErrStale)
		assert.Equal(t, "run-7", taken.RunID)
	})
}

// TestZombie: a call that another one has taken over while it was stopped ends with an error at its next write.
func TestZombie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		events := &ctEvents{}
		zombie := fm.New(fm.Script{fm.Text("Water "), fm.Idle(time.Minute), fm.Text("boils at "), fm.Stall()})
		m := continuation.Wrap(zombie, continuation.WithCheckpoints(store), continuation.WithHandler(events))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		errs := make(chan error, 1)
		go func() { _, err := fm.Collect(r); errs <- err }()
		<-time.After(time.Second)
		other := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
		require.NoError(t, ctStream(ckContext(t), other).err)
		require.ErrorIs(t, <-errs, checkpointstore.ErrStale)
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.True(t, c.Done, "the successor's answer stands")
		ctLetGo(t, zombie)
	})
}

// TestMaxTakeovers: an answer that kills every process is given up, and goes.
func TestMaxTakeovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, _ := ckDie(t, ckAnswers()["text"], 2)
		c, err := left.Get(t.Context(), "run-7")
		require.NoError(t, err)
		c.Takeovers = 2
		require.NoError(t, left.Put(t.Context(), c))
		inner := fm.Continuer(ckAnswers()["text"])
		m := continuation.Wrap(inner, continuation.WithCheckpoints(left, continuation.MaxTakeovers(2)))
		r := ctStream(ckContext(t), m)
		var exhausted *continuation.ExhaustedError
		require.ErrorAs(t, r.err, &exhausted)
		assert.Equal(t, continuation.ReasonMaxTakeovers, exhausted.Reason)
		assert.Equal(t, "Water boils at ", exhausted.Partial.Content)
		assert.Empty(t, inner.Requests())
		synctest.Wait()
		_, err = left.Get(t.Context(), "run-7")
		assert.ErrorIs(t, err, checkpointstore.ErrNotFound)
	})
}
