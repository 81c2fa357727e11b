package continuation_test

import (
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
	"github.com/cloudwego/eino/schema/gemini"
	"github.com/cloudwego/eino/schema/openai"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// agItemID and agItemStatus stand for the types of a client's own that it keeps in the Extra of a block and tells Eino how
// to join.
type (
	agItemID     string
	agItemStatus string
)

// agRegister tells Eino how they are joined. It must be called before the test runs in parallel.
func agRegister(t *testing.T) {
	t.Helper()
	compose.RegisterStreamChunkConcatFunc(func(ids []agItemID) (agItemID, error) { return ids[0], nil })
	compose.RegisterStreamChunkConcatFunc(func(s []agItemStatus) (agItemStatus, error) { return s[len(s)-1], nil })
}

// agOf is an answer in the form of one client.
type agOf struct {
	typ    string
	script fm.Script
}

// agClients are answers in the forms that clients give them.
func agClients() map[string]agOf {
	return map[string]agOf{
		"openai responses": {"OpenAI", agResponses()},
		"claude":           {"AgenticClaude", agClaude()},
		"gemini":           {"Gemini", agGemini()},
		"another":          {"Another", agOther()},
	}
}

func agItem(b *schema.ContentBlock, index int, id, status string) *schema.ContentBlock {
	b.StreamingMeta = &schema.StreamingMeta{Index: index}
	b.Extra = map[string]any{"item-id": agItemID(id)}
	if status != "" {
		b.Extra["item-status"] = agItemStatus(status)
	}

	return b
}

func agChunk(meta *schema.AgenticResponseMeta, extra map[string]any, blocks ...*schema.ContentBlock) fm.Step {
	return fm.AgenticChunk(&schema.AgenticMessage{
		Role: schema.AgenticRoleTypeAssistant, ContentBlocks: blocks, ResponseMeta: meta, Extra: extra,
	})
}

// agResponses: every event of an item is a chunk, with the item's id; a done event comes behind each item, also behind a
// tool call whose arguments are whole.
func agResponses() fm.Script {
	meta := func(s openai.ResponseStatus, usage *schema.TokenUsage) *schema.AgenticResponseMeta {
		return &schema.AgenticResponseMeta{OpenAIExtension: &openai.ResponseMetaExtension{ID: "r1", Status: s}, TokenUsage: usage}
	}
	item := func(b *schema.ContentBlock, index int, id, status string) fm.Step {
		return agChunk(nil, nil, agItem(b, index, id, status))
	}
	thought := func(r schema.Reasoning, status string) fm.Step {
		return item(schema.NewContentBlock(&r), 0, "rs1", status)
	}
	search := func(args any, status string) fm.Step {
		return item(schema.NewContentBlock(&schema.ServerToolCall{Name: "web_search", CallID: "ws1", Arguments: args}), 1, "ws1", status)
	}
	text := func(s, status string) fm.Step {
		return item(schema.NewContentBlock(&schema.AssistantGenText{Text: s}), 3, "msg1", status)
	}
	call := func(c schema.FunctionToolCall, status string) fm.Step {
		return item(schema.NewContentBlock(&c), 4, "fc1", status)
	}

	return fm.Script{
		agChunk(meta(openai.ResponseStatusInProgress, nil), map[string]any{"generated": true}),
		thought(schema.Reasoning{Signature: "enc"}, "in_progress"), thought(schema.Reasoning{Text: "Look "}, ""),
		thought(schema.Reasoning{Text: "first."}, ""), thought(schema.Reasoning{}, "completed"),
		search(nil, "in_progress"), search(nil, "completed"), search(`{"q":"tea"}`, "completed"),
		item(schema.NewContentBlock(&schema.ServerToolResult{Name: "web_search", CallID: "ws1", Content: "a drink"}), 2, "ws1", "completed"),
		text("", "in_progress"), text("Tea is ", ""), text("a drink.", ""), text("", "completed"),
		call(schema.FunctionToolCall{CallID: "c1", Name: "look"}, "in_progress"),
		call(schema.FunctionToolCall{Arguments: `{"a":`}, ""), call(schema.FunctionToolCall{Arguments: `1}`}, ""),
		call(schema.FunctionToolCall{CallID: "c1", Name: "look"}, "completed"),
		agChunk(meta(openai.ResponseStatusCompleted, &schema.TokenUsage{PromptTokens: 3, CompletionTokens: 4, TotalTokens: 7}), nil),
	}
}

// agClaude: a block begins with a chunk of its own, a signature comes behind the thought, results come whole.
func agClaude() fm.Script {
	return fm.Script{
		agChunk(&schema.AgenticResponseMeta{ClaudeExtension: &claude.ResponseMetaExtension{ID: "msg1"}}, nil),
		fm.BlockThought(0, "", ""), fm.BlockThought(0, "Look ", ""), fm.BlockThought(0, "first.", ""), fm.BlockThought(0, "", "c2ln"),
		fm.BlockText(1, ""), fm.BlockText(1, "I will "), fm.BlockText(1, "search."),
		fm.BlockServerCall(2, "s1", "web_search", ""), fm.BlockServerCall(2, "", "", `{"q":"tea"}`),
		fm.BlockServerResult(3, "s1", "web_search", "a drink"),
		fm.BlockText(4, ""), fm.BlockText(4, "It is "), fm.BlockText(4, "a drink."), fm.StopReason("end_turn", 7, 9),
	}
}

// agGemini: a chunk may hold several blocks, each says of the response what there is, calls come whole and without ids, and
// what signs a block is bytes in its Extra.
func agGemini() fm.Script {
	meta := func(reason string, n int) *schema.AgenticResponseMeta {
		return &schema.AgenticResponseMeta{
			GeminiExtension: &gemini.ResponseMetaExtension{FinishReason: reason},
			TokenUsage:      &schema.TokenUsage{PromptTokens: 5, CompletionTokens: n, TotalTokens: 5 + n},
		}
	}
	at := func(b *schema.ContentBlock, index int) *schema.ContentBlock {
		b.StreamingMeta = &schema.StreamingMeta{Index: index}

		return b
	}
	thought := func(s string) *schema.ContentBlock {
		return at(schema.NewContentBlock(&schema.Reasoning{Text: s, Signature: "sig"}), 0)
	}
	text := func(s string, index int) *schema.ContentBlock {
		return at(schema.NewContentBlock(&schema.AssistantGenText{Text: s}), index)
	}
	call := at(schema.NewContentBlock(&schema.FunctionToolCall{Name: "look", Arguments: `{"a":1}`}), 5)
	call.Extra = map[string]any{"thought_signature": []byte("bytes")}
	extra := map[string]any{"generated": true}

	return fm.Script{
		agChunk(meta("", 1), extra, thought("Look first."), text("I will ", 1)),
		agChunk(meta("", 2), extra, text("compute.", 1),
			at(schema.NewContentBlock(&schema.ServerToolCall{Name: "code", Arguments: "1+1"}), 2)),
		agChunk(meta("", 3), extra, at(schema.NewContentBlock(&schema.ServerToolResult{Name: "code", Content: "2"}), 3), text("It is ", 4)),
		agChunk(meta("", 4), extra, text("two.", 4), call),
		agChunk(meta("STOP", 5), extra),
	}
}

// agEnding is the extension of a client that the decorator does not know.
type agEnding struct{ ID, FinishReason string }

// agOther says how it ended in an extension of its own.
func agOther() fm.Script {
	return fm.Script{
		fm.BlockText(0, "One "), fm.BlockText(0, "two "), fm.BlockText(0, "three."),
		agChunk(&schema.AgenticResponseMeta{Extension: &agEnding{ID: "x", FinishReason: "stop"}}, nil),
	}
}
