package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// agRun asks a model of these scripts and returns the message that comes.
func agRun(t *testing.T, scripts ...fm.Script) *schema.AgenticMessage {
	t.Helper()
	chunks, err := agAsk(t, typed(t, fm.NewAgentic(scripts...)))
	require.NoError(t, err)

	return fm.ConcatAgentic(t, chunks)
}

// TestAgenticChunkStaysOne: a chunk of several blocks leaves as the chunk that it was.
func TestAgenticChunkStaysOne(t *testing.T) {
	t.Parallel()
	var sent []*schema.AgenticMessage
	m, err := continuation.NewTyped(agenticFunc(func() *schema.StreamReader[*schema.AgenticMessage] {
		sent = agGemini().AgenticChunks()

		return schema.StreamReaderFromArray(sent)
	}))
	require.NoError(t, err)
	got, err := agAsk(t, m)
	require.NoError(t, err)
	require.Same(t, sent[0], got[0], "a thought and a text")
	assert.Same(t, sent[3], got[len(got)-2], "a text and a call")
	assert.Same(t, sent[4], got[len(got)-1])
}

// TestAgenticPlain: blocks without an index stay without one; where some have one and some have not, all get one, since
// Eino refuses to join them.
func TestAgenticPlain(t *testing.T) {
	t.Parallel()
	end := fm.StopReason("end_turn", 1, 1)
	for name, c := range map[string]struct {
		scripts []fm.Script
		plain   bool
		want    []schema.ContentBlockType
	}{
		"plain": {
			[]fm.Script{{fm.BlockText(-1, "Hello "), fm.Reset()}, {fm.BlockText(-1, "world."), end}},
			true,
			[]schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeAssistantGenText},
		},
		"plain, then with an index": {
			[]fm.Script{{fm.BlockText(-1, "Hello "), fm.Reset()}, {fm.BlockText(0, "wor"), fm.BlockText(0, "ld."), end}},
			true,
			[]schema.ContentBlockType{
				schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeAssistantGenText,
			},
		},
		"with an index, then plain": {
			[]fm.Script{{fm.BlockText(0, "Hello "), fm.Reset()}, {fm.BlockText(-1, "world."), end}},
			false,
			[]schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText},
		},
		"both in one stream": {
			[]fm.Script{{fm.BlockText(0, "Hello "), fm.BlockText(-1, "world."), end}},
			false,
			[]schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText},
		},
		"two kinds of one index": {
			[]fm.Script{{fm.BlockThought(0, "Hm.", "sig"), fm.BlockText(0, "Hello world."), end}},
			false,
			[]schema.ContentBlockType{schema.ContentBlockTypeReasoning, schema.ContentBlockTypeAssistantGenText},
		},
		"an absurd index": {
			[]fm.Script{{fm.BlockText(1<<62, "Hello "), fm.BlockText(1<<62, "wor"), fm.Reset()}, {fm.BlockText(0, "ld."), end}},
			false,
			[]schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				chunks, err := agAsk(t, typed(t, fm.NewAgentic(c.scripts...)))
				require.NoError(t, err)
				for _, m := range chunks {
					for _, b := range m.ContentBlocks {
						assert.Equal(t, c.plain, b.StreamingMeta == nil)
					}
				}
				msg := fm.ConcatAgentic(t, chunks)
				assert.Equal(t, c.want, agKinds(msg))
				assert.Equal(t, "Hello world.", agText(msg))
			})
		})
	}
}

// TestAgenticPlainThought: half a thought in a block without an index is found again as well.
func TestAgenticPlainThought(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		msg := agRun(t, fm.Script{fm.BlockThought(-1, "half", ""), fm.BlockThought(-1, " a thought", ""), fm.Reset()},
			fm.Script{fm.BlockThought(-1, "whole", "sig"), fm.BlockText(-1, "Hello."), fm.StopReason("end_turn", 1, 1)})
		assert.Equal(t, "0\n1", msg.Extra[continuation.ExtraBrokenBlocks])
		clean := continuation.RepairTyped(msg)
		require.Len(t, clean.ContentBlocks, 2)
		assert.Equal(t, "whole", clean.ContentBlocks[0].Reasoning.Text)
		assert.Len(t, msg.ContentBlocks, 4, "the message itself was changed")
	})
}

