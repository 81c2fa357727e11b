package places_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// lookout sees where the first model call stands.
type lookout struct {
	waits, ends *sync.Once
	waiting     chan struct{} // closed when the first wait is announced
	over        chan struct{} // closed when the call has ended
}

func newLookout() lookout {
	return lookout{waits: new(sync.Once), ends: new(sync.Once), waiting: make(chan struct{}), over: make(chan struct{})}
}

// handler is the option that makes it see.
func (l lookout) handler() continuation.Option {
	return continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
		switch e.(type) {
		case callbacks.Started, callbacks.OpenRetried:
			l.waits.Do(func() { close(l.waiting) })
		case callbacks.Ended:
			l.ends.Do(func() { close(l.over) })
		}
	}))
}

// await waits until the moment is reached; between is closed when the answer is whole and its tools have not run.
func (l lookout) await(t *testing.T, inner *fm.Model, m moment, between <-chan struct{}) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	reached := between
	switch {
	case m.waiting:
		reached = l.waiting
	case !m.between:
		require.NoError(t, inner.Wait(ctx, m.reached))

		return
	}
	select {
	case <-reached:
	case <-ctx.Done():
		require.Fail(t, "the moment does not come")
	}
}

// calledOff waits until the call that was under way is over, its wait and its goroutines with it. A stream that Eino drops
// unread is closed when it is collected.
func (l lookout) calledOff(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for limit := time.After(patience); ; {
		select {
		case <-l.over:
			return
		case <-tick.C:
			runtime.GC()
		case <-limit:
			require.Fail(t, "the model call does not end")
		}
	}
}
