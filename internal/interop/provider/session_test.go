package provider

import (
	"slices"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestAContinuationGoesOnFromNoBrokenResponse breaks answers of a client that lets the provider store its responses and goes
// on from those by their names. A response that broke is not stored, so that the provider refuses a request that names it;
// what the continuation names is the response of the turn before. The turn behind it names the one that came to its end, and
// behind a broken one sends the history.
func TestAContinuationGoesOnFromNoBrokenResponse(t *testing.T) {
	c, _ := clients.Of(faultllm.ArkResponses)
	look := faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)
	for name, answer := range map[string]faultllm.Answer{
		"text": {Name: "second", Parts: []faultllm.Part{faultllm.Think("Springs ", "run early."), faultllm.Say("We leave ", "at ten, ", "not later.")}},
		"call": {Name: "second", Parts: []faultllm.Part{faultllm.Think("Springs ", "run early."), faultllm.Say("Let me ", "look. "), look}},
	} {
		for where, f := range map[string]faultllm.Fault{
			"nowhere": faultllm.None(), "before content": faultllm.Reset(faultllm.AtStart()), "in the thought": faultllm.Reset(faultllm.InReasoning(1)),
			"in the text": faultllm.Reset(faultllm.InText(1)), "in the call": faultllm.Reset(faultllm.InTool(0, 8)),
			"behind the call": faultllm.Reset(faultllm.AfterTool(0)), "at the finish": faultllm.Reset(faultllm.Finished()),
		} {
			t.Run(name+"/"+where, func(t *testing.T) {
				t.Parallel()
				session(t, c, answer, f)
			})
		}
	}
}

func session(t *testing.T, c clients.Client, answer faultllm.Answer, f faultllm.Fault) {
	t.Helper()
	r := newRig(t, c, rig.Wiring{Cache: true}, faultllm.Config{
		Script: faultllm.Script{
			{Says: "When", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("Today.")}}},
			{Says: "At what", Answer: answer},
			{Says: "result", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("So be it.")}}},
		},
		Plan: faultllm.ByAnswer(map[string][]faultllm.Fault{"second": {f}}),
	})
	m := r.Wrap()
	chunks, err := rig.Stream(t.Context(), m, rig.Question())
	require.NoError(t, err)
	in := append(rig.Question(), rig.Concat(t, chunks), schema.UserMessage("At what time?"))
	chunks, err = rig.Stream(t.Context(), m, in)
	require.NoError(t, err)
	second := rig.Concat(t, chunks)
	assert.Equal(t, answer.Text(), second.Content)
	for _, rec := range r.Server.Ledger().Records[1:] {
		assert.Equal(t, "resp_test000000", rec.Request.Previous, "%s", rec.Body)
		assert.Equal(t, 200, rec.Status, "%s", rec.Body)
		assert.Equal(t, []string{"system", "user", "assistant", "user"}, roles(rec.Request.Messages)[:4])
	}
	for way, said := range map[string]*schema.Message{"as it is": second, "stored and repaired": continuation.Repair(stored(t, second))} {
		before := r.Server.Ledger().Requests
		_, err = rig.Stream(t.Context(), m, slices.Concat(in, next(said)[2:]))
		require.NoError(t, err, way)
		after := r.Server.Ledger().Records[before:]
		require.Len(t, after, 1, way)
		assert.Equal(t, []string{"system", "user", "assistant", "user", "assistant"}, roles(after[0].Request.Messages)[:5], way)
		assert.Equal(t, answer.Text(), after[0].Request.Messages[4].Text, "%s: %s", way, after[0].Body)
	}
}