// agNote is a value in the Extra of a block that Eino does not know how to join.
type agNote struct{ N int }

// TestAgenticBesideText: what stands beside a text that two attempts wrote is such that Eino can join it, and points at the
// same words as before.
func TestAgenticBesideText(t *testing.T) {
	agRegister(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text := func(s string, from, to int) fm.Step {
			b := schema.NewContentBlock(&schema.AssistantGenText{Text: s, Extension: agNote{1}})
			if to > 0 {
				b.AssistantGenText.Extension = nil
				b.AssistantGenText.OpenAIExtension = &openai.AssistantGenTextExtension{Annotations: []*openai.TextAnnotation{{
					Type: openai.TextAnnotationTypeURLCitation, URLCitation: &openai.TextAnnotationURLCitation{StartIndex: from, EndIndex: to},
				}}}
			}
			b.Extra = map[string]any{"name": "n", "note": agNote{2}, "nil": nil, "count": 1, "item-id": agItemID("i"), "item-status": agItemStatus("s")}

			return fm.Block(0, b)
		}
		msg := agRun(t,
			fm.Script{fm.BlockText(0, "Grüße "), text("", 0, 6), fm.BlockText(0, "from the house "), fm.Reset()},
			fm.Script{fm.BlockText(0, "from the house of "), fm.BlockText(0, "Ann."), text("", 18, 21), fm.StopReason("end_turn", 1, 1)})
		require.Len(t, msg.ContentBlocks, 1)
		b := msg.ContentBlocks[0]
		require.Equal(t, "Grüße from the house of Ann.", b.AssistantGenText.Text)
		annotations := b.AssistantGenText.OpenAIExtension.Annotations
		require.Len(t, annotations, 2)
		runes := []rune(b.AssistantGenText.Text)
		words := make([]string, 2)
		for i, a := range annotations {
			words[i] = string(runes[a.URLCitation.StartIndex:a.URLCitation.EndIndex])
		}
		assert.Equal(t, []string{"Grüße ", "Ann"}, words)
		assert.Equal(t, map[string]any{
			"name": "n", "note": agNote{2}, "nil": nil, "count": 1, "item-id": agItemID("i"), "item-status": agItemStatus("s"),
		}, b.Extra)

		other := agRun(t, fm.Script{text("Hello wor", 0, 0), fm.Reset()}, fm.Script{text("ld.", 0, 0), fm.StopReason("end_turn", 1, 1)})
		assert.NotNil(t, other.ContentBlocks[0].AssistantGenText.Extension, "one is kept; Eino refuses two")
	})
}

// TestAgenticBlankRestart: white space before a restart, and what was begun and left empty, is not part of the answer.
func TestAgenticBlankRestart(t *testing.T) {
	t.Parallel()
	end := fm.StopReason("end_turn", 1, 1)
	whole := fm.Script{fm.BlockThought(0, "whole", "sig"), fm.BlockText(1, "Hello."), end}
	for name, first := range map[string]fm.Script{
		"an empty thought":            {fm.BlockThought(0, "", ""), fm.Reset()},
		"an empty text":               {fm.BlockText(0, ""), fm.Reset()},
		"white space":                 {fm.BlockText(0, "\n\n"), fm.Reset()},
		"a thought and an empty text": {fm.BlockThought(0, "half", ""), fm.BlockText(1, ""), fm.Reset()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				clean := continuation.RepairTyped(agRun(t, first, whole))
				require.Len(t, clean.ContentBlocks, 2)
				assert.Equal(t, &schema.Reasoning{Text: "whole", Signature: "sig"}, clean.ContentBlocks[0].Reasoning)
				assert.Equal(t, "Hello.", agText(clean))
			})
		})
	}
}
