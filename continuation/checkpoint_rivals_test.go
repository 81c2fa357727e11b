package continuation_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
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
		events := &ctEvents{}
		second := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(slow), continuation.WithHandler(events))
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
		assert.Equal(t, callbacks.OutcomeCancelled, ctEnd(t, events).Outcome)
	})
}

// TestZombie: a call that another one has taken over while it was stopped ends with an error at its next write.
func TestZombie(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		events := &ctEvents{}
		zombie := fm.New(fm.Script{fm.Text("Water "), fm.Idle(time.Minute), fm.Text("boils at "), fm.Stall()})
		m := continuation.Wrap(zombie, continuation.WithCheckpoints(&ckStore{Store: store, putDelay: 100 * time.Millisecond}), continuation.WithHandler(events))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		errs := make(chan error, 1)
		go func() { _, err := fm.Collect(r); errs <- err }()
		<-time.After(time.Second)
		other := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
		require.NoError(t, ctStream(ckContext(t), other).err)
		require.ErrorIs(t, <-errs, checkpointstore.ErrStale)
		assert.Equal(t, callbacks.OutcomeCancelled, ctEnd(t, events).Outcome)
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
		events := &ctEvents{}
		m := continuation.Wrap(inner, continuation.WithCheckpoints(left, continuation.MaxTakeovers(2)), continuation.WithHandler(events))
		r := ctStream(ckContext(t), m)
		var exhausted *continuation.ExhaustedError
		require.ErrorAs(t, r.err, &exhausted)
		assert.Equal(t, continuation.ReasonMaxTakeovers, exhausted.Reason)
		assert.Equal(t, "Water boils at ", exhausted.Partial.Content)
		assert.Empty(t, inner.Requests())
		assert.Equal(t, callbacks.CauseResumedFromCheckpoint, ctEnd(t, events).Cause)
		synctest.Wait()
		_, err = left.Get(t.Context(), "run-7")
		assert.ErrorIs(t, err, checkpointstore.ErrNotFound)
	})
}

// TestZombieAtTheEnd: a call whose last write is refused does not end as if its answer stood; nor does one that was taken over
// and has only to delete.
func TestZombieAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string][]continuation.CheckpointOption{"writes": {continuation.KeepUntilCommit()}, "deletes": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New()
				zombie := fm.New(fm.Script{fm.Text("Water "), fm.Idle(50 * time.Second), fm.Text("boils."), fm.Finish("stop")})
				events := &ctEvents{}
				m := continuation.Wrap(zombie, continuation.WithHandler(events),
					continuation.WithCheckpoints(store, append(end, continuation.FlushEvery(30*time.Second, 1<<20))...))
				r, err := m.Stream(ckContext(t), ctInput())
				require.NoError(t, err)
				errs := make(chan error, 1)
				go func() { _, err := fm.Collect(r); errs <- err }()
				<-time.After(45 * time.Second)
				other := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), ctNow(), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
				require.NoError(t, ctStream(ckContext(t), other).err)
				require.ErrorIs(t, <-errs, checkpointstore.ErrStale)
				assert.Equal(t, callbacks.OutcomeCancelled, ctEnd(t, events).Outcome, "the caller got no answer")
				c, err := store.Get(t.Context(), "run-7")
				require.NoError(t, err)
				assert.Equal(t, "Water boils at 100 degrees Celsius.", c.Text, "the successor's answer stands")
			})
		})
	}
}

// TestZombieBetweenCalls: a process that was stopped between two calls of its run does not take the run back; a new run
// of the same id does.
func TestZombieBetweenCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		inner := fm.Continuer(ckAnswers()["text"])
		m := continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
		zombie := ckContext(t)
		require.NoError(t, ctStream(zombie, m).err)
		require.NoError(t, ctStreamOf(zombie, m, []*schema.Message{schema.UserMessage("And now?")}).err, "its own calls do not disturb it")

		next := []*schema.Message{schema.UserMessage("And then?")}
		require.NoError(t, ctStreamOf(ckContext(t), m, next).err)
		asked := len(inner.Requests())
		for _, input := range [][]*schema.Message{next, {schema.UserMessage("And at last?")}} {
			var taken *continuation.TakenOverError
			require.ErrorAs(t, ctStreamOf(zombie, m, input).err, &taken)
			require.ErrorIs(t, taken, checkpointstore.ErrStale)
			assert.Equal(t, "run-7", taken.RunID)
		}
		assert.Len(t, inner.Requests(), asked, "it asks for nothing")
		require.NoError(t, ctStreamOf(ckContext(t), m, next).err)
		assert.Len(t, inner.Requests(), asked, "the successor's answer stands")
	})
}

// TestReplayClaims: who is answered with a finished answer has taken its run over, and needs no working store for that.
func TestReplayClaims(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, name := range []string{"text", "two calls"} {
			store := &ckStore{Store: memstore.New()}
			inner := fm.Continuer(ckAnswers()[name])
			m := continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
			zombie := ckContext(t)
			require.NoError(t, ctStream(zombie, m).err)
			puts := store.puts.Load()
			require.NoError(t, ctStream(ckContext(t), m).err)
			assert.Equal(t, puts+1, store.puts.Load(), "the claim is all that is written")
			c, err := store.Get(t.Context(), "run-7")
			require.NoError(t, err)
			assert.EqualValues(t, 2, c.Epoch)
			assert.True(t, c.Done)
			assert.Zero(t, c.Takeovers+c.Interruptions, "it needed no model")
			require.NoError(t, continuation.Commit(zombie, store, "run-7"))
			require.ErrorIs(t, ctStream(zombie, m).err, checkpointstore.ErrStale)

			store.putErr = errors.New("disk full")
			require.NoError(t, ctStream(ckContext(t), m).err)
			assert.Len(t, inner.Requests(), 1)
		}
	})
}
