package provider

import (
	"encoding/json"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestRedactedThinking is thinking that the provider does not show, beside some that it does. The request of the turn behind
// it is, byte for byte, that of the unbroken answer, and its provider takes it.
func TestRedactedThinking(t *testing.T) {
	think, redact, look := faultllm.Think("Springs ", "run early."), faultllm.Redact("b64opaque"), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)
	for _, c := range clients.All() {
		for kind, parts := range map[string][]faultllm.Part{
			"text": {think, redact, faultllm.Say("We leave ", "at ten, ", "not later.")}, "redacted first": {redact, think, faultllm.Say("We leave ", "at ten.")},
			"call": {think, redact, look}, "text and call": {think, redact, faultllm.Say("Let me ", "look. "), look},
		} {
			t.Run(c.String()+"/"+kind, func(t *testing.T) {
				t.Parallel()
				answer := faultllm.Answer{Name: "first", Parts: parts}
				want := behind(t, c, answer, faultllm.None())
				for where, f := range map[string]faultllm.Fault{
					"in the thought": faultllm.Reset(faultllm.InReasoning(1)), "behind it": faultllm.Reset(faultllm.InReasoning(2)),
					"in the text": faultllm.Reset(faultllm.InText(1)), "behind the call": faultllm.Reset(faultllm.AfterTool(0)),
				} {
					if c.OwnIDs && len(answer.ToolCalls()) > 0 {
						continue // the ids of the calls are others each time
					}
					assert.JSONEq(t, want, behind(t, c, answer, f), where)
				}
			})
		}
	}
}

// behind breaks an answer, and returns what was asked in the turn behind it.
func behind(t *testing.T, c clients.Client, a faultllm.Answer, f faultllm.Fault) string {
	t.Helper()
	r := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{
		Script: faultllm.Script{{Says: "When", Answer: a}, {Says: "result", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("So be it.")}}}},
		Plan:   faultllm.ByAnswer(map[string][]faultllm.Fault{"first": {f}}),
	})
	chunks, err := rig.Stream(t.Context(), r.Wrap(), rig.Question())
	require.NoError(t, err)
	got := continuation.Repair(rig.Concat(t, chunks))
	assert.Equal(t, a.Text(), got.Content)
	assert.Equal(t, a.Reasoning(), got.ReasoningContent)
	_, err = rig.Stream(t.Context(), r.Bare, next(got))
	require.NoError(t, err)
	records := r.Server.Ledger().Records
	body := records[len(records)-1].Body
	if c.Vendor == faultllm.Anthropic {
		checkBlocks(t, a, body)
	}

	return string(body)
}

// checkBlocks holds that the thought that was shown goes back with its own signature, once and first, and what was not
// shown does not: the client drops it. A block of anything else the provider would refuse.
func checkBlocks(t *testing.T, a faultllm.Answer, body []byte) {
	t.Helper()
	var request struct {
		Messages []struct {
			Role    string `json:"role"`
			Content []struct {
				Type      string `json:"type"`
				Thinking  string `json:"thinking"`
				Signature string `json:"signature"`
			} `json:"content"`
		} `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(body, &request))
	require.Len(t, request.Messages, 3)
	said := request.Messages[1]
	assert.Equal(t, string(schema.Assistant), said.Role)
	require.NotEmpty(t, said.Content)
	assert.Equal(t, "thinking", said.Content[0].Type)
	assert.Equal(t, a.Reasoning(), said.Content[0].Thinking)
	assert.Equal(t, faultllm.Sign(a.Reasoning()), said.Content[0].Signature)
	for _, b := range said.Content[1:] {
		assert.NotContains(t, []string{"thinking", "redacted_thinking"}, b.Type)
	}
}
