package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestSilence: it is bounded between two pieces of content, and what comes late is nobody's.
func TestSilence(t *testing.T) {
	t.Parallel()
	rest := fm.Script{fm.Text("b"), fm.Finish("stop")}
	told := []string{"broke: idle_stall, ContinueText", "started 1", "completed: stop"}
	const limit = 2 * time.Minute
	ping := fm.ThenMore(fm.Idle(30*time.Second), fm.Text(""))
	scenes(t,
		// https://github.com/earendil-works/pi/issues/3352
		scene{
			name: "B118 six minutes, then it goes on", client: "OpenAI", opts: with(now()), took: limit,
			script: []fm.Script{{fm.Text("a"), fm.Idle(379 * time.Second), fm.Text("late"), fm.Finish("stop")}, rest},
			text:   "ab", finish: "stop", requests: 2, events: told,
		},
		// https://github.com/2389-research/tracker/issues/575
		scene{
			name: "B119 for ever", client: "OpenAI", opts: with(now()), took: limit, script: []fm.Script{{fm.Text("a"), fm.Stall()}, rest},
			text: "ab", finish: "stop", requests: 2, events: told,
		},
		scene{
			name: "B119 for ever, from the start", client: "OpenAI", opts: with(now()), took: 5 * time.Minute, script: []fm.Script{{fm.Stall()}, rest},
			text: "b", finish: "stop", requests: 2, events: []string{"open retried: idle_stall"},
		},
		// https://github.com/anthony-chaudhary/fak/issues/5486
		scene{
			name: "B121 pings without end", client: "OpenAI", opts: with(now()), took: limit,
			script: []fm.Script{{fm.Text("a"), ping, ping, ping, fm.Idle(29 * time.Second), fm.Role(), fm.Usage(3, 1), fm.Nil(), ping, ping, fm.Stall()}, rest},
			text:   "ab", finish: "stop", requests: 2, events: told,
		},
		// https://github.com/vybestack/llxprt-code/pull/1906
		scene{
			name: "B122 a model that thinks for twelve minutes", client: "OpenAI", opts: with(continuation.WithFirstContentTimeout(15 * time.Minute)),
			script: []fm.Script{{fm.Role(), fm.Idle(12 * time.Minute), fm.Reasoning("x"), fm.Text("b"), fm.Finish("stop")}},
			text:   "b", thought: "x", finish: "stop", requests: 1, took: 12 * time.Minute,
		},
		scene{
			name: "B122 a model that shows that it thinks", client: "OpenAI",
			script: []fm.Script{{
				fm.Reasoning("x"), fm.Idle(119 * time.Second), fm.Reasoning("x"), fm.Idle(119 * time.Second), fm.Reasoning("x"),
				fm.Idle(119 * time.Second), fm.Text("b"), fm.Finish("stop"),
			}},
			text: "b", thought: "xxx", finish: "stop", requests: 1, took: 3 * 119 * time.Second,
		},
		scene{
			name: "B122 a client whose calls come in one piece", client: "Claude",
			script: []fm.Script{{fm.Text("b"), fm.Idle(4 * time.Minute), fm.Call(0, "c", "f", "{}"), fm.Finish("tool_use")}},
			text:   "b", calls: []string{"c f {}"}, finish: "tool_use", requests: 1, took: 4 * time.Minute,
		},
	)
	// https://github.com/anthropics/claude-code/issues/46987
	t.Run("B123 each attempt stalls", func(t *testing.T) {
		t.Parallel()
		g := play(t, fm.Respond(func(n int, _ []*schema.Message) fm.Script {
			return fm.Script{fm.Text(fmt.Sprintf("%d", n)), fm.Stall()}
		}).TypeName("OpenAI"), now())
		var exhausted *continuation.ExhaustedError
		require.ErrorAs(t, g.err, &exhausted)
		require.ErrorIs(t, g.err, continuation.ErrIdleStall)
		assert.Equal(t, "012345", exhausted.Partial.Content)
		assert.Equal(t, "012345", g.text())
		assert.Len(t, g.requests, 6)
		assert.Equal(t, limit*(1+2+4+8+16+32), g.took, "each is given twice the time of the one before")
	})
}

// TestCancelled: who cancels is not served any further, and nothing claims that it goes on.
func TestCancelled(t *testing.T) {
	t.Parallel()
	for place, scripts := range map[string][]fm.Script{
		"text": {{fm.Text("a"), fm.Stall()}}, "call": {{fm.Text("a"), fm.Call(0, "c", "f", "{"), fm.Stall()}},
		"back-off":     {{fm.Text("a"), fm.Reset()}},
		"continuation": {{fm.Text("a"), fm.Fail(&status{HTTPStatusCode: 503})}, {fm.Idle(time.Minute), fm.Stall()}},
		"opening":      {{fm.OpenStall()}}, "error": {{fm.Text("a"), fm.Stall(), fm.Fail(context.Canceled)}},
	} {
		for _, label := range []string{
			// https://github.com/mudler/cogito/pull/52
			"B125 it is sent again after a sleep that nothing ends",
			// https://github.com/zirkelc/ai-retry/issues/39
			"B126 a retry is told of",
			// https://github.com/livekit/agents-js/pull/1247
			"B127 a shutdown is told of as a failure",
		} {
			t.Run(label+"/"+place, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := &heard{}
					inner := fm.New(scripts...)
					m := continuation.Wrap(inner, continuation.WithHandler(h), continuation.WithBackoff(func(int) time.Duration { return 16 * time.Second }))
					ctx, cancel := context.WithCancel(t.Context())
					before := 0
					stop := time.AfterFunc(5*time.Second, func() { before = len(h.list()); cancel() })
					defer stop.Stop()
					began := time.Now()
					g := ask(ctx, m, hi())
					require.ErrorIs(t, g.err, context.Canceled)
					assert.Equal(t, 5*time.Second, time.Since(began))
					letGo(t, inner)
					for _, e := range h.list()[before:] {
						assert.Contains(t, []string{"cancelled", ""}, short(e))
					}
					assert.Len(t, inner.Requests(), 1)
				})
			})
		}
	}
}

