package places_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestControlReachesAgentsThatAreTools: an agent is cancelled while the answer of one that is its tool is being continued.
// Both end, and what is resumed has run everything once. Without WithRecursive Eino tells the inner agent nothing.
func TestControlReachesAgentsThatAreTools(t *testing.T) {
	t.Parallel()
	for place, put := range agentPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			s := &store{}
			runner := func(asker, expert *fm.Model) *adk.Runner {
				wait := continuation.WithBackoff(func(int) time.Duration { return 0 })
				inner := &adk.ChatModelAgentConfig{Name: "expert", Description: "knows"}
				put(t, inner, expert, wait)
				outer := &adk.ChatModelAgentConfig{Name: "asker", Description: "asks"}
				outer.ToolsConfig.Tools = append(outer.ToolsConfig.Tools, adk.NewAgentTool(t.Context(), newAgent(t, inner)))
				outer.ToolsConfig.EmitInternalEvents = true
				put(t, outer, asker, wait)

				return adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, outer), EnableStreaming: true, CheckPointStore: s})
			}
			asker := fm.New(fm.Script{fm.Text("I ask. "), fm.Call(0, "c1", "expert", `{"request":"what?"}`), fm.Finish("tool_calls")})
			expert := fm.New(fm.Script{fm.Text("Forty-"), fm.Reset()}, fm.Script{fm.Text("tw"), fm.Stall()})
			option, cancel := adk.WithCancel()
			events := runner(asker, expert).Query(t.Context(), "hi", option, adk.WithCheckPointID("1"))
			done := make(chan []shown, 1)
			go func() { done <- read(t, events) }()
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			require.NoError(t, expert.Wait(ctx, func(all []fm.Request) bool { return len(all) == 2 && all[1].Sent == 1 }))
			_, ok := cancel(adk.WithAgentCancelMode(adk.CancelImmediate), adk.WithRecursive())
			require.True(t, ok)
			var all []shown
			select {
			case all = <-done:
			case <-ctx.Done():
				require.Fail(t, "the run does not end")
			}
			var canceled *adk.CancelError
			require.ErrorAs(t, all[len(all)-1].err, &canceled)
			letGo(t, asker)
			letGo(t, expert)
			assertRequests(t, expert, 2)

			asker = fm.New(fm.Script{fm.Text("It is 42."), fm.Finish("stop")})
			expert = fm.New(fm.Script{fm.Text("Forty-two."), fm.Finish("stop")})
			resumed, err := runner(asker, expert).Resume(t.Context(), "1")
			require.NoError(t, err)
			texts := said(t, read(t, resumed))
			assert.Equal(t, []string{"expert assistant: Forty-two.", "asker tool: Forty-two.", "asker assistant: It is 42."}, texts)
			assertRequests(t, expert, 1)
			assertRequests(t, asker, 1)
		})
	}
}
