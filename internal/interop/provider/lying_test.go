package provider

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

const whole = "We leave at ten, not later."

// TestAWrongLength says in its headers that the body is longer than it is, or shorter.
func TestAWrongLength(t *testing.T) {
	for _, c := range clients.All() {
		for _, n := range []int{0, 1, 150, 300, 1 << 20} {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				_, s := breakOnce(t, c, rig.Wiring{}, faultllm.WrongLength(n))
				require.NoError(t, s.end)
				assert.Equal(t, whole, rig.Concat(t, s.chunks).Content)
			})
		}
	}
}

// TestAFinishReasonThatNobodyKnows ends the answer, and is passed on as it is. The client for Ark's responses puts the texts
// of errors there: to it such a reason is one.
func TestAFinishReasonThatNobodyKnows(t *testing.T) {
	for _, c := range clients.All() {
		if c.Vendor == faultllm.ArkResponses {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: faultllm.Script{{Answer: faultllm.Answer{
				Parts: []faultllm.Part{faultllm.Say(whole)}, Finish: "banana",
			}}}})
			chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
			require.NoError(t, err)
			got := rig.Concat(t, chunks)
			assert.Equal(t, whole, got.Content)
			assert.Equal(t, "banana", got.ResponseMeta.FinishReason)
			assert.Equal(t, 1, r.Server.Ledger().Requests)
			assert.Empty(t, r.Events())
		})
	}
}

// TestUsageThatShrinks has a last record that says less than the one before it, and less than nothing was used.
func TestUsageThatShrinks(t *testing.T) {
	for _, c := range clients.All() {
		for _, said := range [][2]int{{0, 0}, {1, 1}, {-5, -7}, {1 << 40, 1 << 40}} {
			t.Run(c.String(), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: brief(), Plan: faultllm.InOrder(
					faultllm.CleanEnd(faultllm.InText(2)), faultllm.FalseUsage(said[0], said[1]),
				)})
				chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
				require.NoError(t, err)
				got := rig.Concat(t, chunks)
				assert.Equal(t, whole, got.Content)
				if u := got.ResponseMeta.Usage; u != nil {
					assert.Equal(t, u.PromptTokens+u.CompletionTokens, u.TotalTokens)
					assert.GreaterOrEqual(t, u.PromptTokens, 0)
					assert.GreaterOrEqual(t, u.CompletionTokens, 0)
				}
			})
		}
	}
}

// TestCallsThatCannotBeToldApart have one index, or one id. Nothing is lost.
func TestCallsThatCannotBeToldApart(t *testing.T) {
	for _, c := range clients.All() {
		for name, second := range map[string]string{"one index": "call_b", "one id": "call_a"} {
			for where, f := range map[string]faultllm.Fault{
				"unbroken": faultllm.OneIndex(), "behind the first": faultllm.Reset(faultllm.AfterTool(0)),
				"in the second": faultllm.Reset(faultllm.InTool(1, 8)), "behind both": faultllm.Reset(faultllm.AfterTool(1)),
			} {
				switch {
				case name == "one index":
					f = faultllm.WithOneIndex(f)
				case where == "unbroken":
					f = faultllm.None() // with one index as well there is one call, whoever reads it
				}
				t.Run(c.String()+"/"+name+"/"+where, func(t *testing.T) {
					t.Parallel()
					r := newRig(t, c, rig.Wiring{}, faultllm.Config{Script: faultllm.Reply(
						faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call(second, "order", `{"cups":`, `2}`),
					), Plan: faultllm.InOrder(f)})
					chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
					require.NoError(t, err)
					got := rig.Concat(t, chunks)
					require.NotEmpty(t, got.ToolCalls)
					assert.Equal(t, "lookup", got.ToolCalls[0].Function.Name)
					assert.JSONEq(t, `{"port":"Oban"}`, got.ToolCalls[0].Function.Arguments)
					if where == "unbroken" || where == "behind both" {
						require.Len(t, got.ToolCalls, 2)
						assert.Equal(t, "order", got.ToolCalls[1].Function.Name)
						assert.JSONEq(t, `{"cups":2}`, got.ToolCalls[1].Function.Arguments)
					}
				})
			}
		}
	}
}

// TestAnErrorTextOfTenMegabytes is read, and not repeated to everybody.
func TestAnErrorTextOfTenMegabytes(t *testing.T) {
	huge := strings.Repeat("an error was encountered while running the model ", 10<<20/49)
	for _, c := range clients.All() {
		for name, f := range map[string]faultllm.Fault{
			"inside the stream": faultllm.InBandError(faultllm.InText(1), "", huge),
			"refused":           faultllm.Status(503, faultllm.RetryAfter{}, huge),
		} {
			t.Run(c.String()+"/"+name, func(t *testing.T) {
				r, s := breakOnce(t, c, rig.Wiring{}, f)
				require.NoError(t, s.end)
				assert.Equal(t, whole, rig.Concat(t, s.chunks).Content)
				for _, e := range rig.EventsOf[callbacks.Interrupted](r) {
					assert.Less(t, len(e.ErrorMessage), 2048)
				}
				for _, e := range rig.EventsOf[callbacks.OpenRetried](r) {
					assert.Less(t, len(e.ErrorMessage), 2048)
				}
			})
		}
	}
}

// TestARetryAfterThatNobodyCanMean is a year, which is above every cap, or no time at all, which is as good as none.
func TestARetryAfterThatNobodyCanMean(t *testing.T) {
	for _, c := range clients.All() {
		for text, ends := range map[string]bool{
			"31536000": true, "9999999999999999999999": true, "Fri, 31 Dec 2999 23:59:59 GMT": true,
			"-1": false, "soon": false, "": false, "Sat, 01 Jan 2000 00:00:00 GMT": false,
		} {
			t.Run(c.String()+"/"+text, func(t *testing.T) {
				t.Parallel()
				refuse := faultllm.Refuse(429, faultllm.RetryAfterText(text))
				began := time.Now()
				_, s := breakOnce(t, c, rig.Wiring{}, refuse)
				assert.Equal(t, ends, s.end != nil, "%v", s.end)
				_, s = breakOnce(t, c, rig.Wiring{}, faultllm.Reset(faultllm.InText(1)), refuse)
				assert.Less(t, time.Since(began), 10*time.Second)
				if !ends {
					require.NoError(t, s.end)

					return
				}
				var exhausted *continuation.ExhaustedError
				require.ErrorAs(t, s.end, &exhausted)
				assert.Equal(t, continuation.ReasonRetryAfter, exhausted.Reason)
				assert.Equal(t, "We leave ", exhausted.Partial.Content)
			})
		}
	}
}
