package continuation_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// agTurn is a conversation whose last turn called a tool, and another one that was cut off; its results are one message,
// or one each.
func agTurn(t *testing.T, results int) []*schema.AgenticMessage {
	t.Helper()
	inner := fm.NewAgentic(fm.Script{
		fm.BlockText(0, "Let me. "), fm.BlockCall(1, "c1", "add", `{"a":1}`), fm.BlockCall(2, "c2", "sub", `{"b":2}`),
		fm.BlockCall(3, "c3", "paint", `{"c":`), fm.Reset(),
	})
	chunks, err := agAsk(t, typed(t, inner))
	require.NoError(t, err)
	answer := fm.ConcatAgentic(t, chunks)
	require.Len(t, answer.ContentBlocks, 3)
	turn := []*schema.AgenticMessage{schema.UserAgenticMessage("Do it."), answer}
	all := agResults(answer)
	for b := range slices.Chunk(all.ContentBlocks, len(all.ContentBlocks)/results) {
		turn = append(turn, &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: b})
	}

	return turn
}

func agJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)

	return string(text)
}

// TestAgenticHint: while the results of a turn are the last messages, the model is told of the call that was cut off.
func TestAgenticHint(t *testing.T) {
	t.Parallel()
	const note = "The call to paint was cut off"
	done := fm.Script{fm.BlockText(0, "Done."), fm.StopReason("end_turn", 1, 1)}
	for name, c := range map[string]struct {
		opts     []continuation.Option
		results  int
		later    bool
		messages int // of the request
		hinted   bool
	}{
		"a user message":                   {nil, 2, false, 5, true},
		"a user message, results together": {nil, 1, false, 4, true},
		"in the tool result":               {[]continuation.Option{continuation.HintInToolResult()}, 2, false, 4, true},
		"off":                              {[]continuation.Option{continuation.WithoutHint()}, 2, false, 4, false},
		"a turn later":                     {nil, 2, true, 5, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := agTurn(t, c.results)
			if c.later {
				in = append(in, schema.UserAgenticMessage("And?"))
			}
			before := agJSON(t, in)
			inner := fm.NewAgentic(done)
			r, err := typed(t, inner, c.opts...).Stream(t.Context(), in)
			require.NoError(t, err)
			_, err = fm.CollectAny(r)
			require.NoError(t, err)

			asked := inner.Requests()[0].Agentic()
			assert.Len(t, asked, c.messages)
			assert.Equal(t, before, agJSON(t, in), "the input was changed")
			last := agJSON(t, asked[len(asked)-1])
			if c.hinted {
				assert.Contains(t, last, note)
			} else {
				assert.NotContains(t, agJSON(t, asked), note)
			}
			require.NoError(t, fm.ValidAgentic(asked))
		})
	}
}

// TestAgenticContinues tells how the request for the rest is made, by dialect and by what the input ends with.
func TestAgenticContinues(t *testing.T) {
	t.Parallel()
	user, own := schema.UserAgenticMessage("Tell me."), &schema.AgenticMessage{
		Role:          schema.AgenticRoleTypeAssistant,
		ContentBlocks: []*schema.ContentBlock{schema.NewContentBlock(&schema.AssistantGenText{Text: "Well, "})},
	}
	prefill := continuation.WithDialect(continuation.Prefill())
	for name, c := range map[string]struct {
		in   []*schema.AgenticMessage
		opts []continuation.Option
		text string // of the answer in the request
		ends schema.AgenticRoleType
	}{
		"a user turn":              {[]*schema.AgenticMessage{user}, nil, "Hello wor", schema.AgenticRoleTypeUser},
		"prefill":                  {[]*schema.AgenticMessage{user}, []continuation.Option{prefill}, "Hello wor", schema.AgenticRoleTypeAssistant},
		"an answer begun":          {[]*schema.AgenticMessage{user, own}, nil, "Well, Hello wor", schema.AgenticRoleTypeUser},
		"an answer begun, prefill": {[]*schema.AgenticMessage{user, own}, []continuation.Option{prefill}, "Well, Hello wor", schema.AgenticRoleTypeAssistant},
		"a prompt of the caller's": {[]*schema.AgenticMessage{user}, []continuation.Option{continuation.WithPrompt(func(continuation.Interruption) string { return "Go on." })}, "Hello wor", schema.AgenticRoleTypeUser},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(
					fm.Script{agChunk(nil, map[string]any{"generated": true, "_eino_msg_id": "x"}), fm.BlockText(0, "Hello "), fm.BlockText(0, "wor "), fm.Reset()},
					fm.Script{fm.BlockText(0, "ld."), fm.StopReason("end_turn", 1, 1)})
				before := agJSON(t, c.in)
				r, err := typed(t, inner, c.opts...).Stream(t.Context(), c.in)
				require.NoError(t, err)
				_, err = fm.CollectAny(r)
				require.NoError(t, err)
				assert.Equal(t, before, agJSON(t, c.in), "the input was changed")

				asked := inner.Requests()[1].Agentic()
				require.NoError(t, fm.ValidAgentic(asked))
				assert.Equal(t, c.ends, asked[len(asked)-1].Role)
				partial := asked[1]
				assert.Equal(t, c.text, agText(partial))
				if len(c.in) == 1 { // the client reads there that it wrote the message itself
					assert.Equal(t, map[string]any{"generated": true}, partial.Extra)
				}
			})
		})
	}
}

// TestAgenticThoughtGoesAlong: a whole thought goes back as the block it was; to Claude only with its signature.
func TestAgenticThoughtGoesAlong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		typ, signature string
		along          bool
	}{
		"signed":           {"AgenticClaude", "sig", true},
		"unsigned":         {"AgenticClaude", "", false},
		"another provider": {"Another", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(
					fm.Script{fm.BlockThought(0, "Hm.", ""), fm.BlockThought(0, "", c.signature), fm.BlockText(1, "Hello wor"), fm.Reset()},
					fm.Script{fm.BlockText(0, "ld."), fm.StopReason("end_turn", 1, 1)})
				inner.TypeName(c.typ)
				_, err := agAsk(t, typed(t, inner))
				require.NoError(t, err)
				content := inner.Requests()[1].Agentic()[1].ContentBlocks
				if !c.along {
					assert.Len(t, content, 1)

					return
				}
				require.Len(t, content, 2)
				assert.Equal(t, &schema.Reasoning{Text: "Hm.", Signature: c.signature}, content[0].Reasoning)
			})
		})
	}
}
