package provider

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// thinking are answers that think before they call tools, which some providers want back in the next request.
func thinking() map[string]faultllm.Answer {
	think := faultllm.Think("I need ", "the tide table, ", "and tea.")
	lookup := faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)
	order := faultllm.Call("call_b", "order", `{"tea":`, `{"cups":2}`, `}`)

	return map[string]faultllm.Answer{
		"a call":            {Parts: []faultllm.Part{think, lookup}},
		"two calls":         {Parts: []faultllm.Part{think, lookup, order}},
		"text and calls":    {Parts: []faultllm.Part{think, faultllm.Say("Let me ", "look. "), lookup, order}},
		"only text":         {Parts: []faultllm.Part{think, faultllm.Say("We leave ", "at ten.")}},
		"calls, no thought": {Parts: []faultllm.Part{faultllm.Say("Let me ", "look. "), lookup, order}},
	}
}

// breaks are the faults of the first turn, request by request.
func breaks() map[string][]faultllm.Fault {
	r := faultllm.Reset

	return map[string][]faultllm.Fault{
		"none":                    {},
		"in the thought":          {r(faultllm.InReasoning(1))},
		"in the thought, twice":   {r(faultllm.InReasoning(1)), faultllm.CutLine(faultllm.InReasoning(2))},
		"behind the thought":      {r(faultllm.InReasoning(3))},
		"in the text":             {r(faultllm.InText(1))},
		"in the thought and text": {r(faultllm.InReasoning(2)), r(faultllm.InText(1))},
		"in the call":             {r(faultllm.InTool(0, 8))},
		"thrice":                  {r(faultllm.InReasoning(1)), r(faultllm.InText(1)), r(faultllm.InTool(0, 8))},
		"behind the call":         {r(faultllm.AfterTool(0))},
		"in the second call":      {r(faultllm.InTool(1, 7))},
		"behind both calls":       {r(faultllm.AfterTool(1))},
		"at the finish":           {r(faultllm.Finished())},
	}
}

// TestTheFollowingTurnIsValid breaks an answer, sends it back with the results of its calls, and reads what the provider
// got: the thought of one attempt, whole, with the signature that belongs to it. The provider refuses any other.
func TestTheFollowingTurnIsValid(t *testing.T) {
	for _, c := range clients.All() {
		for kind, a := range thinking() {
			for where, faults := range breaks() {
				for _, rethink := range []bool{false, true} {
					t.Run(fmt.Sprintf("%v/%s/%s/thinks again: %t", c, kind, where, rethink), func(t *testing.T) {
						t.Parallel()
						follow(t, c, a, faults, rethink)
					})
				}
			}
		}
	}
}

func follow(t *testing.T, c clients.Client, a faultllm.Answer, faults []faultllm.Fault, rethink bool) {
	t.Helper()
	a.Name = "first"
	r := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{
		Script:  faultllm.Script{{Says: "When", Answer: a}, {Says: "result", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("So be it.")}}}},
		Plan:    faultllm.ByAnswer(map[string][]faultllm.Fault{"first": faults}),
		Rethink: rethink,
	})
	m := r.Wrap()
	chunks, err := rig.Stream(t.Context(), m, rig.Question())
	require.NoError(t, err)
	first := rig.Concat(t, chunks)
	for _, way := range []struct {
		name   string
		answer *schema.Message
		model  model.BaseChatModel
	}{
		{"as it is", first, m},
		{"stored", stored(t, first), m},
		{"repaired, to the bare client", continuation.Repair(first), r.Bare},
		{"stored and repaired, to the bare client", continuation.Repair(stored(t, first)), r.Bare},
	} {
		before := r.Server.Ledger().Requests
		_, err = rig.Stream(t.Context(), way.model, next(way.answer))
		require.NoError(t, err, way.name)
		records := r.Server.Ledger().Records[before:]
		assert.Len(t, records, 1, way.name)
		checkThought(t, c, a, records[0], way.name)
	}
}

// next is the conversation after an answer: the results of its calls, or another question.
func next(answer *schema.Message) []*schema.Message {
	in := append(rig.Question(), answer)
	for i, call := range answer.ToolCalls {
		in = append(in, schema.ToolMessage(fmt.Sprintf("result %d", i), call.ID, schema.WithToolName(call.Function.Name)))
	}
	if len(answer.ToolCalls) == 0 {
		in = append(in, schema.UserMessage("result?"))
	}

	return in
}

// stored sends a message through JSON, as callers do who keep their conversations.
func stored(t *testing.T, m *schema.Message) *schema.Message {
	t.Helper()
	doc, err := json.Marshal(m)
	require.NoError(t, err)
	var out schema.Message
	require.NoError(t, json.Unmarshal(doc, &out))

	return &out
}

// checkThought reads the assistant message of the request that followed.
func checkThought(t *testing.T, c clients.Client, a faultllm.Answer, rec faultllm.Record, name string) {
	t.Helper()
	var got *faultllm.Message
	for _, m := range rec.Request.Messages {
		if m.Role == "assistant" {
			got = &m
		}
	}
	require.NotNil(t, got, "the answer is not in the next request: %s", rec.Body)
	assert.Equal(t, a.Text(), got.Text, name)
	switch c.Vendor {
	case faultllm.Anthropic:
		want := ""
		if a.Reasoning() != "" {
			want = faultllm.Sign(a.Reasoning())
		}
		assert.Equal(t, a.Reasoning(), got.Reasoning, name)
		assert.Equal(t, want, got.Signature, name)
	case faultllm.Gemini: // it signs calls, which the provider has compared
	default:
		assert.Equal(t, a.Reasoning(), got.Reasoning, name)
	}
}
