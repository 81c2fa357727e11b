package faultllm_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestOpenRouterReasoning holds reasoning against "Reasoning Tokens" of the OpenRouter docs.
func TestOpenRouterReasoning(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Think("Hm"), faultllm.Say("x"))})
	got := talk(t, client(t), s, faultllm.OpenRouter, speak(faultllm.OpenRouter, true, says("user", "hello")))
	for i, want := range []string{
		`"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`,
		`"delta":{"reasoning":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm",` +
			`"format":"anthropic-claude-v1","index":0}]}`,
		`"delta":{"reasoning_details":[{"type":"reasoning.text","signature":"` + faultllm.Sign("Hm") +
			`","format":"anthropic-claude-v1","index":0}]}`,
		`"delta":{"content":"x"}`,
		`"finish_reason":"stop"`,
	} {
		if !strings.Contains(got.frames[i], want) || !strings.Contains(got.frames[i], `"provider":"Example"`) {
			t.Errorf("frame %d = %s, want %s in it", i, got.frames[i], want)
		}
	}
	half := turn{role: "assistant", text: "x", thinking: "H", signature: faultllm.Sign("Hm")}
	fresh := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x"))})
	refused(t, fresh, faultllm.OpenRouter, speak(faultllm.OpenRouter, true, says("user", "hi"), half, says("user", "go on")),
		"Invalid `signature` in `thinking` block")
}

// TestPrefillMarks sends a partial answer as the last message, with and without the vendor's mark.
func TestPrefillMarks(t *testing.T) {
	const anew = "one two"
	last := func(mark msg) []msg {
		m := msg{"role": "assistant", "content": "one"}
		maps.Copy(m, mark)
		return []msg{{"role": "user", "content": "hi"}, m}
	}
	for _, test := range []struct {
		name   string
		vendor faultllm.Vendor
		beta   bool
		strict bool
		mark   msg
		top    msg
		want   string // or the text of the refusal
		marked bool
	}{
		{name: "OpenAI", vendor: faultllm.OpenAI, want: " two"},
		{name: "vLLM", vendor: faultllm.OpenAI, top: msg{"continue_final_message": true}, want: " two", marked: true},
		{name: "Kimi", vendor: faultllm.OpenAI, mark: msg{"partial": true}, want: " two", marked: true},
		{name: "Mistral", vendor: faultllm.OpenAI, strict: true, mark: msg{"prefix": true}, want: " two", marked: true},
		{name: "Mistral unmarked", vendor: faultllm.OpenAI, strict: true, want: "(or Assistant with prefix True)"},
		{name: "Qwen", vendor: faultllm.Qwen, mark: msg{"partial": true}, want: " two", marked: true},
		{name: "Qwen unmarked", vendor: faultllm.Qwen, want: anew},
		{name: "Qwen with another's mark", vendor: faultllm.Qwen, mark: msg{"prefix": true}, want: anew},
		{
			name: "Qwen thinking", vendor: faultllm.Qwen, mark: msg{"partial": true}, top: msg{"enable_thinking": true},
			want: "prefill is incompatible with enable_thinking",
		},
		{name: "DeepSeek", vendor: faultllm.DeepSeek, beta: true, mark: msg{"prefix": true}, want: " two", marked: true},
		{name: "DeepSeek unmarked", vendor: faultllm.DeepSeek, beta: true, want: "must be a user message"},
		{name: "DeepSeek without beta", vendor: faultllm.DeepSeek, mark: msg{"prefix": true}, want: "must be a user message"},
		{name: "OpenRouter", vendor: faultllm.OpenRouter, want: " two"},
		{name: "Ark", vendor: faultllm.Ark, want: " two"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say(anew)), StrictAlternation: test.strict})
			words := speak(test.vendor, true).with(msg{"messages": last(test.mark)}).with(test.top)
			if test.beta {
				words.path = "/beta/chat/completions"
			}
			if !strings.HasSuffix(test.want, "two") {
				refused(t, s, test.vendor, words, test.want)
				return
			}
			got := talk(t, client(t), s, test.vendor, words)
			equal(t, "text", got.text, test.want)
			equal(t, "marked", record(t, s, 0).Request.Marked, test.marked)
			equal(t, "continued", record(t, s, 0).Continued, test.want != anew)
		})
	}
}

