package continuation_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestUsageOfATakenOverAnswer: what the attempt of the dead process has not reported stays missing, in the next one and in
// what is replayed of the finished answer.
func TestUsageOfATakenOverAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		left    fm.Script
		missing any
		tokens  int
	}{
		"reported":   {fm.Script{fm.Text("Hello, "), fm.Usage(10, 5), fm.Stall()}, nil, 12},
		"too soon":   {fm.Script{fm.Usage(10, 1), fm.Text("Hello, "), fm.Stall()}, 1, 8},
		"not at all": {fm.Script{fm.Text("Hello, "), fm.Stall()}, 1, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := continuation.WithCheckpoints(memstore.New(), continuation.KeepUntilCommit())
				ctx, cancel := context.WithCancel(continuation.ContextWithRunID(t.Context(), "run"))
				defer cancel()
				m := continuation.Wrap(fm.New(c.left), store)
				r, err := m.Stream(ctx, ctInput())
				require.NoError(t, err)
				_, err = r.Recv()
				require.NoError(t, err)
				go func() {
					synctest.Wait()
					cancel()
				}()
				_, err = fm.Collect(r)
				require.ErrorIs(t, err, context.Canceled)
				synctest.Wait()

				next := continuation.Wrap(fm.New(fm.Script{fm.Text("world."), fm.FinishUsage("stop", 18, 7)}), store, ctNow())
				for _, which := range []string{"taken over", "replayed"} {
					got := ctStream(continuation.ContextWithRunID(t.Context(), "run"), next)
					require.NoError(t, got.err, which)
					synctest.Wait()
					m := got.message(t)
					assert.Equal(t, "Hello, world.", m.Content)
					assert.Equal(t, c.tokens, m.ResponseMeta.Usage.CompletionTokens, which)
					assert.Equal(t, c.missing, m.Extra[continuation.ExtraUnreported], which)
				}
			})
		})
	}
}