// TestNothingIsLeft: a call that is left in the middle leaves no request, goroutine or reader behind. A bubble does not
// end before its goroutines do.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for name, leave := range leaves() {
		for reads := range 3 {
			for buffer := range 2 {
				for label, script := range map[string]fm.Script{
					// https://github.com/cloudwego/eino/issues/1068
					"B129 the provider is silent": {fm.Text("a"), fm.Text("b"), fm.Stall()},
					// https://github.com/ferro-labs/ai-gateway/issues/293
					"B130 the consumer has stopped": {fm.Text("a"), fm.Text("b"), fm.Text("c"), fm.Text("d"), fm.Text("e"), fm.Finish("stop")},
					// https://github.com/containerd/containerd/issues/14127
					"B131 what comes next is held": {fm.Text("a"), fm.Text("b"), fm.Call(0, "c", "f", "{"), fm.Text("c"), fm.Stall()},
				} {
					t.Run(fmt.Sprintf("%s/%s %d %d", label, name, reads, buffer), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) {
							ctx, cancel := context.WithCancel(t.Context())
							defer cancel()
							inner := fm.New(script).Buffer(buffer)
							r, err := continuation.Wrap(inner).Stream(ctx, hi())
							require.NoError(t, err)
							for range reads {
								_, err = r.Recv()
								require.NoError(t, err)
							}
							began := time.Now()
							leave(cancel, r)
							letGo(t, inner)
							assert.Equal(t, began, time.Now(), "at once")
						})
					})
				}
			}
		}
	}
}

// TestControlOfTheFramework: what Eino ends or interrupts is neither continued nor changed.
func TestControlOfTheFramework(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"cancelled": adk.ErrStreamCanceled, "cancelled, typed": &adk.StreamCanceledError{}, "interrupted": compose.Interrupt(t.Context(), "approve?"),
	} {
		// https://github.com/cloudwego/eino/pull/944
		t.Run("B133 a cancelled stream is sent again/"+name, func(t *testing.T) {
			t.Parallel()
			for _, script := range []fm.Script{{}, {fm.Text("a")}, {fm.Reasoning("a")}, {fm.Text("a"), fm.Call(0, "c", "f", "{}")}} {
				g := play(t, fm.New(append(script, fm.Fail(err))), now())
				assert.Equal(t, err, g.err, "untouched")
				assert.Len(t, g.requests, 1)
				assert.Empty(t, g.told())
			}
		})
	}
}

// TestGivenUpIsNoEnd: behind an error there is no clean end before the error was read, however often one reads.
func TestGivenUpIsNoEnd(t *testing.T) {
	t.Parallel()
	// https://github.com/cloudwego/eino/pull/1239
	t.Run("B134 a refused answer ends cleanly", func(t *testing.T) {
		t.Parallel()
		for name, end := range map[string]fm.Step{
			"reset": fm.Reset(), "EOF": fm.EOF(), "refusal": fm.Fail(&status{HTTPStatusCode: 401}), "reason": fm.Finish("error"),
			"EOF in an error": fm.Fail(fmt.Errorf("read: %w", io.EOF)),
		} {
			synctest.Test(t, func(t *testing.T) {
				inner := fm.Respond(func(int, []*schema.Message) fm.Script { return fm.Script{fm.Text("a"), end, fm.EOF()} }).TypeName("OpenAI")
				r, err := continuation.Wrap(inner, now()).Stream(t.Context(), hi())
				require.NoError(t, err)
				defer r.Close()
				for err == nil {
					_, err = r.Recv()
				}
				require.NotEqual(t, io.EOF, err, name)
				var exhausted *continuation.ExhaustedError
				require.Equal(t, name != "refusal", errors.As(err, &exhausted), name)
			})
		}
	})
	// https://github.com/letta-ai/letta-code/pull/469
	t.Run("B135 the state of an attempt outlives it", func(t *testing.T) {
		t.Parallel()
		for first, end := range map[string]fm.Script{
			"reset": {fm.Reset()}, "EOF": {fm.EOF()}, "stall": {fm.Stall()}, "reason": {fm.Finish("error")},
			"call": {fm.Call(0, "c", "f", "{"), fm.Finish("stop")}, "usage": {fm.Usage(3, 1), fm.Reset()},
		} {
			g := play(t, fm.New(append(fm.Script{fm.Text("a")}, end...), fm.Script{fm.Text("b"), fm.Reset()}, fm.Script{
				fm.Text("c"), fm.Call(0, "c2", "g", "{}"), fm.Finish("tool_calls"),
			}).TypeName("OpenAI"), now())
			require.NoError(t, g.err, first)
			assert.Equal(t, "abc", g.text(), first)
			assert.Equal(t, []string{"c2 g {}"}, callsOf(g.message(t)), first)
			assert.Len(t, of[callbacks.Completed](g.heard), 1, first)
		}
	})
}
