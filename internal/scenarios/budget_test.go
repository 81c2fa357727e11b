package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// later is a response that says when to come back.
type later struct {
	StatusCode int
	Response   *http.Response
}

func (e *later) Error() string { return http.StatusText(e.StatusCode) }

func comeBack(code int, key, value string) error {
	return &later{StatusCode: code, Response: &http.Response{StatusCode: code, Header: http.Header{key: {value}}}}
}

// TestRetryAfter: what the provider asks for is waited for, in every form and place.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	date := func(d time.Duration) func() error {
		return func() error { return comeBack(429, "Retry-After", time.Now().Add(d).UTC().Format(http.TimeFormat)) }
	}
	is := func(code int, key, value string) func() error {
		return func() error { return comeBack(code, key, value) }
	}
	for label, tt := range map[string]struct {
		err  func() error // on the scene's clock, which begins at a whole second
		wait time.Duration
	}{
		// https://github.com/tinyhumansai/openhuman/pull/4909
		"B099 three attempts in two seconds": {is(429, "Retry-After", "20"), 20 * time.Second},
		"B099 of an overload":                {is(529, "Retry-After", "20"), 20 * time.Second},
		// https://github.com/MemTensor/MemOS/issues/1620
		"B101 a date":         {date(20 * time.Second), 20 * time.Second},
		"B101 a past date":    {date(-time.Hour), time.Second},
		"B101 milliseconds":   {is(429, "Retry-After-Ms", "2500"), 2500 * time.Millisecond},
		"B101 nothing usable": {is(429, "Retry-After", "Wed"), time.Second},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			for place, first := range map[string]func(error) fm.Script{
				"Stream": func(err error) fm.Script { return fm.Script{fm.OpenFail(err)} },
				"first":  func(err error) fm.Script { return fm.Script{fm.Fail(err)} },
				"role":   func(err error) fm.Script { return fm.Script{fm.Role(), fm.Fail(err)} },
				"text":   func(err error) fm.Script { return fm.Script{fm.Text("a"), fm.Fail(err)} },
			} {
				g := play(t, fm.Respond(func(n int, _ []*schema.Message) fm.Script {
					if n == 0 {
						return first(tt.err())
					}

					return fm.Script{fm.Text("b"), fm.Finish("stop")}
				}), continuation.WithMaxContinuations(1), continuation.WithOpenRetries(1))
				require.NoError(t, g.err, place)
				assert.GreaterOrEqual(t, g.took, tt.wait, place)
				assert.LessOrEqual(t, g.took, tt.wait+tt.wait/4, place)
				assert.Len(t, g.requests, 2, "%s: counted once", place)
			}
		})
	}
	t.Run("B101 an absurd value", func(t *testing.T) {
		t.Parallel()
		for _, err := range []error{comeBack(429, "Retry-After", "86400"), comeBack(429, "Retry-After", "61")} {
			g := play(t, fm.New(fm.Script{fm.Text("a"), fm.Fail(err)}))
			var exhausted *continuation.ExhaustedError
			require.ErrorAs(t, g.err, &exhausted)
			assert.Equal(t, continuation.ReasonRetryAfter, exhausted.Reason)
			assert.Equal(t, "a", exhausted.Partial.Content)
			assert.Zero(t, g.took, "nobody waits a day")
		}
	})
}

// TestStorm: streams that break together do not come back together.
func TestStorm(t *testing.T) {
	t.Parallel()
	// https://github.com/DaKheera47/job-ops/pull/555
	t.Run("B102 all wake at once", func(t *testing.T) {
		t.Parallel()
		const streams = 200
		synctest.Test(t, func(t *testing.T) {
			waits := map[time.Duration]int{}
			var mu sync.Mutex
			var wg sync.WaitGroup
			began := time.Now()
			for range streams {
				wg.Go(func() {
					inner := fm.New(fm.Script{fm.Text("a"), fm.Reset()}, fm.Script{fm.Text("b"), fm.Finish("stop")})
					if g := ask(t.Context(), continuation.Wrap(inner), hi()); g.err != nil {
						t.Error(g.err)
					}
					mu.Lock()
					defer mu.Unlock()
					waits[inner.Requests()[1].At.Sub(began)]++
				})
			}
			wg.Wait()
			all := slices.Sorted(maps.Keys(waits))
			assert.Greater(t, len(all), streams*9/10, "no two at the same moment")
			assert.GreaterOrEqual(t, all[0], time.Second)
			assert.Less(t, all[0], 1050*time.Millisecond, "over the whole quarter")
			assert.Greater(t, all[len(all)-1], 1200*time.Millisecond)
			assert.LessOrEqual(t, all[len(all)-1], 1250*time.Millisecond)
		})
	})
	// https://github.com/prime-radiant-inc/evener/issues/342
	t.Run("B103 a long storm uses up the budget", func(t *testing.T) {
		t.Parallel()
		storm := func(extra ...continuation.Option) got {
			return play(t, fm.Respond(func(n int, _ []*schema.Message) fm.Script {
				if n < 11 {
					return fm.Script{fm.OpenFail(comeBack(429, "Retry-After", "30"))}
				}

				return fm.Script{fm.Text("a"), fm.Finish("stop")}
			}), extra...)
		}
		g := storm(continuation.WithOpenRetries(11), continuation.WithMaxContinuations(1))
		require.NoError(t, g.err, "it has a budget of its own")
		assert.GreaterOrEqual(t, g.took, 11*30*time.Second)
		assert.Empty(t, of[callbacks.Started](g.heard))
		g = storm(continuation.WithOpenRetries(11), continuation.WithMaxElapsed(2*time.Minute))
		require.Error(t, g.err, "or a limit by the clock")
		assert.LessOrEqual(t, g.took, 2*time.Minute)
		g = storm()
		require.Error(t, g.err)
		assert.Len(t, g.requests, 3, "by default it is short")
	})
}

