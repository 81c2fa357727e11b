package faultllm_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestOllamaWire holds the stream against "Generate a chat completion" of Ollama's docs/api.md.
func TestOllamaWire(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("Hm"), faultllm.Say("a<b"), faultllm.Call("c1", "add", `{"a":`, `1}`), faultllm.Call("c2", "now"),
	)})
	got := talk(t, client(t), s, faultllm.Ollama, speak(faultllm.Ollama, true, says("user", "hello")))
	want := []string{
		`"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}`,
		`"message":{"role":"assistant","content":"a<b"},"done":false}`,
		`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"add","arguments":{"a":1}}}]},"done":false}`,
		`"message":{"role":"assistant","content":"","tool_calls":[{"function":{"index":1,"name":"now","arguments":{}}}]},"done":false}`,
		`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":10000000,` +
			`"load_duration":1000000,"prompt_eval_count":2,"prompt_eval_duration":3000000,"eval_count":6,"eval_duration":6000000}`,
	}
	head := regexp.MustCompile(`^\{"model":"carryon-test-1","created_at":"[^"]+Z",`)
	for i := range got.frames {
		equal(t, "beginning", head.MatchString(got.frames[i]), true)
		got.frames[i] = head.ReplaceAllString(got.frames[i], "")
	}
	sameFrames(t, got.frames, want)
	equal(t, "lines", strings.Count(got.raw, "\n"), len(want))
	equal(t, "content type", got.header.Get("Content-Type"), "application/x-ndjson")
}

// TestOllamaValidator sends requests that the vendor refuses: few, as it takes histories in any order.
func TestOllamaValidator(t *testing.T) {
	hi := says("user", "hi")
	words := func(turns ...turn) speech { return speak(faultllm.Ollama, true, turns...) }
	args := msg{"messages": []msg{{"role": "assistant", "tool_calls": []msg{{"function": msg{"name": "add", "arguments": "{}"}}}}}}
	for _, test := range []struct {
		name    string
		words   speech
		message string
	}{
		{"no model", words(hi).with(msg{"model": ""}), "model is required"},
		{"other role", words(says("model", "hi")), "invalid role: model"},
		{"arguments as text", words(hi).with(args), "cannot unmarshal string"},
		{"tools of another type", words(hi).with(msg{"tools": 7}), "cannot unmarshal number"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x"))})
			refused(t, s, faultllm.Ollama, test.words, test.message)
		})
	}
	say := faultllm.Turn{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("x")}}}
	for _, turns := range [][]turn{
		{hi, {role: "tool", id: "add", text: "1"}, hi}, {hi, says("assistant", ""), hi}, {}, {says("system", "x")},
	} {
		s := start(t, faultllm.Config{Script: faultllm.Script{say, say}})
		equal(t, "taken", talk(t, client(t), s, faultllm.Ollama, words(turns...)).status, http.StatusOK)
	}
	strict := start(t, faultllm.Config{Script: faultllm.Script{say}, StrictAlternation: true})
	refused(t, strict, faultllm.Ollama, words(hi, hi), "conversation roles must alternate: user after user")
}
