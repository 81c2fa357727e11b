package scenarios_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// leaves are the ways in which a caller leaves a call that is silent.
func leaves() map[string]func(cancel context.CancelFunc, r *schema.StreamReader[*schema.Message]) {
	return map[string]func(context.CancelFunc, *schema.StreamReader[*schema.Message]){
		"cancel": func(cancel context.CancelFunc, r *schema.StreamReader[*schema.Message]) {
			cancel()
			_, _ = fm.Collect(r)
		},
		"close": func(_ context.CancelFunc, r *schema.StreamReader[*schema.Message]) { r.Close() },
	}
}

// TestBreakerAndTheCaller: a caller who leaves says nothing about the provider, and a provider is judged at the end.
func TestBreakerAndTheCaller(t *testing.T) {
	t.Parallel()
	breaker := func() *gobreaker.TwoStepCircuitBreaker[any] {
		return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
			Timeout: 10 * time.Second, IsExcluded: continuation.NotCounted,
			ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= 1 },
		})
	}
	for name, leave := range leaves() {
		for place, script := range map[string]fm.Script{
			"text": {fm.Text("a"), fm.Stall()}, "call": {fm.Call(0, "c", "f", `{"`), fm.Stall()}, "nothing": {fm.Stall()},
		} {
			leaveOne := func(t *testing.T, b continuation.Breaker) {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				inner := fm.New(script)
				r, err := continuation.Wrap(inner, continuation.WithBreaker(b)).Stream(ctx, hi())
				require.NoError(t, err)
				leave(cancel, r)
				cancel()
				letGo(t, inner)
			}
			// https://github.com/diegosouzapw/OmniRoute/pull/7908
			t.Run("B113 callers who leave take a healthy provider out/"+name+" "+place, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := breaker()
					for range 10 {
						leaveOne(t, b)
					}
					assert.Equal(t, gobreaker.StateClosed, b.State())
					assert.Zero(t, b.Counts().TotalFailures)
				})
			})
			// https://github.com/BerriAI/litellm/pull/39701
			t.Run("B114 the one attempt that may try is never given back/"+name+" "+place, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := breaker()
					require.Error(t, ask(t.Context(), continuation.Wrap(fm.New(fm.Script{fm.Text("a"), fm.Reset()}), continuation.WithBreaker(b)), hi()).err)
					require.Equal(t, gobreaker.StateOpen, b.State())
					<-time.After(11 * time.Second) // on the bubble's clock
					require.Equal(t, gobreaker.StateHalfOpen, b.State())
					for range 3 {
						leaveOne(t, b)
						require.Equal(t, gobreaker.StateHalfOpen, b.State())
					}
					g := ask(t.Context(), continuation.Wrap(fm.New(fm.Script{fm.Text("a"), fm.Finish("stop")}), continuation.WithBreaker(b)), hi())
					require.NoError(t, g.err)
					assert.Equal(t, gobreaker.StateClosed, b.State())
				})
			})
		}
	}
	// https://github.com/ferro-labs/ai-gateway/pull/199
	t.Run("B115 an open stream counts as a success", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := breaker()
			r, err := continuation.Wrap(fm.New(fm.Script{fm.Text("a"), fm.Reset()}), continuation.WithBreaker(b)).Stream(t.Context(), hi())
			require.NoError(t, err)
			_, err = r.Recv()
			require.NoError(t, err)
			assert.Zero(t, b.Counts().TotalSuccesses)
			_, err = fm.Collect(r)
			require.ErrorIs(t, err, gobreaker.ErrOpenState)
			assert.Equal(t, gobreaker.StateOpen, b.State())
		})
	})
}
