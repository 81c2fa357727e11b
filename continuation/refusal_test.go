package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func rfError(message string) *ctStatusError {
	return &ctStatusError{HTTPStatusCode: 400, Message: message}
}

// TestPrefillRefusedInOtherWords: a request that differs from what was taken by its end alone is made once more with a
// user turn, whatever is said against it. Only if that is taken is it remembered.
func TestPrefillRefusedInOtherWords(t *testing.T) {
	t.Parallel()
	first, rest := fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")}
	odd := rfError("Unprocessable conversation.")
	t.Run("the user turn is taken", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			inner := fm.New(first, fm.Script{fm.OpenFail(odd)}, rest, first, rest)
			m, events := ctWrap(t, inner, ctNow(), continuation.WithMaxContinuations(1), continuation.WithDialect(continuation.Prefill()))
			for range 2 {
				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, "Hello world.", r.text())
			}
			lengths := []int{1, 2, 3, 1, 3}
			for i, r := range inner.Requests() {
				assert.Len(t, r.Messages, lengths[i], "request %d", i)
			}
			assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticePrefillRefused}, ctNotices(events))
		})
	})
	t.Run("the user turn is refused as well", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			bad := fm.Script{fm.OpenFail(odd)}
			inner := fm.New(first, bad, fm.Script{fm.OpenFail(rfError("No."))}, first, bad, rest)
			m, events := ctWrap(t, inner, ctNow(), continuation.WithDialect(continuation.Prefill()))
			r := ctStream(t.Context(), m)
			x := ctExhausted(t, r, events)
			assert.Equal(t, continuation.ReasonRefused, x.Reason)
			assert.Equal(t, error(odd), x.Last, "the first refusal")
			assert.Equal(t, 1, x.Attempts)
			assert.Len(t, inner.Requests(), 3)

			require.NoError(t, ctStream(t.Context(), m).err)
			assert.Len(t, inner.Requests()[4].Messages, 2, "nothing was learned: the prefill is tried again")
		})
	})
	t.Run("a permanent error of another class", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(first, fm.Script{fm.OpenFail(ctStatus(401))}), continuation.WithDialect(continuation.Prefill()))
		assert.Equal(t, continuation.ReasonRefused, ctExhausted(t, r, events).Reason)
		assert.Len(t, r.requests, 2)
	})
	t.Run("the caller's own request", func(t *testing.T) {
		t.Parallel()
		r, _, _ := ctRun(t, fm.New(fm.Script{fm.OpenFail(odd)}), continuation.WithDialect(continuation.Prefill()))
		assert.Equal(t, error(odd), r.err)
		assert.Len(t, r.requests, 1)
	})
}

// rfThought is an answer whose thought came whole, with its signature.
func rfThought(then ...fm.Step) fm.Script {
	return append(fm.Script{fm.Chunk(&schema.Message{
		Role: schema.Assistant, ReasoningContent: "Whole.",
		Extra: map[string]any{"_eino_claude_thinking": "Whole.", "_eino_claude_thinking_signature": "c2ln"},
	})}, then...)
}

// rfThoughts returns how many messages of a request bear any reasoning.
func rfThoughts(r fm.Request) (n int) {
	for _, m := range r.Messages {
		bears := m.ReasoningContent != ""
		for _, key := range []string{"_eino_claude_thinking", "_eino_claude_thinking_signature", "gemini_thought_signature"} {
			_, there := m.Extra[key]
			bears = bears || there
			for _, t := range m.ToolCalls {
				_, there := t.Extra[key]
				bears = bears || there
			}
		}
		if bears {
			n++
		}
	}

	return n
}

// TestThoughtRefused: a continuation goes once more without any reasoning, also that of the caller's history, and
// stays without it in this call.
func TestThoughtRefused(t *testing.T) {
	t.Parallel()
	bad := rfError("Invalid `signature` in `thinking` block")
	earlier := &schema.Message{
		Role: schema.Assistant, Content: "Yes.", ReasoningContent: "Earlier.",
		ToolCalls: []schema.ToolCall{{ID: "c", Function: schema.FunctionCall{Name: "f", Arguments: "{}"}, Extra: map[string]any{"gemini_thought_signature": []byte("s"), "k": 1}}},
		AssistantGenMultiContent: []schema.MessageOutputPart{
			{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: "Earlier."}},
			{Type: schema.ChatMessagePartTypeText, Text: "Yes."},
		},
	}
	in := []*schema.Message{schema.UserMessage("One?"), earlier, schema.ToolMessage("1", "c"), schema.UserMessage("Two?")}
	for name, d := range map[string]continuation.Dialect{"user turn": continuation.UserTurn(), "prefill": continuation.Prefill()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(
					rfThought(fm.Text("Hello "), fm.Reset()), fm.Script{fm.OpenFail(bad)},
					fm.Script{fm.Text("you "), fm.Reset()}, fm.Script{fm.Text("there."), fm.Finish("stop")},
				).TypeName("Claude")
				m, events := ctWrap(t, inner, ctNow(), continuation.WithMaxContinuations(2), continuation.WithDialect(d))
				r := ctStreamOf(t.Context(), m, in)
				require.NoError(t, r.err)
				assert.Equal(t, "Hello you there.", r.text())
				assert.Equal(t, "Whole.", r.message(t).ReasoningContent, "the consumer keeps it")
				requests := inner.Requests()
				require.Len(t, requests, 4)
				for i, want := range []int{1, 2, 0, 0} {
					assert.Equal(t, want, rfThoughts(requests[i]), "request %d", i)
				}
				bare := requests[2].Messages[1]
				assert.Equal(t, map[string]any{"k": 1}, bare.ToolCalls[0].Extra)
				require.Len(t, bare.AssistantGenMultiContent, 1)
				assert.Equal(t, "Yes.", bare.AssistantGenMultiContent[0].Text)
				assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticeThoughtRefused}, ctNotices(events))
				assert.Len(t, earlier.AssistantGenMultiContent, 2, "the caller's message was changed")
				assert.Equal(t, "Earlier.", earlier.ReasoningContent)
				assert.Len(t, earlier.ToolCalls[0].Extra, 2)
			})
		})
	}
}

