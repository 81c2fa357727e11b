package continuation_test

import (
	"reflect"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exInputs makes each kind of input that the decorator adds to or mends. Called twice it gives equal ones.
func exInputs() map[string][]*schema.Message {
	plain := exInput()

	partial := exInput()
	partial = append(partial, &schema.Message{
		Role: schema.Assistant, Content: "As I said: ", Extra: map[string]any{"trace": "t-1"},
	})

	parts := exInput()
	parts = append(parts, &schema.Message{
		Role: schema.Assistant,
		AssistantGenMultiContent: append(make([]schema.MessageOutputPart, 0, 4),
			schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: "As I said: "}),
	})

	hinted := exInput()[:4]
	hinted[2].Extra["carryon_dropped_calls"] = "search"
	hinted[2].Extra["carryon_continuations"] = 2

	mended := exInput()
	mended[2].ReasoningContent = "Let Let me think."
	mended[2].Extra["reasoning-content"] = "Let Let me think."
	mended[2].Extra["carryon_reasoning_skip"] = 4
	mended[2].Extra["carryon_reasoning_skip.reasoning-content"] = 4

	return map[string][]*schema.Message{
		"plain": plain, "partial answer": partial, "partial answer in parts": parts,
		"dropped call": hinted, "half thought": mended,
	}
}

// exSpare returns messages in a slice with room behind them, which nobody may use.
func exSpare(messages []*schema.Message) []*schema.Message {
	all := append([]*schema.Message(nil), messages...)
	for range 4 {
		all = append(all, &schema.Message{Role: schema.User, Content: "not part of it"})
	}

	return all[:len(messages):len(all)]
}

// The caller's slices, messages and maps, and the room behind them, are what they were.
func TestExhaustiveInputs(t *testing.T) {
	t.Parallel()
	breaks := map[string]faultmodel.Script{
		"whole":     {faultmodel.Text("Bread, "), faultmodel.Finish("stop")},
		"R1":        {faultmodel.Text("Bread, "), faultmodel.Reset()},
		"R2":        {faultmodel.Text("Bread, "), faultmodel.Call(0, "c", "search", `{}`), faultmodel.Reset()},
		"R3":        {faultmodel.Text("Bread, "), faultmodel.Call(0, "c", "search", `{`), faultmodel.Reset()},
		"R4":        {faultmodel.Reasoning("Hm"), faultmodel.Reset()},
		"open":      {faultmodel.OpenFail(faultmodel.ResetError())},
		"permanent": {faultmodel.OpenFail(&exStatusError{HTTPStatusCode: 400, Message: "no"})},
	}
	options := map[string][]continuation.Option{
		"default":          nil,
		"hint in result":   {continuation.HintInToolResult()},
		"prefill":          {continuation.WithDialect(continuation.PrefillWith(exMark, model.WithTopP(0.5)))},
		"without any hint": {continuation.WithoutHint()},
	}
	for name := range exInputs() {
		for how, script := range breaks {
			for which, opts := range options {
				t.Run(name+"/"+how+"/"+which, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { exCheckInput(t, name, script, opts) })
				})
			}
		}
	}
}

// exMark changes all that a dialect may change.
func exMark(m *schema.Message) {
	m.Name = "partial"
	if m.Extra == nil {
		m.Extra = make(map[string]any)
	}
	m.Extra["prefix"] = true
}

func exCheckInput(t *testing.T, name string, script faultmodel.Script, opts []continuation.Option) {
	t.Helper()
	rest := faultmodel.Script{faultmodel.Text("and "), faultmodel.Reset()}
	end := faultmodel.Script{faultmodel.Text("milk."), faultmodel.Finish("stop")}
	m := faultmodel.New(script, rest, end).TypeName("OpenAI")
	input := exSpare(exInputs()[name])
	options := append(exOptions(), model.WithMaxTokens(1000))
	room := len(options)

	reader, err := continuation.Wrap(m, opts...).Stream(t.Context(), input, options...)
	if err == nil {
		_, err = faultmodel.Collect(reader)
		require.NoError(t, err)
	}
	synctest.Wait()
	require.Zero(t, m.Unclosed())
	want := exSpare(exInputs()[name])
	require.Equal(t, want[:cap(want)], input[:cap(input)])
	for _, m := range input {
		for _, p := range m.AssistantGenMultiContent[len(m.AssistantGenMultiContent):cap(m.AssistantGenMultiContent)] {
			require.Zero(t, p)
		}
	}
	for _, o := range options[room:cap(options)] {
		require.True(t, reflect.ValueOf(o).IsZero(), "an option was written behind the caller's")
	}
	for _, r := range m.Requests()[1:] {
		require.NotSame(t, &input[0], &r.Messages[0])
		require.Equal(t, 1000, max(1000, *r.Options.MaxTokens))
	}
}