// TestRefusePrefill refuses what ends in an assistant message, and nothing else.
func TestRefusePrefill(t *testing.T) {
	want := map[faultllm.Vendor]string{
		faultllm.Gemini: "ends with a user role", faultllm.DeepSeek: "must be a user message", faultllm.Qwen: "prefill is incompatible",
		faultllm.ArkResponses: "must be a user message",
	}
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("one two")), RefusePrefill: true})
		turns := []turn{says("user", "hi"), says("assistant", "one")}
		if v == faultllm.Ollama {
			equal(t, "Ollama begins anew", talk(t, client(t), s, v, speak(v, true, turns...)).text, "one two")
			continue
		}
		text := want[v]
		if text == "" {
			text = "This model does not support assistant message prefill. The conversation must end with a user message."
		}
		refused(t, s, v, speak(v, true, turns...), text)
		got := talk(t, client(t), s, v, speak(v, true, append(turns, says("user", prompt))...))
		equal(t, v.String()+": with a user turn", got.text, " two")
	}
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x")), RefusePrefill: true})
	got := talk(t, client(t), s, faultllm.Anthropic, speak(faultllm.Anthropic, true, says("user", "hi"), says("assistant", "y")))
	equal(t, "do not retry", got.header.Get("X-Should-Retry"), "false")
}

// TestStrictAlternation holds chat completions against the templates of Mistral's models.
func TestStrictAlternation(t *testing.T) {
	hi, said := says("user", "hi"), says("assistant", "x")
	call := turn{role: "assistant", calls: []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: "{}"}}}
	result := turn{role: "tool", id: "call_1", text: "1"}
	for _, test := range []struct {
		name  string
		turns []turn
		want  string
	}{
		{"user after tool", []turn{hi, call, result, hi}, "Unexpected role 'user' after role 'tool'"},
		{"user after user", []turn{hi, hi}, "Unexpected role 'user' after role 'user'"},
		{"assistant after assistant", []turn{hi, said, said, hi}, "Unexpected role 'assistant' after role 'assistant'"},
		{"assistant first", []turn{said, hi}, "Unexpected role 'assistant' after role ''"},
		{"late system", []turn{hi, says("system", "x")}, "Unexpected role 'system' after role 'user'"},
		{"good", []turn{says("system", "x"), hi, call, result, said, hi}, ""},
		{"assistant after tool", []turn{hi, call, result}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			say := faultllm.Turn{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("y")}}}
			s := start(t, faultllm.Config{Script: faultllm.Script{say, say, say}, StrictAlternation: true})
			words := speak(faultllm.OpenAI, true, test.turns...)
			if test.want != "" {
				refused(t, s, faultllm.OpenAI, words, test.want)
				return
			}
			equal(t, "status", talk(t, client(t), s, faultllm.OpenAI, words).status, http.StatusOK)
		})
	}
}

// TestDeepSeekWantsItsReasoning holds the history against "Thinking Mode" of the DeepSeek docs.
func TestDeepSeekWantsItsReasoning(t *testing.T) {
	call := turn{role: "assistant", calls: []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: "{}"}}}
	result := turn{role: "tool", id: "call_1", text: "1"}
	s := start(t, faultllm.Config{Script: faultllm.Script{
		{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Think("hm"), faultllm.Call("call_1", "add", "{}")}}},
		{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("1")}}},
	}})
	words := speak(faultllm.DeepSeek, true, says("user", "hi"), call, result)
	refused(t, s, faultllm.DeepSeek, words, "The `reasoning_content` in the thinking mode must be passed back to the API.")
	equal(t, "OpenAI", talk(t, client(t), s, faultllm.OpenAI, speak(faultllm.OpenAI, true, says("user", "hi"), call, result)).text, "1")
	call.thinking = "hm"
	equal(t, "DeepSeek", talk(t, client(t), s, faultllm.DeepSeek, speak(faultllm.DeepSeek, true, says("user", "hi"), call, result)).text, "1")
}
