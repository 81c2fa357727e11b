package snapshot

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script writes a well-formed answer as a client could stream it.
type script struct{ *rand.Rand }

// cut cuts s into up to five pieces, at any byte.
func (r script) cut(s string) []string {
	var pieces []string
	for range r.IntN(5) {
		n := r.IntN(len(s) + 1)
		pieces, s = append(pieces, s[:n]), s[n:]
	}

	return append(pieces, s)
}

func (r script) arguments() string {
	all := []string{
		"{}", `{"q":"a b"}`, `{"a":[1,2.5e-3,{"b":null}],"c":"\u00e9\"}{"}`, ` {"path": "日本語"} `, "",
		fmt.Sprintf(`{"text":%q}`, strings.Repeat("long ", r.IntN(20))),
	}

	return all[r.IntN(len(all))]
}

// deltas returns those of one call, whose index rises from call to call.
func (r script) deltas(n, index int) []schema.ToolCall {
	first := delta(index, fmt.Sprint("call-", n), fmt.Sprint("tool_", r.IntN(3)), "")
	first.Type = "function"
	if r.IntN(3) == 0 {
		first.Extra = map[string]any{"signature": []byte{byte(n), 0xff}}
	}
	all := calls(first)
	for _, piece := range r.cut(r.arguments()) {
		d := delta(index, "", "", piece)
		if r.IntN(4) == 0 { // some repeat what they said
			d.ID, d.Type, d.Function.Name = first.ID, first.Type, first.Function.Name
		}
		if r.IntN(4) == 0 {
			d.Extra = map[string]any{"ignored": true}
		}
		all = append(all, d)
	}

	return all
}

// calls returns the deltas of several calls, each in its order, one after the other or interleaved.
func (r script) calls() []schema.ToolCall {
	var all []schema.ToolCall
	index := r.IntN(2)
	for n := range r.IntN(4) {
		deltas := r.deltas(n, index)
		index += 1 + r.IntN(2)
		if len(all) == 0 || r.IntN(2) == 0 {
			all = append(all, deltas...)

			continue
		}
		all = append(all, deltas[0]) // calls begin in order; their pieces mix
		all = append(all, deltas[1:]...)
		r.mix(all)
	}

	return all
}

// mix swaps neighbours that belong to different calls and begin none.
func (r script) mix(all []schema.ToolCall) {
	for range 3 * len(all) {
		i := r.IntN(len(all) - 1)
		a, b := all[i], all[i+1]
		if *a.Index != *b.Index && a.ID == "" && b.ID == "" {
			all[i], all[i+1] = b, a
		}
	}
}

func (r script) chunks() []*schema.Message {
	var chunks []*schema.Message
	for _, piece := range r.cut("Let me think — 日本語.") {
		chunks = append(chunks, &schema.Message{Role: schema.Assistant, ReasoningContent: piece})
	}
	for _, piece := range r.cut("Hello 😀, I will look.") {
		chunks = append(chunks, schema.AssistantMessage(piece, nil))
	}
	for all := r.calls(); len(all) > 0; {
		n := 1 + r.IntN(min(3, len(all)))
		chunks = append(chunks, schema.AssistantMessage("", all[:n]))
		all = all[n:]
	}
	last := &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}
	for n := range r.IntN(3) {
		last.ResponseMeta.Usage = &schema.TokenUsage{PromptTokens: 7, CompletionTokens: n, TotalTokens: 7 + n}
		chunks = append(chunks, last)
	}

	return append(chunks, last)
}

// TestAssembledMessageEqualsEinosConcat holds that for answers that Eino can join at all, the Accumulator makes of them
// what Eino makes.
func TestAssembledMessageEqualsEinosConcat(t *testing.T) {
	t.Parallel()

	seen := map[int]int{}
	for seed := range uint64(2000) {
		chunks := script{rand.New(rand.NewPCG(seed, 1))}.chunks()
		want, err := schema.ConcatMessages(chunks)
		require.NoError(t, err, "seed %d", seed)

		var a Accumulator
		mustAdd(t, &a, chunks...)
		s := a.Snapshot()
		var got []schema.ToolCall
		for _, c := range s.ToolCalls {
			assert.Equal(t, CallWhole, c.State, "seed %d", seed)
			got = append(got, c.Schema())
		}
		seen[len(got)]++
		require.Equal(t, want.ToolCalls, got, "seed %d", seed)
		require.Equal(t, want.Content, s.Text, "seed %d", seed)
		require.Equal(t, want.ReasoningContent, s.Reasoning, "seed %d", seed)
		require.Equal(t, want.ResponseMeta.FinishReason, s.FinishReason, "seed %d", seed)
		require.Equal(t, want.ResponseMeta.Usage, s.Usage.TokenUsage(), "seed %d", seed)
	}
	assert.Len(t, seen, 4, "answers with no, one, two and three calls were looked at")
}

// Clients without indices send each call in one piece; Eino keeps them apart and in order.
func TestWholeCallsWithoutIndexEqualEinosConcat(t *testing.T) {
	t.Parallel()

	for seed := range uint64(200) {
		r := script{rand.New(rand.NewPCG(seed, 2))}
		var chunks []*schema.Message
		for n := range 1 + r.IntN(4) {
			d := delta(nilIndex, "", "find", `{"q":1}`)
			if r.IntN(2) == 0 {
				d.ID = fmt.Sprint("call-", n)
			}
			d.Extra = map[string]any{"n": n}
			if m := len(chunks); m > 0 && r.IntN(2) == 0 {
				chunks[m-1].ToolCalls = append(chunks[m-1].ToolCalls, d)
			} else {
				chunks = append(chunks, schema.AssistantMessage("", calls(d)))
			}
		}
		want, err := schema.ConcatMessages(chunks)
		require.NoError(t, err)

		var a Accumulator
		mustAdd(t, &a, chunks...)
		got := a.Snapshot().ToolCalls
		require.Len(t, got, len(want.ToolCalls), "seed %d", seed)
		for n, c := range got {
			call := c.Schema()
			assert.Equal(t, n, *call.Index, "seed %d", seed)
			call.Index = nil
			assert.Equal(t, want.ToolCalls[n], call, "seed %d", seed)
		}
	}
}
