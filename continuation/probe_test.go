package continuation_test

import (
	"context"
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

// TestProbeThatBreaks: a continuation that was to find out whether an answer is whole breaks before it can tell. It is
// asked again, within the budget; if that runs out, the answer ends as it was.
func TestProbeThatBreaks(t *testing.T) {
	t.Parallel()
	first := fm.Script{fm.Text("Hello "), fm.Text("wor"), fm.EOF()}
	for name, c := range map[string]struct {
		scripts  []fm.Script
		want     string
		requests int
		waited   time.Duration // at least
		notices  int
	}{
		"it breaks and the next one completes": {
			[]fm.Script{first, {fm.Text("l"), fm.Reset()}, {fm.Text("ld"), fm.Finish("stop")}}, "Hello world", 3, 2 * time.Second, 0,
		},
		"it cannot be opened and the next one completes": {
			[]fm.Script{first, {fm.OpenFail(fm.ResetError())}, {fm.Text("ld"), fm.Finish("stop")}}, "Hello world", 3, 2 * time.Second, 0,
		},
		"it breaks and the next one brings no finish reason": {
			[]fm.Script{first, {fm.Reset()}, {fm.Text("ld"), fm.EOF()}}, "Hello wor", 3, 2 * time.Second, 1,
		},
		"it always breaks": {
			[]fm.Script{first, {fm.Reset()}, {fm.Reset()}, {fm.Reset()}, {fm.Reset()}, {fm.Reset()}}, "Hello wor", 6, 30 * time.Second, 1,
		},
		"it is refused": {
			[]fm.Script{first, {fm.OpenFail(brRefusal{StatusCode: 401})}}, "Hello wor", 2, 0, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var notices, open int
				m := continuation.Wrap(fm.New(c.scripts...), continuation.WithHandler(callbacks.HandlerFunc(
					func(_ context.Context, e callbacks.Event) {
						switch e := e.(type) {
						case callbacks.Notice:
							assert.Equal(t, callbacks.NoticeNoFinishReason, e.Kind)
							notices++
						case callbacks.Started:
							open++
						case callbacks.Completed, callbacks.Failed:
							open--
						}
					})))
				began := time.Now()
				r, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage("hi")})
				require.NoError(t, err)
				chunks, err := fm.Collect(r)
				require.NoError(t, err)
				assert.Equal(t, c.want, fm.Concat(t, chunks).Content)
				assert.GreaterOrEqual(t, time.Since(began), c.waited)
				assert.Equal(t, c.notices, notices)
				assert.Zero(t, open, "continuations without an end")
			})
		})
	}
}
