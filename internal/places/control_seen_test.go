//go:build !race

// Eino closes one copy of a stream while another goroutine reads from it when an agent with callback handlers is
// cancelled at once, which the race detector reports.

package places_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestCancelledAgentsRunsEnd: callback handlers see the end of every run of a model, an attempt or an event, also when the
// agent is cancelled in the middle.
func TestCancelledAgentsRunsEnd(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		inner, seen := fm.New(
			fm.Script{fm.Text("Let me "), fm.Reset()},
			fm.Script{fm.Text("look for it in the book"), fm.Stall()},
		), &tree{}
		cfg := &adk.ChatModelAgentConfig{}
		decorate(cfg, inner)
		option, cancel := adk.WithCancel()
		runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: true})
		events := runner.Query(t.Context(), "hi", option, adk.WithCallbacks(seen.handler()))
		done := make(chan []shown, 1)
		go func() { done <- read(t, events) }()
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		require.NoError(t, inner.Wait(ctx, func(all []fm.Request) bool { return len(all) == 2 && all[1].Sent == 1 }))
		cancel()
		<-done
		letGo(t, inner)
		require.Eventually(t, func() bool { return seen.ended("llm_stream_continuation_cancelled") }, patience, time.Millisecond)
		seen.ours(t)
		assert.Equal(t, 1, seen.chatModelRuns())
	})
}
