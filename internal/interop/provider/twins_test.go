package provider

import (
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestTwoCallsOfOneKindStayTwo makes two calls with one name and the same arguments, which some clients decode and write
// anew with the keys in another order. Neither is taken for the other, and none comes twice: broken, and taken over by
// another process.
func TestTwoCallsOfOneKindStayTwo(t *testing.T) {
	args := []string{`{"port":"Oban",`, `"day":3,`, `"tide":"high",`, `"boats":[1,2]}`}
	script := faultllm.Reply(faultllm.Call("call_a", "lookup", args...), faultllm.Call("call_b", "lookup", args...))
	for _, c := range clients.All() {
		for where, at := range map[string]struct {
			position faultllm.Position
			whole    int
		}{
			"between them": {faultllm.AfterTool(0), 1}, "in the second": {faultllm.InTool(1, 20), 1}, "behind both": {faultllm.AfterTool(1), 2},
		} {
			t.Run(c.String()+"/"+where, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: script, Plan: faultllm.InOrder(faultllm.Reset(at.position))})
				chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
				require.NoError(t, err)
				checkTwins(t, rig.Concat(t, chunks).ToolCalls, at.whole)

				store := memstore.New()
				die(t, c, announced{store, make(chan checkpointstore.Checkpoint, 100)}, script, at.position, func(cp checkpointstore.Checkpoint) bool {
					return len(cp.ToolCalls) == at.whole
				})
				next := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{Script: script})
				m := next.Wrap(continuation.WithCheckpoints(store, continuation.StartTimeout(10*time.Second)))
				chunks, err = rig.Stream(continuation.ContextWithRunID(t.Context(), "run"), m, rig.Question(), takeoverTools())
				require.NoError(t, err)
				checkTwins(t, rig.Concat(t, chunks).ToolCalls, at.whole)
				assert.Zero(t, next.Server.Ledger().Requests, "whole calls need no model")
			})
		}
	}
}

func checkTwins(t *testing.T, calls []schema.ToolCall, n int) {
	t.Helper()
	require.Len(t, calls, n)
	for _, call := range calls {
		assert.Equal(t, "lookup", call.Function.Name)
		assert.JSONEq(t, `{"port":"Oban","day":3,"tide":"high","boats":[1,2]}`, call.Function.Arguments)
	}
}
