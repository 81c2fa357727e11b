package continuation_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctThought is a chunk of reasoning as clients send it that repeat it in Extra.
func ctThought(s string) fm.Step {
	return fm.Chunk(&schema.Message{Role: schema.Assistant, ReasoningContent: s, Extra: map[string]any{"reasoning-content": s}})
}

// ctRestarted is an answer whose first thought broke off after it was shown.
func ctRestarted(t *testing.T) *schema.Message {
	t.Helper()
	r, _, _ := ctRun(t, fm.New(
		fm.Script{ctThought("Half "), ctThought("a thou"), fm.Reset()}, fm.Script{ctThought("A whole thought."), fm.Text("Hello."), fm.Finish("stop")},
	).TypeName("OpenAI"))
	require.NoError(t, r.err)

	return r.message(t)
}

func TestRepair(t *testing.T) {
	t.Parallel()
	m := ctRestarted(t)
	require.Equal(t, "Half a thouA whole thought.", m.ReasoningContent, "what the consumer has seen")
	stored := &schema.Message{}
	require.NoError(t, json.Unmarshal([]byte(ctJSON(t, m)), stored))
	for name, m := range map[string]*schema.Message{"as it came": m, "stored as JSON": stored} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := ctJSON(t, m)
			r := continuation.Repair(m)
			assert.Equal(t, "A whole thought.", r.ReasoningContent)
			assert.Equal(t, "A whole thought.", r.Extra["reasoning-content"])
			assert.Equal(t, "Hello.", r.Content)
			assert.NotContains(t, ctJSON(t, r), continuation.ExtraReasoningSkip)
			assert.Equal(t, before, ctJSON(t, m), "a copy")
			assert.Same(t, r, continuation.Repair(r), "there is nothing more to repair")
		})
	}
}

func TestRepairOfOtherMessages(t *testing.T) {
	t.Parallel()
	assert.Nil(t, continuation.Repair(nil))
	for _, m := range []*schema.Message{
		{}, schema.UserMessage("a"), {ReasoningContent: "a", Extra: map[string]any{"reasoning-content": "a", continuation.ExtraContinuations: 2}},
	} {
		assert.Same(t, m, continuation.Repair(m))
	}
	for _, skip := range []any{-5, 99, "7", nil, 2.5e9, []int{1}} {
		assert.NotPanics(t, func() {
			continuation.Repair(&schema.Message{ReasoningContent: "abc", Extra: map[string]any{
				continuation.ExtraReasoningSkip: skip, continuation.ExtraReasoningSkip + ".x": skip, continuation.ExtraReasoningSkip + ".k": skip, "k": 7,
			}})
		})
	}
}

func TestMessagesAreRepairedWhenTheyComeBack(t *testing.T) {
	t.Parallel()
	m := ctRestarted(t)
	in := []*schema.Message{schema.UserMessage("Hi"), m, schema.UserMessage("And?")}
	out := ctAsked(t, in)
	require.Len(t, out, 3)
	assert.Equal(t, "A whole thought.", out[1].ReasoningContent)
	assert.Equal(t, "A whole thought.", out[1].Extra["reasoning-content"])

	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(ctDone())
		decorated, _ := ctWrap(t, inner)
		_, err := decorated.Generate(t.Context(), in)
		require.NoError(t, err)
		assert.Equal(t, "A whole thought.", inner.Requests()[0].Messages[1].ReasoningContent)
	})
}

// TestWholeThoughtIsKept: after a whole thought a later attempt's thoughts are not part of the message.
func TestWholeThoughtIsKept(t *testing.T) {
	t.Parallel()
	r, _, _ := ctRun(t, fm.New(
		fm.Script{ctThought("A thought."), fm.Text("Hello "), fm.Reset()}, fm.Script{ctThought("Another."), fm.Text("world."), fm.Finish("stop")},
	).TypeName("OpenAI"))
	require.NoError(t, r.err)
	m := r.message(t)
	assert.Equal(t, "A thought.", m.ReasoningContent)
	assert.Equal(t, "A thought.", m.Extra["reasoning-content"])
	assert.Equal(t, "Hello world.", m.Content)
	assert.Same(t, m, continuation.Repair(m))
	assert.Equal(t, "A thought.", r.requests[1].Messages[1].ReasoningContent, "this client sends it back")
}