// TestRefusals: what is wrong with a request is wrong with it the next time.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for code := 400; code < 500; code++ {
		if slices.Contains([]int{408, 409, 424, 425, 429, 499}, code) {
			continue // of the moment
		}
		bad := &status{HTTPStatusCode: code, Message: "no"}
		for label, scripts := range map[string][]fm.Script{
			// https://github.com/PrimeIntellect-ai/prime-agent/issues/1490
			"B105 it is sent again for hours": {{fm.OpenFail(bad)}},
			// https://github.com/vectara/awesome-agent-failures/pull/45
			"B111 a continuation is sent again over night": {{fm.Text("a"), fm.Reset()}, {fm.OpenFail(bad)}},
		} {
			t.Run(fmt.Sprintf("%s/%d", label, code), func(t *testing.T) {
				t.Parallel()
				g := play(t, fm.New(scripts...), now())
				require.ErrorIs(t, g.err, bad)
				assert.Len(t, g.requests, len(scripts))
			})
		}
	}
	for _, reason := range []string{"content_filter", "refusal", "SAFETY", "PROHIBITED_CONTENT"} {
		// https://github.com/romp-on/romp/pull/504
		t.Run("B117 a refusal is asked for again/"+reason, func(t *testing.T) {
			t.Parallel()
			for _, script := range []fm.Script{{}, {fm.Text("a")}, {fm.Reasoning("a")}, {fm.Call(0, "c", "f", "{}")}} {
				g := play(t, fm.New(append(script, fm.Finish(reason))))
				require.NoError(t, g.err)
				assert.Equal(t, reason, finishOf(g.message(t)))
				assert.Len(t, g.requests, 1)
				assert.Empty(t, of[callbacks.Started](g.heard))
			}
		})
	}
}

// TestRecoveryIsOnUnlessItIsOff: with no more than one line, for every kind of break; and not at all if it is switched off.
func TestRecoveryIsOnUnlessItIsOff(t *testing.T) {
	t.Parallel()
	rest := fm.Script{fm.Text("b"), fm.Finish("stop")}
	for name, end := range map[string]fm.Step{
		"cut": fm.UnexpectedEOF(), "stall": fm.Stall(), "reset": fm.Reset(), "EOF": fm.EOF(),
		"chunk": fm.Fail(errors.New("invalid character '<' looking for beginning of value")),
	} {
		for _, label := range []string{
			// https://github.com/BerriAI/litellm/issues/29808
			"B106 retries without fallbacks do nothing",
			// https://github.com/BerriAI/litellm/issues/40404
			"B107 the fallback is never asked",
		} {
			t.Run(label+"/"+name, func(t *testing.T) {
				t.Parallel()
				g := play(t, fm.New(fm.Script{fm.Text("a"), end}, rest).TypeName("OpenAI"))
				require.NoError(t, g.err)
				assert.Equal(t, "ab", g.text())
				assert.Len(t, g.requests, 2)
			})
		}
		// https://github.com/BerriAI/litellm/issues/19077
		t.Run("B109 it is switched off and done all the same/"+name, func(t *testing.T) {
			t.Parallel()
			if name == "stall" {
				return // nobody watches then
			}
			synctest.Test(t, func(t *testing.T) {
				h := &heard{}
				bare, inner := fm.New(fm.Script{fm.Text("a"), end}), fm.New(fm.Script{fm.Text("a"), end}, rest)
				want := ask(t.Context(), bare, hi())
				g := ask(t.Context(), continuation.Wrap(inner, continuation.WithMaxContinuations(0), continuation.WithHandler(h)), hi())
				assert.Equal(t, want, g, "the raw chunks and the raw error")
				assert.Len(t, inner.Requests(), 1)
				assert.Empty(t, h.told())
				synctest.Wait()
				assert.Zero(t, inner.Unclosed())
			})
		})
	}
	// https://github.com/jordigilh/kubernaut/pull/1633
	t.Run("B110 a limit below is taken for the user, and the budget for nothing", func(t *testing.T) {
		t.Parallel()
		below := fmt.Errorf("attempt: %w", context.DeadlineExceeded)
		for budget := 1; budget < 4; budget++ {
			g := play(t, fm.Respond(func(int, []*schema.Message) fm.Script { return fm.Script{fm.Text("a"), fm.Fail(below)} }),
				now(), continuation.WithMaxContinuations(budget))
			require.ErrorIs(t, g.err, continuation.ErrExhausted)
			assert.Len(t, g.requests, budget+1)
			assert.Equal(t, callbacks.CauseTimeout, of[callbacks.Interrupted](g.heard)[0].Cause)
		}
	})
}