// TestThoughtRefusedTwice: a provider that does not take the request without reasoning either has refused it for good, with
// its first error.
func TestThoughtRefusedTwice(t *testing.T) {
	t.Parallel()
	bad, worse := rfError("Invalid `signature` in `thinking` block"), rfError("Expected `thinking` or `redacted_thinking`, but found `text`.")
	r, events, _ := ctRun(t, fm.New(
		rfThought(fm.Text("Hello "), fm.Reset()), fm.Script{fm.OpenFail(bad)}, fm.Script{fm.OpenFail(worse)},
	).TypeName("Claude"), ctNow())
	x := ctExhausted(t, r, events)
	assert.Equal(t, continuation.ReasonRefused, x.Reason)
	assert.Equal(t, error(bad), x.Last)
	assert.Equal(t, fm.ResetError().Error(), x.First.Error())
	assert.Len(t, r.requests, 3)
}

// TestThoughtRefusedBehindARecoveredTurn: the request that brings the results of calls which a break cut short is sent once
// more without reasoning too, by Stream and by Generate; one that no break has touched is the caller's own.
func TestThoughtRefusedBehindARecoveredTurn(t *testing.T) {
	t.Parallel()
	bad, worse := rfError("`thinking` blocks in the latest assistant message cannot be modified"), rfError("No.")
	first := rfThought(fm.Call(0, "c", "f", "{}"), fm.Call(1, "d", "g", `{"`), fm.Reset())
	yes := fm.Script{fm.Text("Yes."), fm.Finish("stop")}
	for name, c := range map[string]struct {
		marked  bool
		scripts []fm.Script // behind the first
		want    error
		asked   int
	}{
		"recovered":             {true, []fm.Script{{fm.OpenFail(bad)}, yes}, nil, 2},
		"refused twice":         {true, []fm.Script{{fm.OpenFail(bad)}, {fm.OpenFail(worse)}, {fm.OpenFail(worse)}}, bad, 3}, // the hint goes last
		"not touched by breaks": {false, []fm.Script{{fm.OpenFail(bad)}}, bad, 1},
	} {
		for how, generate := range map[string]bool{"Stream": false, "Generate": true} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					inner := fm.New(append([]fm.Script{first}, c.scripts...)...).TypeName("Claude")
					m := continuation.Wrap(inner, ctNow())
					r := ctStream(t.Context(), m)
					require.NoError(t, r.err)
					answer := r.message(t)
					if !c.marked {
						answer.Extra = map[string]any{"_eino_claude_thinking": "Whole.", "_eino_claude_thinking_signature": "c2ln"}
					}
					in := append(ctInput(), answer, schema.ToolMessage("1", "c"))
					var err error
					if generate {
						_, err = m.Generate(t.Context(), in)
					} else {
						err = ctStreamOf(t.Context(), m, in).err
					}
					if c.want == nil {
						require.NoError(t, err)
					} else {
						assert.Equal(t, c.want, err)
					}
					requests := inner.Requests()[1:]
					require.Len(t, requests, c.asked)
					for i, r := range requests {
						assert.Equal(t, i == 0, rfThoughts(r) > 0, "request %d", i)
						assert.Len(t, r.Messages[1].ToolCalls, 1, "the call goes along")
					}
				})
			})
		}
	}
}

// TestThoughtRefusedOfBlocks is the same with blocks of content: the text goes on in its block, as it does behind a refused
// prefill.
func TestThoughtRefusedOfBlocks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refusal string
		dialect continuation.Dialect
		bare    int // thoughts in the request that is taken
	}{
		"thought": {"Invalid `signature` in `thinking` block", continuation.UserTurn(), 0},
		"prefill": {"This model does not support assistant message prefill.", continuation.Prefill(), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.NewAgentic(
				fm.Script{fm.BlockThought(0, "Whole.", "c2ln"), fm.BlockText(1, "Hello "), fm.Reset()},
				fm.Script{fm.OpenFail(rfError(c.refusal))},
				fm.Script{fm.BlockText(0, "world."), fm.StopReason("end_turn", 1, 1)},
			)
			m, err := continuation.NewTyped(inner, ctNow(), continuation.WithDialect(c.dialect))
			require.NoError(t, err)
			reader, err := m.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Say it.")})
			require.NoError(t, err)
			chunks, err := fm.CollectAny(reader)
			require.NoError(t, err)
			got := fm.ConcatAgentic(t, chunks).ContentBlocks
			require.Len(t, got, 2)
			assert.Equal(t, "Hello world.", got[1].AssistantGenText.Text)
			requests := inner.Requests()
			require.Len(t, requests, 3)
			assert.Len(t, requests[1].Agentic()[1].ContentBlocks, 2)
			assert.Len(t, requests[2].Agentic()[1].ContentBlocks, c.bare+1)
		})
	}
}
