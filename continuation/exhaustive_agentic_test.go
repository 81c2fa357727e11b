package continuation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// agAnswers are answers of agentic models, one for each kind of content and for how kinds follow one another.
func agAnswers() map[string]fm.Script {
	end, tools := fm.StopReason("end_turn", 7, 11), fm.StopReason("tool_use", 7, 11)
	thought := fm.ThenMore(fm.BlockThought(0, "Let me ", ""), fm.BlockThought(0, "see.", ""), fm.BlockThought(0, "", "c2ln"))
	search := func(i int) fm.Step {
		return fm.ThenMore(fm.BlockServerCall(i, "s1", "web_search", `{"q":"`), fm.BlockServerCall(i, "", "", `tea"}`),
			fm.BlockServerResult(i+1, "s1", "web_search", "Tea is "), fm.BlockServerResult(i+1, "", "", "a drink."))
	}
	mcp := func(i int) fm.Step {
		return fm.ThenMore(fm.BlockMCPCall(i, "m1", "read", `{"f":`), fm.BlockMCPCall(i, "", "", `"a"}`),
			fm.BlockMCPResult(i+1, "m1", "read", "the file"))
	}

	return map[string]fm.Script{
		"text":    {fm.BlockText(0, "The cat "), fm.BlockText(0, "sat on "), fm.BlockText(0, "the mat."), end},
		"thought": {thought, fm.BlockText(1, "Blue "), fm.BlockText(1, "and green."), end},
		"call": {
			fm.BlockText(0, "I will look. "), fm.BlockCall(1, "c1", "look", ""), fm.BlockCall(1, "", "", `{"a":`),
			fm.BlockCall(1, "", "", `1}`), tools,
		},
		"two calls": {
			fm.BlockCall(0, "c1", "look", `{"a":`), fm.BlockCall(0, "", "", `1}`),
			fm.BlockCall(1, "c2", "listen", `{"b"`), fm.BlockCall(1, "", "", `:2}`), tools,
		},
		"search":        {fm.BlockText(0, "First. "), search(1), fm.BlockText(3, "It is "), fm.BlockText(3, "a drink."), end},
		"search first":  {thought, search(1), fm.BlockText(3, "It is "), fm.BlockText(3, "a drink."), end},
		"search a call": {search(0), fm.BlockCall(2, "c1", "look", `{"a":`), fm.BlockCall(2, "", "", `1}`), tools},
		"mcp":           {fm.BlockText(0, "Reading. "), mcp(1), fm.BlockText(3, "It says "), fm.BlockText(3, "so."), end},
		"mixed": {
			thought, fm.BlockText(1, "One. "), search(2), fm.BlockText(4, "Two. "), mcp(5), fm.BlockText(7, "Three. "),
			fm.BlockCall(8, "c1", "look", `{"a":`), fm.BlockCall(8, "", "", `1}`), tools,
		},
	}
}

func agFaults() map[string]fm.Step {
	return map[string]fm.Step{
		"reset": fm.Reset(), "cut body": fm.UnexpectedEOF(), "clean end": fm.EOF(), "stall": fm.Stall(),
		"overloaded": fm.Fail(errors.New("overloaded_error: Overloaded")),
	}
}

// TestAgenticEveryBreak breaks every answer behind every chunk in every way, and once more in the continuation. The
// message that comes out is the unbroken one, or that with the whole calls where the answer ends with them; every request
// is one that a strict provider takes.
func TestAgenticEveryBreak(t *testing.T) {
	agRegister(t)
	t.Parallel()
	answers := agClients()
	for name, script := range agAnswers() {
		answers[name] = agOf{"AgenticClaude", script}
	}
	for name, answer := range answers {
		for fault, step := range agFaults() {
			if answer.typ == "Another" && fault == "clean end" {
				continue // of a model that is not known, that is no break as long as it sent no finish reason
			}
			for at := range answer.script.Chunks() {
				for second := -1; second < 3; second++ {
					t.Run(fmt.Sprintf("%s/%s/%d/%d", name, fault, at, second), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) {
							breaks := []fm.Break{fm.BreakAt(at, step)}
							if second >= 0 {
								breaks = append(breaks, fm.BreakAt(second, step))
							}
							agCheck(t, answer, breaks...)
						})
					})
				}
			}
		}
	}
}

