package faultllm_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestAnthropicWire holds the stream against "Streaming Messages" and "Building with extended thinking" of the Claude
// docs.
func TestAnthropicWire(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("H", "m"), faultllm.Say("a<b"), faultllm.Call("toolu_1", "add", `{"a":`, `1}`), faultllm.Call("toolu_2", "now"),
	)})
	got := talk(t, client(t), s, faultllm.Anthropic, speak(faultllm.Anthropic, true, says("user", "hello")))
	want := []string{
		`{"type":"message_start","message":{"id":"msg_test000000","type":"message","role":"assistant",` +
			`"model":"carryon-test-1","content":[],"stop_reason":null,"stop_sequence":null,` +
			`"usage":{"input_tokens":2,"output_tokens":1}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
		`{"type": "ping"}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"H"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"m"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"` + faultllm.Sign("Hm") + `"}}`,
		`{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"a<b"}}`,
		`{"type":"content_block_stop","index":1}`,
		`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"add","input":{}}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`,
		`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}`,
		`{"type":"content_block_stop","index":2}`,
		`{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"now","input":{}}}`,
		`{"type":"content_block_stop","index":3}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},` +
			`"usage":{"input_tokens":2,"output_tokens":6,"output_tokens_details":{"thinking_tokens":1}}}`,
		`{"type":"message_stop"}`,
	}
	sameFrames(t, got.frames, want)
	names := strings.Count(got.raw, "event: ")
	equal(t, "named events", names, len(want))
	equal(t, "first event", strings.HasPrefix(got.raw, "event: message_start\ndata: {"), true)
}

func sameFrames(t *testing.T, got, want []string) {
	t.Helper()
	equal(t, "frames", len(got), len(want))
	for i := range min(len(got), len(want)) {
		equal(t, "frame", got[i], want[i])
	}
}

// TestAnthropicValidator sends requests that the vendor refuses.
func TestAnthropicValidator(t *testing.T) {
	hi, goOn := says("user", "hi"), says("user", "go on")
	call := turn{role: "assistant", calls: []faultllm.ToolCall{{ID: "toolu_1", Name: "add", Args: "{}"}}}
	two := turn{role: "assistant", calls: append(slices.Clone(call.calls), faultllm.ToolCall{ID: "toolu_2", Name: "add", Args: "{}"})}
	result := func(id string) turn { return turn{role: "tool", id: id, text: "1"} }
	words := func(turns ...turn) speech { return speak(faultllm.Anthropic, true, turns...) }
	content := func(role string, content any) speech {
		return words().with(msg{"messages": []msg{{"role": "user", "content": "hi"}, {"role": role, "content": content}}})
	}
	use := func(with msg) []msg { return []msg{with} }
	thinking := turn{role: "assistant", thinking: "hm", signature: faultllm.Sign("hm")}
	for _, test := range []struct {
		name    string
		words   speech
		message string
	}{
		{"no model", words(hi).with(msg{"model": ""}), "model: Field required"},
		{"no limit", words(hi).with(msg{"max_tokens": 0}), "max_tokens: Field required"},
		{"no messages", words(), "at least one message is required"},
		{"no version", speech{path: "/v1/messages", body: words(hi).body}, "anthropic-version: header is required"},
		{"first of the assistant", words(says("assistant", "x"), hi), `first message must use the "user" role`},
		{"system in the middle", content("system", "x"), `Unexpected role "system"`},
		{"empty text", content("user", ""), "messages.1: all messages must have non-empty content"},
		{"no blocks", content("user", []msg{}), "messages.1: all messages must have non-empty content"},
		{"content of another type", content("user", 7), "messages.1.content: Input should be a valid list"},
		{"empty block", content("assistant", use(msg{"type": "text", "text": ""})), "text content blocks must be non-empty"},
		{"blank block", content("assistant", use(msg{"type": "text", "text": " \n"})), "must contain non-whitespace text"},
		{"unknown block", content("user", use(msg{"type": "sound"})), "Input tag 'sound'"},
		{"trailing white space", words(hi, says("assistant", "x ")), "cannot end with trailing whitespace"},
		{"unsigned thinking", content("assistant", use(msg{"type": "thinking", "thinking": "hm"})), "signature: Field required"},
		{
			"half thinking with the whole one's signature",
			words(hi, turn{role: "assistant", thinking: "h", signature: faultllm.Sign("hm"), text: "x"}, goOn),
			"messages.1.content.0: Invalid `signature` in `thinking` block",
		},
		{"thinking only", words(hi, thinking, goOn), "The final block in an assistant message cannot be `thinking`"},
		{"unanswered call", words(hi, call, goOn), "were found without `tool_result` blocks immediately after: toolu_1"},
		{"unanswered call at the end", words(hi, call), "were found without `tool_result` blocks immediately after: toolu_1"},
		{"half of the calls answered", words(hi, two, result("toolu_1")), "immediately after: toolu_2"},
		{"hint before the results", words(hi, call, goOn, result("toolu_1")), "immediately after: toolu_1"},
		{"result without a call", words(hi, result("toolu_1")), "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1"},
		{"result of another call", words(hi, call, result("toolu_2")), "unexpected `tool_use_id`"},
		{"result twice", words(hi, call, result("toolu_1"), result("toolu_1")), "each tool_use must have a single result"},
		{
			"an id again", words(hi, call, result("toolu_1"), call, result("toolu_1")), "`tool_use` ids must be unique",
		},
		{
			"result from the assistant",
			content("assistant", use(msg{"type": "tool_result", "tool_use_id": "toolu_1", "content": "1"})),
			"can only be in `user` messages",
		},
		{
			"input that is no object",
			content("assistant", use(msg{"type": "tool_use", "id": "toolu_1", "name": "add", "input": "{"})),
			"tool_use.input: Input should be a valid dictionary",
		},
		{"no input", content("assistant", use(msg{"type": "tool_use", "id": "toolu_1", "name": "add"})), "tool_use.input: Field required"},
		{"bad id", content("assistant", use(msg{"type": "tool_use", "id": "a b", "name": "add"})), "should match pattern"},
		{"no name", content("assistant", use(msg{"type": "tool_use", "id": "a", "input": msg{}})), "tool_use.name"},
		{
			"prefill with thinking", words(hi, says("assistant", "x")).with(msg{"thinking": msg{"type": "enabled"}}),
			"Expected `thinking` or `redacted_thinking`, but found `text`",
		},
		{
			"call without its thinking", words(hi, call, result("toolu_1")).with(msg{"thinking": msg{"type": "enabled"}}),
			"Expected `thinking` or `redacted_thinking`, but found `tool_use`",
		},
		{"tools of another type", words(hi).with(msg{"tools": 7}), "tools: Input should be a valid list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Think("hm"), faultllm.Call("toolu_1", "add", "{}"))})
			refused(t, s, faultllm.Anthropic, test.words, test.message)
		})
	}
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x"))})
	got := talkRaw(t, client(t), s, faultllm.Anthropic, words(hi), []byte(`{"messages":[{"input":{"x":,}]}`))
	equal(t, "broken body", got.status, http.StatusBadRequest)
}

// refused checks that the words are a 400 with a message, and cost nothing.
func refused(t *testing.T, s *faultllm.Server, v faultllm.Vendor, words speech, message string) {
	t.Helper()
	got := talk(t, client(t), s, v, words)
	equal(t, "status", got.status, http.StatusBadRequest)
	if !strings.Contains(strings.ReplaceAll(got.raw, `\"`, `"`), message) {
		t.Errorf("body = %s, want %q in it", got.raw, message)
	}
	rec := record(t, s, s.Ledger().Requests-1)
	equal(t, "recorded status", rec.Status, http.StatusBadRequest)
	equal(t, "turn", rec.Turn, -1)
	equal(t, "billed", s.Ledger().Billed(), 0)
}

// TestAnthropicMerges sends what the vendor takes although it is not pretty.
func TestAnthropicMerges(t *testing.T) {
	say := faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("one two")}}
	s := start(t, faultllm.Config{Script: faultllm.Script{{Answer: say}, {Answer: say}}})
	words := speak(faultllm.Anthropic, true, says("user", "hi"), says("user", "there"), says("assistant", "one"), says("assistant", " t"))
	got := talk(t, client(t), s, faultllm.Anthropic, words)
	equal(t, "joined and continued", got.text, "wo")
	equal(t, "messages", len(record(t, s, 0).Request.Messages), 3)
	strict := start(t, faultllm.Config{Script: faultllm.Script{{Answer: say}}, StrictAlternation: true})
	refused(t, strict, faultllm.Anthropic, words, `roles must alternate between "user" and "assistant", but found multiple "user"`)
}
