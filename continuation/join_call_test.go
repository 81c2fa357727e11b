package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestJoinInACall: what a continuation says beside the answer does not reach the consumer, and the event tells of it.
func TestJoinInACall(t *testing.T) {
	for _, c := range []struct {
		name, before, want string
		after              []faultmodel.Step
		kind               callbacks.JoinKind
	}{
		{
			"a preamble", "The list: abc, ", "The list: abc, def.",
			[]faultmodel.Step{faultmodel.Text("Sure, "), faultmodel.Text("continuing:"), faultmodel.Text(" def."), faultmodel.Finish("stop")},
			callbacks.JoinPreamble,
		},
		{
			"the head of a table", "A\n|h|h|\n|11|22|\n|33|44|\n", "A\n|h|h|\n|11|22|\n|33|44|\n|55|66|\n",
			[]faultmodel.Step{faultmodel.Text("|h|h|\n|11|22|\n|33|44|\n|55|66|\n"), faultmodel.Finish("stop")},
			callbacks.JoinOverlap,
		},
		{
			"a code block", "Code:\n\n```go\nx := 1 +", "Code:\n\n```go\nx := 1 + 2\n```\n",
			[]faultmodel.Step{faultmodel.Text("```go"), faultmodel.Text("\n 2\n```\n"), faultmodel.Finish("stop")},
			callbacks.JoinOverlap,
		},
		{
			"text parts", "The list: abc, ", "The list: abc, def.",
			[]faultmodel.Step{jnPart("Sure, continuing:"), jnPart(" def."), faultmodel.Finish("stop")},
			callbacks.JoinPreamble,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := exStream(t, faultmodel.New(faultmodel.Script{faultmodel.Text(c.before), faultmodel.Reset()}, c.after), exInput())
				text := ""
				for _, m := range run.chunks {
					text += m.Content
					for _, p := range m.AssistantGenMultiContent {
						text += p.Text
					}
				}
				require.Equal(t, c.want, text)
				require.Equal(t, c.kind, exJoin(t, run).Kind)
			})
		})
	}
}

// jnPart is a chunk whose text stands in a part of its content.
func jnPart(text string) faultmodel.Step {
	return faultmodel.Chunk(&schema.Message{
		Role:                     schema.Assistant,
		AssistantGenMultiContent: []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: text}},
	})
}

// TestJoinOfAnotherDocumentInACall: a whole document where a value of the first one may stand is seen for what it is when
// the answer ends behind it: nothing of it is delivered, and the model is asked again.
func TestJoinOfAnotherDocumentInACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		run := exStream(t, faultmodel.New(
			faultmodel.Script{faultmodel.Text(`{"a":`), faultmodel.Reset()},
			faultmodel.Script{faultmodel.Text(`{"b":1,`), faultmodel.Text(`"a":2}`), faultmodel.Finish("stop")},
			faultmodel.Script{faultmodel.Text(`2,"b":1}`), faultmodel.Finish("stop")},
		), exInput())
		require.Equal(t, `{"a":2,"b":1}`, run.message(t).Content)
		require.Len(t, run.requests, 3)
		require.Equal(t, callbacks.CauseRestarted, exEvents[callbacks.Failed](run.log)[0].Cause)
	})
}

// TestJoinWithoutPreambleFilter: words that speak of going on are kept if the caller wants that; what repeats the text is
// cut all the same.
func TestJoinWithoutPreambleFilter(t *testing.T) {
	for _, c := range []struct {
		after, want string
		kind        callbacks.JoinKind
	}{
		{"Sure, continuing: def.", "The list: abc, Sure, continuing: def.", callbacks.JoinPlain},
		{"The list: abc, def.", "The list: abc, def.", callbacks.JoinRestart},
	} {
		synctest.Test(t, func(t *testing.T) {
			run := exStream(t, faultmodel.New(
				faultmodel.Script{faultmodel.Text("The list: abc, "), faultmodel.Reset()},
				faultmodel.Script{faultmodel.Text(c.after), faultmodel.Finish("stop")},
			), exInput(), continuation.WithoutPreambleFilter())
			require.Equal(t, c.want, run.message(t).Content)
			require.Equal(t, c.kind, exJoin(t, run).Kind)
		})
	}
}
