package provider

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// manyAtOnce asks ten questions at once. The n-th is refused with a Retry-After of n s, then cut, then refused without a
// Retry-After, then answered: its waits are n s, 0 and 0, whatever the others wait for.
func manyAtOnce(t *testing.T, c clients.Client) {
	t.Helper()
	const calls = 10
	r := newRig(t, c, rig.Wiring{Pipe: faultllm.NewPipe()}, faultllm.Config{Script: brief(), Plan: func(a faultllm.Arrival) faultllm.Fault {
		switch a.Attempt {
		case 0:
			return faultllm.Refuse(429, faultllm.RetryAfterSeconds(number(a.Request)))
		case 1:
			return faultllm.Reset(faultllm.InText(1))
		default:
			return faultllm.None()
		}
	}})
	waits := make([][]time.Duration, calls)
	var all sync.WaitGroup
	for n := range calls {
		m := continuation.Wrap(
			r.Bare, continuation.WithBackoff(func(int) time.Duration { return 0 }),
			continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
				switch e := e.(type) {
				case callbacks.OpenRetried:
					waits[n] = append(waits[n], e.Backoff)
				case callbacks.Started:
					waits[n] = append(waits[n], e.Backoff)
				}
			})),
		)
		all.Go(func() {
			chunks, err := rig.Stream(t.Context(), m, []*schema.Message{schema.UserMessage(fmt.Sprintf("Question %d: when?", n))})
			if assert.NoError(t, err) {
				assert.Equal(t, "We leave at ten, not later.", rig.Concat(t, chunks).Content)
			}
		})
	}
	all.Wait()
	for n := range calls {
		require.Len(t, waits[n], 2, "call %d", n)
		least := time.Duration(n) * time.Second
		assert.GreaterOrEqual(t, waits[n][0], least)
		assert.LessOrEqual(t, waits[n][0], least+least/4)
		assert.Zero(t, waits[n][1], "the wait of one attempt is not that of the next")
	}
}

// number is the number of a question.
func number(r faultllm.Request) int {
	n := 0
	for _, m := range r.Messages {
		if _, err := fmt.Sscanf(strings.TrimSpace(m.Text), "Question %d:", &n); err == nil {
			return n
		}
	}

	return n
}
