package provider

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestCallsOfOneIndexAreToldApart breaks answers whose provider gives all calls the index 0, on the wires on which calls have
// one and come in pieces: what is whole is run, what is not is dropped, and no piece of one is in the other.
func TestCallsOfOneIndexAreToldApart(t *testing.T) {
	first, second := faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call("call_b", "order", `{"cups":`, `2}`)
	for _, c := range clients.All() {
		switch c.Vendor {
		case faultllm.OpenAI, faultllm.DeepSeek, faultllm.Qwen, faultllm.OpenRouter, faultllm.Ark:
		default: // calls have no index there, or one of their own
			continue
		}
		for name, b := range map[string]struct {
			parts   []faultllm.Part
			at      faultllm.Position
			calls   []string
			dropped []string
			asked   int
		}{
			"behind both": {
				[]faultllm.Part{first, second}, faultllm.AfterTool(1), []string{`lookup {"port":"Oban"}`, `order {"cups":2}`}, nil, 1,
			},
			"behind the first": {
				[]faultllm.Part{first, second}, faultllm.AfterTool(0), []string{`lookup {"port":"Oban"}`}, nil, 1,
			},
			"in the second, at its name": {
				[]faultllm.Part{first, second}, faultllm.InTool(1, 0), []string{`lookup {"port":"Oban"}`}, []string{"order"}, 1,
			},
			"in the second, between its pieces": {
				[]faultllm.Part{first, second}, faultllm.InTool(1, 8), []string{`lookup {"port":"Oban"}`}, []string{"order"}, 1,
			},
			"in the second, in a piece": {
				[]faultllm.Part{first, second}, faultllm.InTool(1, 4), []string{`lookup {"port":"Oban"}`}, []string{"order"}, 1,
			},
			"behind the second, the first is open": {
				[]faultllm.Part{faultllm.Call("call_a", "lookup", `{"port":`), second},
				faultllm.AfterTool(1),
				[]string{`order {"cups":2}`},
				[]string{"lookup"},
				1,
			},
			"in the first, behind text": {
				[]faultllm.Part{faultllm.Say("Let me see. "), first, second},
				faultllm.InTool(0, 8),
				[]string{`lookup {"port":"Oban"}`, `order {"cups":2}`},
				[]string{"lookup"},
				2,
			},
			"in the first, and the same ids again": {
				[]faultllm.Part{first, second},
				faultllm.InTool(0, 8),
				[]string{`lookup {"port":"Oban"}`, `order {"cups":2}`},
				[]string{"lookup"},
				2,
			},
		} {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, c, rig.Wiring{}, faultllm.Config{
					Script: faultllm.Reply(b.parts...), Plan: faultllm.InOrder(faultllm.WithOneIndex(faultllm.Reset(b.at))),
				})
				chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
				require.NoError(t, err)
				got := rig.Concat(t, chunks)
				var calls, dropped []string
				seen := map[int]bool{}
				for _, call := range got.ToolCalls {
					calls = append(calls, call.Function.Name+" "+call.Function.Arguments)
					require.NotNil(t, call.Index)
					assert.False(t, seen[*call.Index], "two calls of one index")
					seen[*call.Index] = true
				}
				assert.Equal(t, b.calls, calls)
				for _, e := range rig.EventsOf[callbacks.ToolCallCancel](r) {
					dropped = append(dropped, e.ToolName)
				}
				assert.Equal(t, b.dropped, dropped)
				records := r.Server.Ledger().Records
				assert.Len(t, records, b.asked)
				assert.True(t, records[0].FaultHit)
			})
		}
	}
}

// TestOneIndexIsOnTheWire looks at what a bare client makes of it, so that the rows above are what they say.
func TestOneIndexIsOnTheWire(t *testing.T) {
	c, _ := clients.Of(faultllm.OpenAI)
	r := newRig(t, c, rig.Wiring{}, faultllm.Config{
		Script: faultllm.Reply(faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call("call_b", "order", `{"cups":`, `2}`)),
		Plan:   faultllm.InOrder(faultllm.WithOneIndex(faultllm.CleanEnd(faultllm.InTool(1, 8)))),
	})
	chunks, err := rig.Stream(t.Context(), r.Bare, rig.Question())
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, m := range chunks {
		for _, call := range m.ToolCalls {
			require.NotNil(t, call.Index)
			assert.Zero(t, *call.Index)
			ids[call.ID] = true
		}
	}
	assert.True(t, ids["call_a"] && ids["call_b"], "%v", ids)
}
