package snapshot

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
)

func TestUsageOf(t *testing.T) {
	t.Parallel()

	assert.Equal(t, Usage{}, UsageOf(nil))
	assert.Equal(t, Usage{}, UsageOf(&schema.TokenUsage{}), "an empty record says nothing")
	assert.Equal(t, Usage{Known: true, Completion: 1}, UsageOf(&schema.TokenUsage{CompletionTokens: 1}))

	record := &schema.TokenUsage{
		PromptTokens:            100,
		PromptTokenDetails:      schema.PromptTokenDetails{CachedTokens: 40},
		CompletionTokens:        20,
		TotalTokens:             120,
		CompletionTokensDetails: schema.CompletionTokensDetails{ReasoningTokens: 5},
	}
	u := UsageOf(record)
	assert.Equal(t, Usage{Known: true, Prompt: 100, Cached: 40, Completion: 20, Reasoning: 5, Total: 120}, u)
	assert.Equal(t, record, u.TokenUsage(), "the way back loses nothing")
	assert.NotSame(t, record, u.TokenUsage())
}

func TestUnknownUsageIsNotZeroTokens(t *testing.T) {
	t.Parallel()

	var unknown Usage
	known := Usage{Known: true}
	assert.Nil(t, unknown.TokenUsage())
	assert.NotNil(t, known.TokenUsage())

	for name, op := range map[string]func(u, v Usage) Usage{"Max": Usage.Max, "Then": Usage.Then, "Plus": Usage.Plus} {
		assert.False(t, op(unknown, unknown).Known, name)
		assert.True(t, op(known, unknown).Known, name)
		assert.True(t, op(unknown, known).Known, name)
	}
}

func TestUsageMaxKeepsTheLargestOfEachField(t *testing.T) {
	t.Parallel()

	first := Usage{Known: true, Prompt: 100, Cached: 1, Completion: 20, Reasoning: 9, Total: 120}
	second := Usage{Known: true, Prompt: 90, Cached: 2, Completion: 30, Reasoning: 8, Total: 119}
	want := Usage{Known: true, Prompt: 100, Cached: 2, Completion: 30, Reasoning: 9, Total: 120}
	assert.Equal(t, want, first.Max(second))
	assert.Equal(t, want, second.Max(first))
	assert.Equal(t, first, first.Max(Usage{}))
	assert.Equal(t, first, first.Max(first), "a repeated record counts once")
}

func TestUsageThenDescribesOneAnswer(t *testing.T) {
	t.Parallel()

	first := Usage{Known: true, Prompt: 100, Cached: 60, Completion: 20, Reasoning: 5, Total: 120}
	second := Usage{Known: true, Prompt: 130, Cached: 110, Completion: 30, Reasoning: 2, Total: 160}

	both := Usage{Known: true, Prompt: 100, Cached: 60, Completion: 50, Reasoning: 7, Total: 150}
	assert.Equal(t, both, first.Then(second))
	assert.Equal(t, first, first.Then(Usage{}))
	assert.Equal(t, second, Usage{}.Then(second), "without a first record the prompt is the best that is known")
	third := Usage{Known: true, Prompt: 160, Completion: 1, Total: 161}
	assert.Equal(t, first.Then(second.Then(third)), first.Then(second).Then(third))
	assert.Equal(t, 0, Usage{}.Then(Usage{}).Total)
}

func TestUsagePlusIsTheBill(t *testing.T) {
	t.Parallel()

	first := Usage{Known: true, Prompt: 100, Cached: 60, Completion: 20, Reasoning: 5, Total: 120}
	second := Usage{Known: true, Prompt: 130, Cached: 110, Completion: 30, Reasoning: 2, Total: 160}
	want := Usage{Known: true, Prompt: 230, Cached: 170, Completion: 50, Reasoning: 7, Total: 280}
	assert.Equal(t, want, first.Plus(second))
	assert.Equal(t, first, first.Plus(Usage{}))
}
