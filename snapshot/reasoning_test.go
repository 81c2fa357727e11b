package snapshot

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
)

func thought(text string, extra map[string]any) *schema.Message {
	return &schema.Message{Role: schema.Assistant, ReasoningContent: text, Extra: extra}
}

func TestReasoningIsWholeWhenSomethingFollows(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name  string
		after *schema.Message
		want  bool
	}{
		{"nothing", &schema.Message{}, false},
		{"more reasoning", thought("!", nil), false},
		{"finish reason", finish("stop"), false},
		{"usage", used(&schema.TokenUsage{TotalTokens: 1}), false},
		{"text", schema.AssistantMessage("x", nil), true},
		{"text part", parts(textPart("x")), true},
		{"tool call", schema.AssistantMessage("", calls(delta(0, "c1", "find", ""))), true},
	}
	for _, tt := range tests {
		var a Accumulator
		mustAdd(t, &a, thought("hm", nil), tt.after)
		assert.Equal(t, tt.want, a.ReasoningDone(), tt.name)
		assert.Equal(t, tt.want, a.Snapshot().ReasoningWhole, tt.name)
		assert.False(t, a.ReasoningKept(), tt.name)
	}

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("text only", nil))
	assert.False(t, a.ReasoningDone(), "there was none")
}

func TestHalfReasoningGoesWithItsAttempt(t *testing.T) {
	t.Parallel()

	a := Accumulator{ReasoningKeys: []string{"thinking"}}
	mustAdd(t, &a, thought("half a th", map[string]any{"thinking": "half a th"}))
	a.Interrupt()
	assert.Equal(t, Snapshot{}, a.Snapshot())
	assert.False(t, a.ReasoningKept())

	mustAdd(t, &a, thought("anew", map[string]any{"thinking": "anew"}), schema.AssistantMessage("x", nil))
	s := a.Snapshot()
	assert.Equal(t, "anew", s.Reasoning)
	assert.True(t, s.ReasoningWhole)
	assert.Equal(t, map[string]any{"thinking": "anew"}, s.ReasoningExtra)
}

func TestWholeReasoningIsKeptAndLaterReasoningIgnored(t *testing.T) {
	t.Parallel()

	a := Accumulator{ReasoningKeys: []string{"thinking", "signature"}}
	mustAdd(t, &a,
		thought("first", map[string]any{"thinking": "first"}),
		&schema.Message{Content: "Hel", Extra: map[string]any{"signature": "s1"}},
	)
	for range 3 {
		a.Interrupt()
		assert.True(t, a.ReasoningKept())
		mustAdd(t, &a,
			thought("later", map[string]any{"thinking": "later"}),
			&schema.Message{Content: "lo", Extra: map[string]any{"signature": "s2"}},
		)
	}
	s := a.Snapshot()
	assert.Equal(t, "Hellololo", s.Text)
	assert.Equal(t, "first", s.Reasoning)
	assert.True(t, s.ReasoningWhole)
	assert.Equal(t, map[string]any{"thinking": "first", "signature": "s1"}, s.ReasoningExtra)
}

func TestReasoningOfTheAttemptThatCompletedItFirst(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("Hel", nil))
	a.Interrupt()
	assert.False(t, a.ReasoningKept(), "the first attempt did not reason")
	mustAdd(t, &a, thought("second", nil), schema.AssistantMessage("lo", nil))
	a.Interrupt()
	mustAdd(t, &a, thought("third", nil), schema.AssistantMessage("!", nil))
	assert.Equal(t, "second", a.Snapshot().Reasoning)
	assert.Equal(t, "Hello!", a.Snapshot().Text)
}

type detail struct{ text string }

func TestReasoningExtras(t *testing.T) {
	t.Parallel()

	one, two := &detail{"one"}, &detail{"two"}
	tests := []struct {
		name   string
		values []any
		want   any
	}{
		{"a string", []any{"one"}, "one"},
		{"strings add up", []any{"on", "", "e"}, "one"},
		{"an empty string", []any{""}, ""},
		{"of bytes the last count", []any{[]byte("one"), []byte{0xff, 0}}, []byte{0xff, 0}},
		{"a string and bytes", []any{"one", []byte("two")}, []byte("two")},
		{"lists add up", []any{[]*detail{one}, []*detail{two}, []*detail{}}, []*detail{one, two}},
		{"of two kinds of list the last counts", []any{[]string{"a"}, []int{1}}, []int{1}},
		{"of numbers the last counts", []any{1, 2}, 2},
		{"a map", []any{map[string]any{"a": []byte{1}}}, map[string]any{"a": []byte{1}}},
		{"nil", []any{nil}, ""},
		{"nil list", []any{[]string(nil)}, []string(nil)},
	}
	for _, tt := range tests {
		a := Accumulator{ReasoningKeys: []string{"other", "key"}}
		for _, v := range tt.values {
			mustAdd(t, &a, thought("x", map[string]any{"key": v, "request-id": "r"}))
		}
		assert.Equal(t, map[string]any{"key": tt.want}, a.Snapshot().ReasoningExtra, tt.name)
	}
}

func TestExtrasThatAreNotReasoningAreNotKept(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, thought("x", map[string]any{"key": "v"}))
	assert.Nil(t, a.Snapshot().ReasoningExtra)
}

// TestHalfASecondThoughtGoes: a model that thinks again behind its text and breaks off leaves only the whole thought.
func TestHalfASecondThoughtGoes(t *testing.T) {
	t.Parallel()

	const key = "thinking"
	think := func(s string) *schema.Message {
		return &schema.Message{ReasoningContent: s, Extra: map[string]any{key: s}}
	}
	a := Accumulator{ReasoningKeys: []string{key}}
	mustAdd(t, &a, think("whole."), schema.AssistantMessage("Text", nil), think("ha"))
	assert.Equal(t, "whole.ha", a.Snapshot().Reasoning, "all of it while the attempt runs")
	a.Interrupt()
	assert.Equal(t, "whole.", a.Snapshot().Reasoning)
	assert.Equal(t, map[string]any{key: "whole."}, a.Snapshot().ReasoningExtra)
	assert.True(t, a.ReasoningKept())

	mustAdd(t, &a, think("of the next attempt"), schema.AssistantMessage(" and more", nil))
	assert.Equal(t, "whole.", a.Snapshot().Reasoning, "later thoughts are not of this message")
}
