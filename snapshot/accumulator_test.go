package snapshot

import (
	"errors"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
)

func textPart(text string) schema.MessageOutputPart {
	return schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: text}
}

func thoughtPart(text, signature string) schema.MessageOutputPart {
	return schema.MessageOutputPart{
		Type:      schema.ChatMessagePartTypeReasoning,
		Reasoning: &schema.MessageOutputReasoning{Text: text, Signature: signature},
	}
}

func imagePart() schema.MessageOutputPart {
	return schema.MessageOutputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{}}
}

func parts(p ...schema.MessageOutputPart) *schema.Message {
	return &schema.Message{Role: schema.Assistant, AssistantGenMultiContent: p}
}

func deprecatedPart(typ schema.ChatMessagePartType) *schema.Message {
	return &schema.Message{
		MultiContent: []schema.ChatMessagePart{{Type: typ, Text: "x"}}, //nolint:staticcheck // clients still fill it
	}
}

func TestNilChunkIsAnErrorAndChangesNothing(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("Hel", calls(delta(0, "c1", "find", "{"))))
	before := a.Snapshot()
	if err := a.Add(nil); !errors.Is(err, ErrNilChunk) {
		t.Errorf("a nil chunk: %v", err)
	}
	assert.Equal(t, before, a.Snapshot())
	assert.Equal(t, []int{0}, a.Touched())
}

func TestChunksWithoutContentChangeNothing(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, &schema.Message{}, finish(""), used(nil), used(&schema.TokenUsage{}))
	assert.Equal(t, Snapshot{}, a.Snapshot())
}

func TestTextAddsUpOverAttempts(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, schema.AssistantMessage("Hel", nil), schema.AssistantMessage("lo", nil))
	a.Interrupt()
	mustAdd(t, &a, schema.AssistantMessage(" wor", nil))
	a.Interrupt()
	mustAdd(t, &a, schema.AssistantMessage("ld", nil))

	assert.Equal(t, "Hello world", a.Snapshot().Text)
	assert.Equal(t, 11, a.TextLen())
	assert.Equal(t, "world", a.Tail(5))
	assert.Equal(t, "Hello world", a.Tail(99))
	assert.Empty(t, a.Tail(0))
	assert.True(t, a.HasTextAt(6, "world"))
	assert.True(t, a.HasTextAt(11, ""))
	assert.False(t, a.HasTextAt(6, "world!"))
	assert.False(t, a.HasTextAt(6, "word"))
	assert.False(t, a.HasTextAt(-1, "H"))
	assert.False(t, a.HasTextAt(12, ""))
}

func TestTextBlocksAreCountedWhenACallFollows(t *testing.T) {
	t.Parallel()

	var a Accumulator
	for _, step := range []struct {
		chunk  *schema.Message
		blocks int
		open   bool
	}{
		{&schema.Message{ReasoningContent: "hm"}, 0, false},
		{schema.AssistantMessage("One.", nil), 0, true},
		{schema.AssistantMessage(" Still one.", nil), 0, true},
		{schema.AssistantMessage("", calls(delta(0, "c1", "find", ""))), 1, false},
		{schema.AssistantMessage("", calls(delta(0, "", "", "{}"))), 1, false},
		{schema.AssistantMessage("", calls(delta(1, "c2", "find", "{}"))), 1, false},
		{schema.AssistantMessage("Two.", nil), 1, true},
		{schema.AssistantMessage("", calls(delta(1, "", "", " "))), 1, true},
		{schema.AssistantMessage("", calls(delta(2, "c3", "find", "{}"))), 2, false},
		{schema.AssistantMessage("Three, and its call.", calls(delta(3, "c4", "find", "{}"))), 3, false},
		{finish("tool_calls"), 3, false},
	} {
		mustAdd(t, &a, step.chunk)
		s := a.Snapshot()
		assert.Equal(t, step.blocks, s.TextBlocks, "after %v", step.chunk)
		assert.Equal(t, step.open, s.TextOpen, "after %v", step.chunk)
	}
}

func TestInterruptKeepsTextAndForgetsTheAttempt(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a,
		schema.AssistantMessage("Hello", nil),
		schema.AssistantMessage("", calls(delta(4, "c1", "find", `{"q"`))),
		used(&schema.TokenUsage{PromptTokens: 10, TotalTokens: 10}),
		finish("length"),
	)
	a.Interrupt()
	assert.Equal(t, Snapshot{Text: "Hello", TextOpen: true}, a.Snapshot())
	assert.Zero(t, a.Calls())
	assert.Empty(t, a.FinishReason())
	assert.Equal(t, Usage{}, a.Usage())

	mustAdd(t, &a, schema.AssistantMessage("", calls(delta(0, "", "", `:1}`))))
	left := transcript(a.Snapshot().ToolCalls)
	assert.Equal(t, []string{"0   :1} malformed"}, left, "nothing of the first call is left")
}

