package continuation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestBreakerKeepsTheCause: what the request failed with that opened the breaker is in the error that says so.
func TestBreakerKeepsTheCause(t *testing.T) {
	t.Parallel()
	overloaded := &brStatus{503, "the engine is overloaded"}
	for name, c := range map[string]struct {
		trip    uint32
		scripts []fm.Script
		opts    []continuation.Option
		open    continuation.OpenBehaviour
	}{
		"the first request": {1, []fm.Script{{fm.OpenFail(overloaded)}}, nil, continuation.FailWhenOpen},
		"the first read":    {1, []fm.Script{{fm.Fail(overloaded)}}, nil, continuation.FailWhenOpen},
		"an open retry":     {2, []fm.Script{{fm.OpenFail(fm.ResetError())}, {fm.OpenFail(overloaded)}}, nil, continuation.FailWhenOpen},
		"after a wait": {
			1,
			[]fm.Script{{fm.OpenFail(overloaded)}},
			[]continuation.Option{continuation.WithMaxElapsed(5 * time.Second)},
			continuation.WaitWhenOpen,
		},
		"the answer":     {1, []fm.Script{{fm.Text("a"), fm.Fail(overloaded)}}, nil, continuation.FailWhenOpen},
		"a continuation": {2, []fm.Script{{fm.Text("a"), fm.Reset()}, {fm.Text("b"), fm.Fail(overloaded)}}, nil, continuation.FailWhenOpen},
		"a request for a continuation": {
			2, []fm.Script{{fm.Text("a"), fm.Reset()}, {fm.OpenFail(overloaded)}}, nil, continuation.FailWhenOpen,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := gobreaker.NewTwoStepCircuitBreaker[any](brTripsAt(c.trip))
				m := continuation.Wrap(fm.New(c.scripts...), append(c.opts, continuation.WithBreaker(b, c.open))...)
				_, err := brCollect(t, m)
				require.ErrorIs(t, err, gobreaker.ErrOpenState)
				require.ErrorIs(t, err, overloaded)
				assert.Contains(t, err.Error(), overloaded.Error())
			})
		})
	}
}

func TestBreakerKeepsTheCauseOfGenerate(t *testing.T) {
	t.Parallel()
	overloaded := &brStatus{503, "the engine is overloaded"}
	for name, opts := range map[string][]continuation.Option{
		"plain": nil, "streaming": {continuation.WithStreamingGenerate()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := gobreaker.NewTwoStepCircuitBreaker[any](brTripsAt(2))
				inner := fm.New(fm.Script{fm.OpenFail(fm.ResetError())}, fm.Script{fm.OpenFail(overloaded)})
				_, err := continuation.Wrap(inner, append(opts, continuation.WithBreaker(b))...).Generate(t.Context(), brInput())
				require.ErrorIs(t, err, gobreaker.ErrOpenState)
				require.ErrorIs(t, err, overloaded)
			})
		})
	}
}

// TestBreakerAloneIsTheCause: nothing was asked, so that nothing is told of it.
func TestBreakerAloneIsTheCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := gobreaker.NewTwoStepCircuitBreaker[any](brSettings())
		brTrip(t, b)
		m := continuation.Wrap(fm.New(), continuation.WithBreaker(b))
		_, err := brCollect(t, m)
		assert.EqualError(t, err, "continuation: circuit breaker: circuit breaker is open")
		_, err = m.Generate(t.Context(), brInput())
		assert.EqualError(t, err, "continuation: circuit breaker: circuit breaker is open")
	})
}

// brTripsAt are settings of a breaker that opens at the n-th failure in a row.
func brTripsAt(n uint32) gobreaker.Settings {
	s := brSettings()
	s.ReadyToTrip = func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= n }

	return s
}

type brStatus struct {
	StatusCode int
	Message    string
}

func (e *brStatus) Error() string { return e.Message }
