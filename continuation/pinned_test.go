package continuation_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestRestartDoesNotCountAgainstTheProvider: a model that begins anew is no sick provider.
func TestRestartDoesNotCountAgainstTheProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := brSettings()
		s.ReadyToTrip = func(c gobreaker.Counts) bool { return c.TotalFailures >= 2 }
		b := gobreaker.NewTwoStepCircuitBreaker[any](s)
		inner := fm.New(
			fm.Script{fm.Text("The quick brown fox "), fm.Reset()},
			fm.Script{fm.Text("The quick brown bear "), fm.Finish("stop")},
			fm.Script{fm.Text("jumps."), fm.Finish("stop")},
		)
		chunks, err := brCollect(t, continuation.Wrap(inner, continuation.WithBreaker(b)))
		require.NoError(t, err)
		assert.Equal(t, "The quick brown fox jumps.", fm.Concat(t, chunks).Content)
		assert.Equal(t, uint32(1), b.Counts().TotalFailures, "the reset alone")
	})
}

// brScripted refuses as often as it is told to, and then lets everything through.
type brScripted struct{ refusals []int }

func (b *brScripted) Allow() (func(error), error) {
	if len(b.refusals) > 0 && b.refusals[0] > 0 {
		b.refusals[0]--

		return nil, errors.New("open")
	}
	if len(b.refusals) > 0 {
		b.refusals = b.refusals[1:]
	}

	return func(error) {}, nil
}

// TestWaitsForTheBreakerBeginAnew: what was waited before an attempt does not lengthen the wait before the next one.
func TestWaitsForTheBreakerBeginAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
			asked = append(asked, time.Now())
			if n == 0 {
				return fm.Script{fm.Text("Hello "), fm.Reset()}
			}

			return fm.Script{fm.Text("world"), fm.Finish("stop")}
		})
		b := &brScripted{refusals: []int{3, 1}} // 1 + 2 + 4 s, then 1 s behind the back-off
		began := time.Now()
		_, err := brCollect(t, continuation.Wrap(inner, continuation.WithBreaker(b, continuation.WaitWhenOpen)))
		require.NoError(t, err)
		require.Len(t, asked, 2)
		assert.GreaterOrEqual(t, asked[0].Sub(began), 7*time.Second)
		assert.GreaterOrEqual(t, asked[1].Sub(asked[0]), 2*time.Second)
		assert.Less(t, asked[1].Sub(asked[0]), 3*time.Second)
	})
}

// TestIdentityWinsOverExtraKeys: who is told which provider it is does not guess.
func TestIdentityWinsOverExtraKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ark := fm.Chunk(&schema.Message{Role: schema.Assistant, Content: "Hello", Extra: map[string]any{"ark-request-id": "r1"}})
		var providers []string
		inner := fm.New(fm.Script{ark, fm.Reset()}, fm.Script{fm.Finish("stop")})
		m := continuation.Wrap(inner.Plain(), continuation.WithIdentity("House", "house-1"), continuation.WithHandler(
			callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) { providers = append(providers, e.Of().Provider) })))
		_, err := brCollect(t, m)
		require.NoError(t, err)
		require.NotEmpty(t, providers)
		for _, p := range providers {
			assert.Equal(t, "House", p)
		}
	})
}

// TestBytesBehindACallAreBounded: a call that goes on for ever behind its own end is held, so it is bounded.
func TestBytesBehindACallAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := fm.Script{fm.Call(0, "c1", "f", "{}")}
		for range 64 {
			script = append(script, fm.Call(0, "", "", strings.Repeat("x", 1<<10)))
		}
		m := continuation.Wrap(fm.New(append(script, fm.Finish("tool_calls"))), continuation.WithMaxBufferedBytes(16<<10))
		_, err := brCollect(t, m)
		buffer := (*continuation.BufferError)(nil)
		require.ErrorAs(t, err, &buffer)
		assert.Equal(t, "f", buffer.Tool)
	})
}

// TestTrailingAnswerInParts: an input that ends in an assistant message of parts goes on where the provider will look.
func TestTrailingAnswerInParts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("brown fox"), fm.Reset()}, fm.Script{fm.Text(" jumps."), fm.Finish("stop")})
		parts := []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: "The quick "}}
		in := []*schema.Message{
			schema.UserMessage("hi"), {Role: schema.Assistant, Content: "The quick ", AssistantGenMultiContent: parts},
		}
		r, err := continuation.Wrap(inner).Stream(t.Context(), in)
		require.NoError(t, err)
		_, err = fm.Collect(r)
		require.NoError(t, err)
		sent := inner.Requests()[1].Messages
		require.Len(t, sent, 3)
		require.Len(t, sent[1].AssistantGenMultiContent, 2)
		assert.Equal(t, "brown fox", sent[1].AssistantGenMultiContent[1].Text)
		assert.Len(t, parts, 1, "the caller's own")
	})
}
