package faultllm_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestGeminiWire holds the stream against "Generating content" of the Gemini API reference and "Thought Signatures" of
// the Gemini docs.
func TestGeminiWire(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("Hm"), faultllm.Say("a<b"), faultllm.Call("c1", "add", `{"a":`, ` 1}`), faultllm.Call("c2", "now"),
	)})
	got := talk(t, client(t), s, faultllm.Gemini, speak(faultllm.Gemini, true, says("user", "hello")))
	const tail = `"modelVersion":"carryon-test-1","responseId":"test000000"}`
	want := []string{
		`{"candidates":[{"content":{"parts":[{"text":"Hm","thought":true}],"role":"model"},"index":0}],` +
			`"usageMetadata":{"promptTokenCount":2,"totalTokenCount":3,"thoughtsTokenCount":1},` + tail,
		`{"candidates":[{"content":{"parts":[{"text":"a<b"}],"role":"model"},"index":0}],` +
			`"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":1,"totalTokenCount":4,"thoughtsTokenCount":1},` + tail,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"add","args":{"a":1}},"thoughtSignature":"` +
			faultllm.SignCall("add", `{"a":1}`) + `"}],"role":"model"},"index":0}],` +
			`"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":4,"totalTokenCount":7,"thoughtsTokenCount":1},` + tail,
		`{"candidates":[{"content":{"parts":[{"functionCall":{"name":"now","args":{}}}],"role":"model"},"index":0}],` +
			`"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":5,"totalTokenCount":8,"thoughtsTokenCount":1},` + tail,
		`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"finishReason":"STOP","index":0}],` +
			`"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":5,"totalTokenCount":8,"thoughtsTokenCount":1},` + tail,
	}
	sameFrames(t, got.frames, want)
	equal(t, "ends of frames", strings.Count(got.raw, "\r\n\r\n"), len(want))
	plain := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Think("Hm"), faultllm.Say("x"))})
	for _, stream := range []bool{true, false} {
		got = talk(t, client(t), plain, faultllm.Gemini, speak(faultllm.Gemini, stream, says("user", "hello")))
		equal(t, "signature of the text", got.signature, faultllm.Sign("Hm"))
	}
}

// TestGeminiValidator sends requests that the vendor refuses.
func TestGeminiValidator(t *testing.T) {
	hi, goOn := says("user", "hi"), says("user", "go on")
	add := faultllm.ToolCall{Name: "add", Args: `{"a":1}`}
	call := turn{role: "assistant", calls: []faultllm.ToolCall{add}, signed: faultllm.SignCall(add.Name, add.Args)}
	two := turn{role: "assistant", calls: []faultllm.ToolCall{add, add}, signed: call.signed}
	unsigned := turn{role: "assistant", calls: call.calls}
	foreign := turn{role: "assistant", calls: call.calls, signed: faultllm.SignCall("add", `{"a":2}`)}
	result := turn{role: "tool", id: "add", text: "1"}
	words := func(turns ...turn) speech { return speak(faultllm.Gemini, true, turns...) }
	contents := func(c ...msg) speech { return words().with(msg{"contents": c}) }
	text := []msg{{"text": "x"}}
	const count = "number of function response parts is equal to the number of function call parts"
	for _, test := range []struct {
		name    string
		words   speech
		message string
	}{
		{"no contents", words(), "contents is not specified"},
		{"no parts", contents(msg{"role": "user", "parts": []msg{}}), "contents[0].parts: contents.parts must not be empty"},
		{"model without parts", words(hi, turn{role: "assistant"}, goOn), "contents[1].parts: contents.parts must not be empty"},
		{"empty part", contents(msg{"role": "user", "parts": []msg{{}}}), "required oneof field 'data'"},
		{"other role", contents(msg{"role": "system", "parts": text}), "Please use a valid role: user, model."},
		{"unanswered call", words(hi, call, goOn), count},
		{"unanswered call at the end", words(hi, call), count},
		{"half of the calls answered", words(hi, two, result, goOn), count},
		{"too many results", words(hi, call, result, result), count},
		{"result without a call", words(hi, result), "function response turn comes immediately after a function call turn"},
		{"call behind a text", words(hi, says("assistant", "x"), call, result), "function call turn comes immediately after"},
		{"call first", words(call, result), "function call turn comes immediately after"},
		{"foreign signature", words(hi, foreign, result), "Corrupted thought signature."},
		{"signature that is none", words(hi, turn{role: "assistant", text: "x", signature: "eA=="}, goOn), "Corrupted thought signature."},
		{
			"half thinking with the whole one's signature",
			words(hi, turn{role: "assistant", text: "x", thinking: "h", signature: faultllm.Sign("hm")}, goOn), "Corrupted thought signature.",
		},
		{"missing signature", words(hi, unsigned, result), "Function call is missing a thought_signature in functionCall parts."},
		{"not as events", speech{path: strings.TrimSuffix(words(hi).path, "?alt=sse"), body: words(hi).body}, "alt=sse"},
		{"tools of another type", words(hi).with(msg{"tools": 7}), "Invalid value at 'tools'"},
		{"no JSON object", words(hi).with(msg{"contents": 7}), "Invalid JSON payload received."},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Think("hm"), faultllm.Call("c", add.Name, add.Args))})
			refused(t, s, faultllm.Gemini, test.words, test.message)
		})
	}
}

// TestGeminiTakes sends histories that the vendor takes.
func TestGeminiTakes(t *testing.T) {
	hi := says("user", "hi")
	add := faultllm.ToolCall{Name: "add", Args: `{"a":1}`}
	call := turn{role: "assistant", calls: []faultllm.ToolCall{add, add}, signed: faultllm.SignCall("add", `{ "a": 1}`)}
	unsigned := turn{role: "assistant", calls: []faultllm.ToolCall{add}}
	result := turn{role: "tool", id: "add", text: "1"}
	say := faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("x")}}
	script := faultllm.Script{{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Think("hm"), faultllm.Call("c", "add", add.Args)}}}}
	for range 3 {
		script = append(script, faultllm.Turn{Answer: say})
	}
	for name, turns := range map[string][]turn{
		"the first of parallel calls is signed": {hi, call, result, result},
		"calls of earlier turns need none":      {hi, unsigned, result, says("assistant", "1"), hi},
		"thinking with its signature":           {hi, {role: "assistant", text: "x", thinking: "hm", signature: faultllm.Sign("hm")}, hi},
		"signature without its thinking":        {hi, {role: "assistant", text: "x", signature: faultllm.Sign("hm")}, hi},
		"two turns of one role":                 {hi, says("assistant", "x"), says("assistant", "y"), hi},
	} {
		s := start(t, faultllm.Config{Script: script})
		got := talk(t, client(t), s, faultllm.Gemini, speak(faultllm.Gemini, true, turns...))
		if got.status != http.StatusOK {
			t.Errorf("%s: %s", name, got.raw)
		}
	}
	strict := start(t, faultllm.Config{Script: script, StrictAlternation: true})
	refused(t, strict, faultllm.Gemini, speak(faultllm.Gemini, true, hi, hi), "alternate between user and model")
}
