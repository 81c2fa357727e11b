package snapshot

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// richChunk brings something of everything, in memory of its own.
func richChunk() *schema.Message {
	d := delta(0, "c1", "find", `{"q":1}`)
	d.Type = "function"
	d.Extra = map[string]any{
		"signature": []byte("sig"),
		"nested":    map[string]any{"bytes": []byte("deep"), "list": []any{[]byte("in"), "x"}},
		"names":     []string{"a", "b"},
	}

	return &schema.Message{
		Role:             schema.Assistant,
		Content:          "Hello",
		ReasoningContent: "hm",
		ToolCalls:        calls(d),
		Extra: map[string]any{
			"signature": []byte("sig"),
			"nested":    map[string]any{"bytes": []byte("deep")},
			"names":     []string{"a", "b"},
			"list":      []any{[]byte("in")},
		},
		ResponseMeta: &schema.ResponseMeta{
			FinishReason: "tool_calls",
			Usage:        &schema.TokenUsage{PromptTokens: 1, CompletionTokens: 2, TotalTokens: 3},
		},
	}
}

func richAccumulator(tb testing.TB, m *schema.Message) *Accumulator {
	tb.Helper()

	a := &Accumulator{ReasoningKeys: []string{"signature", "nested", "names", "list"}}
	mustAdd(tb, a, m)

	return a
}

// spoil overwrites everything that m can share with somebody else.
func spoil(m *schema.Message) {
	m.Content, m.ReasoningContent = "spoilt", "spoilt"
	for i := range m.ToolCalls {
		t := &m.ToolCalls[i]
		*t.Index = 99
		t.ID, t.Type, t.Function = "spoilt", "spoilt", schema.FunctionCall{Name: "spoilt", Arguments: "spoilt"}
		spoilMap(t.Extra)
	}
	spoilMap(m.Extra)
	if m.ResponseMeta != nil {
		m.ResponseMeta.FinishReason = "spoilt"
		*m.ResponseMeta.Usage = schema.TokenUsage{PromptTokens: 99}
	}
}

func spoilMap(m map[string]any) {
	for _, v := range m {
		spoilValue(v)
	}
	clear(m)
	m["spoilt"] = true
}

func spoilValue(v any) {
	switch v := v.(type) {
	case []byte:
		copy(v, "?????")
	case []string:
		v[0] = "spoilt"
	case []any:
		for _, x := range v {
			spoilValue(x)
		}
		v[0] = "spoilt"
	case map[string]any:
		spoilMap(v)
	}
}

func TestAccumulatorKeepsNothingOfAChunk(t *testing.T) {
	t.Parallel()

	first, second := richChunk(), richChunk()
	a := richAccumulator(t, first)
	mustAdd(t, a, second)
	spoil(first)
	spoil(second)

	untouched := richAccumulator(t, richChunk())
	mustAdd(t, untouched, richChunk())
	want := untouched.Snapshot()
	require.Len(t, want.ReasoningExtra, 4)
	require.Len(t, want.ToolCalls[0].Extra, 3)
	assert.Equal(t, want, a.Snapshot())
}

func TestAccumulatorChangesNothingOfAChunk(t *testing.T) {
	t.Parallel()

	m := richChunk()
	a := richAccumulator(t, m)
	mustAdd(t, a, richChunk(), schema.AssistantMessage("more", calls(delta(0, "", "", " "))))
	a.Interrupt()
	mustAdd(t, a, richChunk())
	assert.Equal(t, richChunk(), m)
}

func TestSnapshotSharesNothingWithTheAccumulator(t *testing.T) {
	t.Parallel()

	a := richAccumulator(t, richChunk())
	want := richAccumulator(t, richChunk()).Snapshot()

	spoilt := a.Snapshot()
	spoilMap(spoilt.ReasoningExtra)
	spoilMap(spoilt.ToolCalls[0].Extra)
	spoilt.ToolCalls[0] = ToolCall{}
	spoilMap(a.Call(0, true).Extra)
	spoilMap(a.Call(0, true).Schema().Extra)
	assert.Equal(t, want, a.Snapshot(), "the accumulator is as before")

	other := a.Snapshot()
	mustAdd(t, a, richChunk(), schema.AssistantMessage("more", calls(delta(0, "", "", "more"), delta(1, "c2", "read", ""))))
	assert.Equal(t, want, other, "what comes later does not reach it")
	a.Interrupt()
	mustAdd(t, a, richChunk())
	assert.Equal(t, want, other, "nor does a new attempt")
}

// TestAHalfThoughtThatWasHandedOutStays: it is what a break cuts off and other things then take the place of.
func TestAHalfThoughtThatWasHandedOutStays(t *testing.T) {
	t.Parallel()

	a := &Accumulator{ReasoningKeys: []string{"thinking"}}
	mustAdd(t, a, thought("half a thought", map[string]any{"thinking": "half a thought"}))
	s := a.Snapshot()
	a.Interrupt()
	mustAdd(t, a, thought("and another", map[string]any{"thinking": "and another"}))
	assert.Equal(t, "half a thought", s.Reasoning)
	assert.Equal(t, map[string]any{"thinking": "half a thought"}, s.ReasoningExtra)
	assert.Equal(t, "and another", a.Snapshot().Reasoning)
}

// TestASnapshotIsReadBesideTheStream: a store writes it in a goroutine of its own, which the race detector watches.
func TestASnapshotIsReadBesideTheStream(t *testing.T) {
	t.Parallel()

	chunks := longAnswer(2_000)
	a := &Accumulator{ReasoningKeys: []string{"thinking"}}
	var readers sync.WaitGroup
	for i, m := range chunks {
		mustAdd(t, a, m)
		if i%100 != 0 {
			continue
		}
		s, want := a.Snapshot(), addAll(t, chunks[:i+1]).Snapshot()
		readers.Go(func() { assert.Equal(t, want, s) })
	}
	readers.Wait()
}

// TestWhatWasHandedOutStays: a snapshot shares memory with what goes on growing, and is never changed by it, also where
// something is cut off and other things come in its place.
func TestWhatWasHandedOutStays(t *testing.T) {
	t.Parallel()
	a := &Accumulator{ReasoningKeys: []string{"thinking"}}
	type handedOut struct {
		is   Snapshot
		text string // what it was, in memory of its own
	}
	var all []handedOut
	for round := range 40 {
		piece := string(rune('a' + round%26))
		mustAdd(t, a,
			thought(piece, map[string]any{"thinking": piece}), schema.AssistantMessage(piece+"\xf0\x9f", nil), thought("half", map[string]any{"thinking": "half"}),
			schema.AssistantMessage("", calls(delta(0, "c", "f", `{"a":"`+piece))),
		)
		for _, s := range []Snapshot{a.Snapshot(), a.Kept()} {
			all = append(all, handedOut{s, fmt.Sprintf("%+v", s)})
		}
		switch round % 5 {
		case 3:
			a.Interrupt()
		case 4:
			a.Restart()
		}
	}
	for i, h := range all {
		assert.Equal(t, h.text, fmt.Sprintf("%+v", h.is), "snapshot %d", i)
	}
}
