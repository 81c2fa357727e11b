package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestPartialIsKept: whoever is given up gets what there is, and an error, never a clean end.
func TestPartialIsKept(t *testing.T) {
	t.Parallel()
	// https://github.com/CherryHQ/cherry-studio/issues/19793
	t.Run("B013 a missing finish reason fails the whole answer", func(t *testing.T) {
		t.Parallel()
		for _, first := range []string{"long text", "short"} {
			inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
				if n == 0 {
					return fm.Script{fm.Text(first)}
				}

				return fm.Script{fm.Text(fmt.Sprintf(", and %d", n))}
			}).TypeName("OpenAI")
			g := play(t, inner, now())
			var exhausted *continuation.ExhaustedError
			require.ErrorAs(t, g.err, &exhausted)
			require.ErrorIs(t, g.err, continuation.ErrTruncated)
			assert.Equal(t, first+", and 1, and 2, and 3, and 4, and 5", exhausted.Partial.Content)
			assert.Equal(t, exhausted.Partial.Content, g.text())
			assert.Len(t, g.requests, 6)
		}
	})
	// https://github.com/openai/openai-python/issues/399
	t.Run("B015 the server cuts every five minutes", func(t *testing.T) {
		t.Parallel()
		const pieces = 9
		inner := func() *fm.Model {
			return fm.Respond(func(n int, _ []*schema.Message) fm.Script {
				if n == pieces {
					return fm.Script{fm.Text("the end."), fm.Finish("stop")}
				}

				return fm.Script{fm.Text(fmt.Sprintf("%c, ", 'a'+n)), fm.Idle(time.Minute), fm.Text("… "), fm.Idle(time.Minute), fm.EOF()}
			}).TypeName("OpenAI")
		}
		g := play(t, inner(), continuation.WithBudgetReset(1))
		require.NoError(t, g.err)
		assert.Equal(t, "a, … b, … c, … d, … e, … f, … g, … h, … i, … the end.", g.text())
		assert.Len(t, g.requests, pieces+1)
		assert.Len(t, of[callbacks.Interrupted](g.heard), pieces, "one a cut")
		for _, s := range of[callbacks.Started](g.heard) {
			assert.LessOrEqual(t, s.Backoff, 1250*time.Millisecond, "the waits begin anew as well")
		}

		g = play(t, inner())
		require.ErrorIs(t, g.err, continuation.ErrExhausted, "by default progress gives nothing back")
		assert.Len(t, g.requests, 6)
	})
}

// TestNoSuccessBehindAnError: what tells of success stays silent when the answer ends with an error.
func TestNoSuccessBehindAnError(t *testing.T) {
	t.Parallel()
	// https://github.com/moeru-ai/airi/pull/2596
	for name, opts := range map[string][]continuation.Option{
		"B018 nothing is continued":  with(continuation.WithMaxContinuations(0)),
		"B018 nothing more is tried": with(continuation.WithMaxContinuations(1)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reset := fm.ResetError()
			inner := fm.New(fm.Script{fm.Text("a"), fm.Fail(reset)}, fm.Script{fm.Text("b"), fm.Fail(reset)})
			synctest.Test(t, func(t *testing.T) {
				h, l := &heard{}, &listener{}
				m := continuation.Wrap(inner, append(opts, now(), continuation.WithHandler(h))...)
				g := ask(einocallbacks.InitCallbacks(t.Context(), &einocallbacks.RunInfo{Name: "chat"}, l.handler()), m, hi())
				require.ErrorIs(t, g.err, reset)
				synctest.Wait()
				assert.Zero(t, l.ends)
				for _, err := range l.errs {
					assert.ErrorIs(t, err, reset, "the run's end")
				}
				assert.Len(t, l.errs, 1, "one run")
				assert.Empty(t, of[callbacks.Completed](h))
				assert.Equal(t, "a"+strings.Repeat("b", len(inner.Requests())-1), g.text())
				var exhausted *continuation.ExhaustedError
				assert.Equal(t, len(inner.Requests()) > 1, errors.As(g.err, &exhausted))
			})
		})
	}
}

// listener hears how the runs named chat end.
type listener struct {
	mu   sync.Mutex
	ends int     // with a message
	errs []error // of the streams
}

func (l *listener) handler() einocallbacks.Handler {
	return einocallbacks.NewHandlerBuilder().
		OnEndFn(func(ctx context.Context, i *einocallbacks.RunInfo, _ einocallbacks.CallbackOutput) context.Context {
			if i.Name == "chat" {
				l.ends++
			}

			return ctx
		}).
		OnEndWithStreamOutputFn(func(
			ctx context.Context, i *einocallbacks.RunInfo, out *schema.StreamReader[einocallbacks.CallbackOutput],
		) context.Context {
			go l.read(i.Name, out)

			return ctx
		}).Build()
}

func (l *listener) read(name string, out *schema.StreamReader[einocallbacks.CallbackOutput]) {
	defer out.Close()
	for {
		if _, err := out.Recv(); err != nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			if name == "chat" {
				l.errs = append(l.errs, err)
			}

			return
		}
	}
}
