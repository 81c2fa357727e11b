package faultllm_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestResponsesWire holds the stream against the vendor's published events.
func TestResponsesWire(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("Hm"), faultllm.Say("a<b", "é"), faultllm.Call("call_1", "add", `{"a":`, `1}`),
	)})
	got := talk(t, client(t), s, faultllm.ArkResponses, speak(faultllm.ArkResponses, true, says("user", "hello")))
	const response = `"response":{"id":"resp_test000000","object":"response","created_at":0,"model":"carryon-test-1","status":`
	const rs, msg, fc = `"item_id":"rs_test000000_0"`, `"item_id":"msg_test000000_1"`, `"item_id":"fc_test000000_2"`
	want := []string{
		`created",` + response + `"in_progress"}`,
		`in_progress",` + response + `"in_progress"}`,
		`output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_test000000_0","status":"in_progress"}`,
		`reasoning_summary_part.added","output_index":0,` + rs + `,"summary_index":0,"part":{"type":"summary_text","text":""}`,
		`reasoning_summary_text.delta","output_index":0,` + rs + `,"summary_index":0,"delta":"Hm"`,
		`reasoning_summary_text.done","output_index":0,` + rs + `,"summary_index":0,"text":"Hm"`,
		`reasoning_summary_part.done","output_index":0,` + rs + `,"summary_index":0,"part":{"type":"summary_text","text":"Hm"}`,
		`output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_test000000_0","status":"completed",` +
			`"summary":[{"type":"summary_text","text":"Hm"}]}`,
		`output_item.added","output_index":1,"item":{"type":"message","id":"msg_test000000_1","status":"in_progress","role":"assistant"}`,
		`content_part.added","output_index":1,` + msg + `,"content_index":0,"part":{"type":"output_text","text":""}`,
		`output_text.delta","output_index":1,` + msg + `,"content_index":0,"delta":"a<b"`,
		`output_text.delta","output_index":1,` + msg + `,"content_index":0,"delta":"é"`,
		`output_text.done","output_index":1,` + msg + `,"content_index":0,"text":"a<bé"`,
		`content_part.done","output_index":1,` + msg + `,"content_index":0,"part":{"type":"output_text","text":"a<bé"}`,
		`output_item.done","output_index":1,"item":{"type":"message","id":"msg_test000000_1","status":"completed",` +
			`"role":"assistant","content":[{"type":"output_text","text":"a<bé"}]}`,
		`output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_test000000_2","status":"in_progress",` +
			`"call_id":"call_1","name":"add","arguments":""}`,
		`function_call_arguments.delta","output_index":2,` + fc + `,"delta":"{\"a\":"`,
		`function_call_arguments.delta","output_index":2,` + fc + `,"delta":"1}"`,
		`function_call_arguments.done","output_index":2,` + fc + `,"arguments":"{\"a\":1}"`,
		`output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_test000000_2","status":"completed",` +
			`"call_id":"call_1","name":"add","arguments":"{\"a\":1}"}`,
		`completed",` + response + `"completed","output":[` +
			`{"type":"reasoning","id":"rs_test000000_0","status":"completed","summary":[{"type":"summary_text","text":"Hm"}]},` +
			`{"type":"message","id":"msg_test000000_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"a<bé"}]},` +
			`{"type":"function_call","id":"fc_test000000_2","status":"completed","call_id":"call_1","name":"add","arguments":"{\"a\":1}"}` +
			`],"usage":{"input_tokens":2,"output_tokens":6,"total_tokens":8,` +
			`"input_tokens_details":{"cached_tokens":0},"output_tokens_details":{"reasoning_tokens":1}}}`,
	}
	frames := strings.Split(strings.TrimSuffix(got.raw, "\n\n"), "\n\n")
	equal(t, "frames", len(frames), len(want)+1)
	created := regexp.MustCompile(`"created_at":\d+`)
	for i, w := range want {
		name, _, _ := strings.Cut(w, `"`)
		full := fmt.Sprintf("event: response.%s\ndata: {\"type\":\"response.%s,\"sequence_number\":%d}", name, w, i)
		equal(t, "frame", created.ReplaceAllString(frames[i], `"created_at":0`), full)
	}
	equal(t, "last frame", frames[len(want)], "data: [DONE]")
}