// TestAgenticUnbroken: an answer that does not break is the wrapped model's own, down to the Extra of every block.
func TestAgenticUnbroken(t *testing.T) {
	agRegister(t)
	t.Parallel()
	answers := agClients()
	for name, script := range agAnswers() {
		answers[name] = agOf{"AgenticClaude", script}
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.NewAgentic(answer.script)
			inner.TypeName(answer.typ)
			r, err := typed(t, inner).Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
			require.NoError(t, err)
			chunks, err := fm.CollectAny(r)
			require.NoError(t, err)
			assert.Equal(t, fm.ConcatAgentic(t, answer.script.AgenticChunks()), fm.ConcatAgentic(t, chunks))
			assert.Len(t, inner.Requests(), 1)
		})
	}
}

func agCheck(t *testing.T, answer agOf, breaks ...fm.Break) {
	t.Helper()
	inner := fm.AgenticContinuer(answer.script, breaks...)
	inner.TypeName(answer.typ)
	m := typed(t, inner)
	in := []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")}
	r, err := m.Stream(t.Context(), in)
	require.NoError(t, err)
	chunks, err := fm.CollectAny(r)
	require.NoError(t, err)
	msg := continuation.RepairTyped(fm.ConcatAgentic(t, chunks))
	whole := fm.ConcatAgentic(t, answer.script.AgenticChunks())

	assert.Equal(t, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")}, in, "the input was changed")
	agCallsWhole(t, chunks)
	agWithoutStatus(whole, msg)
	require.NotNil(t, msg.ResponseMeta)
	if !agEndsWithCalls(msg, whole) {
		assert.Equal(t, agText(whole), agText(msg))
		assert.Equal(t, whole.ContentBlocks, msg.ContentBlocks)
	}
	agSameEnding(t, whole.ResponseMeta, msg.ResponseMeta)
	require.NoError(t, fm.ValidAgentic(append(in, msg, agResults(msg))), "sent back, the message is refused")
	require.NoError(t, inner.WaitIdle(t.Context()))
	assert.Zero(t, inner.Unclosed())
}

// agWithoutStatus takes away what is told of a call or a text behind its end: whole arguments end the answer without it,
// and the model of the test has nothing to add to a whole text.
func agWithoutStatus(messages ...*schema.AgenticMessage) {
	for _, m := range messages {
		for _, b := range m.ContentBlocks {
			if b.FunctionToolCall != nil || b.AssistantGenText != nil {
				delete(b.Extra, "item-status")
			}
		}
	}
}

// agSameEnding checks what the message says of its response.
func agSameEnding(t *testing.T, want, got *schema.AgenticResponseMeta) {
	t.Helper()
	w, g := *want, *got
	w.TokenUsage, g.TokenUsage = nil, nil
	assert.Equal(t, w, g)
}

// agEndsWithCalls reports whether msg is whole as far as it goes and ends with calls that arrived whole.
func agEndsWithCalls(msg, whole *schema.AgenticMessage) bool {
	n := len(msg.ContentBlocks)
	if n >= len(whole.ContentBlocks) || n == 0 || msg.ContentBlocks[n-1].FunctionToolCall == nil {
		return false
	}
	for i, b := range msg.ContentBlocks {
		if fmt.Sprint(b.Type) != fmt.Sprint(whole.ContentBlocks[i].Type) {
			return false
		}
	}

	return true
}

// agCallsWhole checks that no chunk shows half a call.
func agCallsWhole(t *testing.T, chunks []*schema.AgenticMessage) {
	t.Helper()
	for _, c := range chunks {
		for _, b := range c.ContentBlocks {
			if b.FunctionToolCall != nil && b.FunctionToolCall.Arguments != "" {
				assert.True(t, json.Valid([]byte(b.FunctionToolCall.Arguments)), "half a call: %v", b.FunctionToolCall)
			}
		}
	}
}

func agText(m *schema.AgenticMessage) string {
	text := ""
	for _, b := range m.ContentBlocks {
		if b.AssistantGenText != nil {
			text += b.AssistantGenText.Text
		}
	}

	return text
}

// agResults returns the results of a message's calls, or another question.
func agResults(m *schema.AgenticMessage) *schema.AgenticMessage {
	out := &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser}
	for _, b := range m.ContentBlocks {
		if b.FunctionToolCall != nil {
			out.ContentBlocks = append(out.ContentBlocks, schema.NewContentBlock(&schema.FunctionToolResult{
				CallID: b.FunctionToolCall.CallID, Name: b.FunctionToolCall.Name,
			}))
		}
	}
	if len(out.ContentBlocks) == 0 {
		return schema.UserAgenticMessage("And?")
	}

	return out
}
