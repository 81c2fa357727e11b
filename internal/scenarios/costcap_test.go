package scenarios_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

var errCap = errors.New("the run has cost enough")

// costCap stops a run whose recoveries have cost too much, over all its calls: it counts what was asked and written beyond
// the first requests, and ends the run's context.
type costCap struct {
	requests, tokens int // beyond what was asked first, at most

	mu    sync.Mutex
	spent map[string][2]int // requests and tokens, by run
	stop  map[string]context.CancelCauseFunc
}

func newCostCap(requests, tokens int) *costCap {
	return &costCap{requests: requests, tokens: tokens, spent: map[string][2]int{}, stop: map[string]context.CancelCauseFunc{}}
}

// run returns the context of a run that the cap may end.
func (c *costCap) run(ctx context.Context, id string) context.Context {
	ctx, stop := context.WithCancelCause(continuation.ContextWithRunID(ctx, id))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop[id] = stop

	return ctx
}

// Handle implements callbacks.Handler. It is told of a repeat before the request is made.
func (c *costCap) Handle(_ context.Context, e callbacks.Event) {
	run, requests, tokens := "", 0, 0
	switch e := e.(type) {
	case callbacks.Started:
		run, requests = e.RunID, 1
	case callbacks.OpenRetried:
		run, requests = e.RunID, 1
	case callbacks.Failed:
		run, tokens = e.RunID, e.Usage.Completion
	case callbacks.Completed:
		run, tokens = e.RunID, e.Usage.Completion
	default:
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.spent[run]
	s[0], s[1] = s[0]+requests, s[1]+tokens
	c.spent[run] = s
	if s[0] > c.requests || s[1] > c.tokens {
		c.stop[run](errCap)
	}
}

// TestCostCap: what the repeats of a run may cost, over all its calls, is capped by a handler that ends the run's context,
// before a request that is too much is made; what was shown stays. A run that is not at its cap is not touched.
func TestCostCap(t *testing.T) {
	t.Parallel()
	broken := func(text string, tokens int) fm.Script {
		return fm.Script{fm.Text(text), fm.Usage(10, tokens), fm.Reset()}
	}
	for label, tt := range map[string]struct {
		cap   *costCap
		asked int
		text  string
	}{
		// https://github.com/vectara/awesome-agent-failures/pull/45
		"B111 requests of one call":        {newCostCap(2, 1000), 3, "ab"},
		"B111 tokens of one call":          {newCostCap(100, 30), 3, "ab"},
		"B111 no request beyond the first": {newCostCap(0, 1000), 1, "a"},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(broken("a", 20), broken("b", 20), broken("c", 20), broken("d", 20), broken("e", 20), broken("f", 20))
				m := continuation.Wrap(inner, now(), continuation.WithHandler(tt.cap), continuation.WithMaxContinuations(100))
				g := ask(tt.cap.run(t.Context(), "night"), m, hi())
				require.ErrorIs(t, g.err, errCap)
				require.ErrorIs(t, g.err, context.Canceled)
				assert.Equal(t, tt.text, g.text())
				assert.Len(t, inner.Requests(), tt.asked)
				letGo(t, inner)
			})
		})
	}
	t.Run("B111 calls of a night", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			limit := newCostCap(4, 1000)
			inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
				if n%2 == 0 {
					return broken("a", 1)
				}

				return fm.Script{fm.Text("b"), fm.FinishUsage("stop", 10, 1)}
			})
			m := continuation.Wrap(inner, now(), continuation.WithHandler(limit))
			night, other := limit.run(t.Context(), "night"), limit.run(t.Context(), "other")
			ended := 0
			for range 20 {
				if g := ask(night, m, hi()); g.err == nil {
					ended++
				} else {
					require.ErrorIs(t, g.err, errCap)
				}
			}
			assert.Equal(t, 4, ended)
			assert.Len(t, inner.Requests(), 9, "and none behind the cap")
			require.NoError(t, ask(other, m, hi()).err, "another run goes on")
		})
	})
}