// TestResponsesValidator sends requests that the vendor refuses.
func TestResponsesValidator(t *testing.T) {
	call := turn{role: "assistant", calls: []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: "{}"}}}
	result := turn{role: "tool", id: "call_1", text: "1"}
	for name, test := range map[string]struct {
		body    msg
		message string
	}{
		"no model":         {msg{"input": "hi"}, "the model is missing"},
		"no input":         {msg{"model": "m", "input": []msg{}}, "the input is empty"},
		"input of a type":  {msg{"model": "m", "input": 7}, "neither a text nor a list"},
		"tools of a type":  {msg{"model": "m", "input": "hi", "tools": 7}, "the tools are no list"},
		"unknown item":     {msg{"model": "m", "input": []msg{{"type": "thing"}}}, "the type thing"},
		"unknown role":     {responsesBody(true, []turn{says("model", "hi")}), `the role "model" is not known`},
		"empty text":       {responsesBody(true, []turn{says("user", "")}), "the content of a message is empty"},
		"empty assistant":  {responsesBody(true, []turn{says("user", "hi"), says("assistant", ""), says("user", "so?")}), "is empty"},
		"call without":     {responsesBody(true, []turn{says("user", "hi"), call, says("user", "so?")}), "no output found for the function call call_1"},
		"call at the end":  {responsesBody(true, []turn{says("user", "hi"), call}), "no output found for the function call call_1"},
		"result without":   {responsesBody(true, []turn{says("user", "hi"), result}), "no function call has the call_id"},
		"result twice":     {responsesBody(true, []turn{says("user", "hi"), call, result, result}), "no function call has the call_id"},
		"broken arguments": {responsesBody(true, []turn{says("user", "hi"), {role: "assistant", calls: []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: "{"}}}, result}), "are no JSON"},
		"unmarked prefill": {msg{"model": "m", "input": []msg{
			{"role": "user", "content": "hi"}, {"role": "assistant", "content": "one"},
		}}, "must be a user message"},
		"not stored": {msg{"model": "m", "input": "hi", "previous_response_id": "resp_invented"}, "resp_invented is not stored"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("one two"))})
			refused(t, s, faultllm.ArkResponses, speech{path: "/responses", body: test.body}, test.message)
		})
	}
}

// TestResponsesAreStored goes on from a response that came to its end, and is refused with one that broke, that was not to
// be stored, or that nobody has made.
func TestResponsesAreStored(t *testing.T) {
	script := faultllm.Script{
		{Says: "hello", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("one ", "two")}}},
		{Says: "next", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("three")}}},
	}
	for name, test := range map[string]struct {
		fault  faultllm.Fault
		store  bool
		stream bool
		status int
	}{
		"whole":               {store: true, stream: true, status: http.StatusOK},
		"not streamed":        {store: true, status: http.StatusOK},
		"not to be stored":    {stream: true, status: http.StatusBadRequest},
		"broken":              {fault: faultllm.CleanEnd(faultllm.InText(1)), store: true, stream: true, status: http.StatusBadRequest},
		"broken in a byte":    {fault: faultllm.CleanEnd(faultllm.AtByte(400)), store: true, stream: true, status: http.StatusBadRequest},
		"broken at its end":   {fault: faultllm.CleanEnd(faultllm.Finished()), store: true, stream: true, status: http.StatusOK},
		"broken behind bytes": {fault: faultllm.CleanEnd(faultllm.AtByte(1 << 20)), store: true, stream: true, status: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: script, Plan: faultllm.InOrder(test.fault)})
			words := speak(faultllm.ArkResponses, test.stream, says("user", "hello")).with(msg{"store": test.store})
			equal(t, "status", talk(t, client(t), s, faultllm.ArkResponses, words).status, http.StatusOK)
			record(t, s, 0)
			words = speak(faultllm.ArkResponses, true, says("user", "next")).with(msg{"previous_response_id": "resp_test000000"})
			equal(t, "next status", talk(t, client(t), s, faultllm.ArkResponses, words).status, test.status)
			rec := record(t, s, 1)
			equal(t, "previous", rec.Request.Previous, "resp_test000000")
			if test.status == http.StatusOK {
				equal(t, "messages", len(rec.Request.Messages), 3)
				equal(t, "what was said", rec.Request.Messages[1].Text, "one two")
			}
		})
	}
}