func TestLastFinishReasonCounts(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a, finish("stop"), finish(""), finish("tool_calls"), finish(""))
	assert.Equal(t, "tool_calls", a.FinishReason())
	assert.Equal(t, "tool_calls", a.Snapshot().FinishReason)
}

func TestUsageKeepsTheLargestRecord(t *testing.T) {
	t.Parallel()

	var a Accumulator
	mustAdd(t, &a,
		used(&schema.TokenUsage{PromptTokens: 100, CompletionTokens: 1, TotalTokens: 101}),
		used(&schema.TokenUsage{PromptTokens: 100, CompletionTokens: 20, TotalTokens: 120}),
		used(&schema.TokenUsage{}),
		used(nil),
	)
	want := Usage{Known: true, Prompt: 100, Completion: 20, Total: 120}
	assert.Equal(t, want, a.Usage())
	assert.Equal(t, want, a.Snapshot().Usage)
}

func TestMultiContent(t *testing.T) {
	t.Parallel()

	beside := parts(textPart("Hello"))
	beside.Content = "Hello"
	tests := []struct {
		name    string
		chunk   *schema.Message
		text    string
		media   bool
		content bool
	}{
		{"text parts", parts(textPart("Hel"), textPart("lo")), "Hello", false, true},
		{"text beside the same parts", beside, "Hello", false, true},
		{"empty text part", parts(textPart("")), "", false, false},
		{"thought", parts(thoughtPart("hm", "")), "", false, true},
		{"signature of a thought", parts(thoughtPart("", "sig")), "", false, true},
		{"empty thought", parts(thoughtPart("", "")), "", false, false},
		{"image", parts(imagePart()), "", true, true},
		{"text and image", parts(textPart("See "), imagePart(), textPart("this.")), "See this.", true, true},
		{"deprecated text part", deprecatedPart(schema.ChatMessagePartTypeText), "", false, false},
		{"deprecated image part", deprecatedPart(schema.ChatMessagePartTypeImageURL), "", true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			var a Accumulator
			mustAdd(t, &a, tt.chunk)
			assert.Equal(t, tt.text, Text(tt.chunk))
			assert.Equal(t, tt.text, a.Snapshot().Text)
			assert.Equal(t, tt.media, a.Snapshot().Media)
			assert.Equal(t, tt.content, HasContent(tt.chunk))

			a.Interrupt()
			mustAdd(t, &a, parts(textPart("more")))
			assert.Equal(t, tt.media, a.Snapshot().Media, "a part that was delivered stays so")
		})
	}
}

func TestHasContent(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name  string
		chunk *schema.Message
		want  bool
	}{
		{"empty", &schema.Message{}, false},
		{"role", &schema.Message{Role: schema.Assistant}, false},
		{"finish reason", finish("stop"), false},
		{"usage", used(&schema.TokenUsage{TotalTokens: 1}), false},
		{"extra", &schema.Message{Extra: map[string]any{"request-id": "r"}}, false},
		{"text", schema.AssistantMessage("x", nil), true},
		{"white space", schema.AssistantMessage(" ", nil), true},
		{"reasoning", &schema.Message{ReasoningContent: "x"}, true},
		{"call id", schema.AssistantMessage("", calls(delta(0, "c1", "", ""))), true},
		{"call name", schema.AssistantMessage("", calls(delta(0, "", "find", ""))), true},
		{"call arguments", schema.AssistantMessage("", calls(delta(0, "", "", " "))), true},
		{"empty call", schema.AssistantMessage("", calls(delta(0, "", "", ""))), false},
		{"empty call, then one that is not", schema.AssistantMessage("", calls(delta(0, "", "", ""), delta(1, "", "", "{"))), true},
	} {
		if got := HasContent(tt.chunk); got != tt.want {
			t.Errorf("%s: content is %t", tt.name, got)
		}
	}
}

func TestRestartKeepsNothing(t *testing.T) {
	t.Parallel()

	a := Accumulator{ReasoningKeys: []string{"thinking"}}
	mustAdd(t, &a,
		&schema.Message{ReasoningContent: "hm", Extra: map[string]any{"thinking": "hm"}},
		schema.AssistantMessage("Hello", calls(delta(3, "c1", "find", `{"q"`))),
	)
	a.Interrupt()
	a.Restart()
	assert.Equal(t, Snapshot{}, a.Snapshot())
	assert.False(t, a.ReasoningKept())

	mustAdd(t, &a, &schema.Message{ReasoningContent: "so", Extra: map[string]any{"thinking": "so"}})
	assert.Equal(t, map[string]any{"thinking": "so"}, a.Snapshot().ReasoningExtra, "the keys stay set")
}
