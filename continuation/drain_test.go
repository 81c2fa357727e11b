package continuation_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestDrain: after it, all is in the store that a call has delivered which was closed or cancelled, however slow the store is.
func TestDrain(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(cancel, closeReader func()){
		"closed":               func(_, closeReader func()) { closeReader() },
		"closed long ago":      func(_, closeReader func()) { closeReader(); synctest.Wait() },
		"cancelled and closed": func(cancel, closeReader func()) { cancel(); closeReader() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &ckStore{Store: memstore.New(), putDelay: 3 * time.Second}
				m := continuation.Wrap(fm.New(fm.Script{fm.Text("Water "), fm.Text("boils."), fm.Stall()}), continuation.WithCheckpoints(store))
				ctx, cancel := context.WithCancel(ckContext(t))
				defer cancel()
				r, err := m.Stream(ctx, ctInput())
				require.NoError(t, err)
				for range 2 {
					_, err := r.Recv()
					require.NoError(t, err)
				}
				soon, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				require.ErrorIs(t, m.Drain(soon), context.DeadlineExceeded, "a call that has not ended is waited for")
				leave(cancel, r.Close)
				require.NoError(t, m.Drain(t.Context()))
				c, err := store.Get(t.Context(), "run-7")
				require.NoError(t, err)
				assert.Equal(t, "Water boils.", c.Text)
				began := time.Now()
				require.NoError(t, m.Drain(t.Context()))
				assert.Zero(t, time.Since(began), "all is written")
			})
		})
	}
}

// TestDrainEnds: with its context, and with a store that hangs when the write is given up.
func TestDrainEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &ckStore{Store: memstore.New(), putDelay: time.Hour}
		m := continuation.Wrap(fm.New(fm.Script{fm.Text("Water "), fm.Stall()}), continuation.WithCheckpoints(store))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		_, err = r.Recv()
		require.NoError(t, err)
		r.Close()
		late := errors.New("the pod is killed now")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, late)
		defer cancel()
		began := time.Now()
		err = m.Drain(ctx)
		require.ErrorIs(t, err, late)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		require.NoError(t, m.Drain(t.Context()))
		assert.Less(t, time.Since(began), time.Minute)
		assert.EqualValues(t, 3, store.puts.Load())
	})
}

// TestEveryDecoratorDrains: a middleware is one, too.
func TestEveryDecoratorDrains(t *testing.T) {
	t.Parallel()
	m, err := continuation.NewMiddleware()
	require.NoError(t, err)
	for _, d := range []any{continuation.Wrap(fm.New()), typed(t, fm.NewAgentic()), m} {
		f, ok := d.(continuation.Drainer)
		require.True(t, ok, "%T", d)
		require.NoError(t, f.Drain(t.Context()), "without checkpoints there is nothing to wait for")
	}
}
