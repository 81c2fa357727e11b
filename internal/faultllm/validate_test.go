package faultllm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

type refusal struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

// TestValidator sends requests that the vendor refuses.
func TestValidator(t *testing.T) {
	messages := func(m ...msg) string { return request(m, nil) }
	for _, test := range []struct{ name, body, message string }{
		{"no JSON", `{"model":`, "could not parse the JSON body"},
		{"no model", `{"messages":[{"role":"user","content":"hi"}]}`, "must provide a model"},
		{"no messages", `{"model":"m"}`, "Invalid 'messages': empty array"},
		{"empty messages", messages(), "Invalid 'messages': empty array"},
		{"empty user text", messages(user("")), "Invalid value for 'messages[0].content'"},
		{"absent user text", messages(msg{"role": "user"}), "Invalid value for 'messages[0].content'"},
		{"empty user parts", messages(msg{"role": "user", "content": []msg{}}), "Invalid value for 'messages[0].content'"},
		{"content of another type", messages(msg{"role": "user", "content": 7}), "Invalid type for 'messages[0].content'"},
		{"unknown role", messages(msg{"role": "model", "content": "hi"}), "Invalid value: 'model'"},
		{"no role", messages(msg{"content": "hi"}), "Invalid value: ''"},
		{"empty assistant", messages(user("hi"), assistant(""), user("go on")), "Invalid value for 'content'"},
		{
			"assistant of reasoning only",
			messages(user("hi"), msg{"role": "assistant", "reasoning_content": "hm"}, user("go on")), "Invalid value for 'content'",
		},
		{
			"unanswered call",
			messages(user("hi"), calling("call_1", "add", "{}"), user("so?")), "did not have response messages: call_1",
		},
		{
			"unanswered call at the end",
			messages(user("hi"), calling("call_1", "add", "{}")), "did not have response messages: call_1",
		},
		{
			"half of the calls answered",
			messages(user("hi"), msg{"role": "assistant", "tool_calls": []msg{
				{"id": "call_1", "function": msg{"name": "add", "arguments": "{}"}},
				{"id": "call_2", "function": msg{"name": "add", "arguments": "{}"}},
			}}, result("call_1", "1"), user("so?")),
			"did not have response messages: call_2",
		},
		{"result without a call", messages(user("hi"), result("call_1", "1")), "must be a response to a preceeding message"},
		{
			"result of another call",
			messages(user("hi"), calling("call_1", "add", "{}"), result("call_2", "1")), "must be a response to a preceeding message",
		},
		{
			"result twice",
			messages(user("hi"), calling("call_1", "add", "{}"), result("call_1", "1"), result("call_1", "1")),
			"must be a response to a preceeding message",
		},
		{
			"half arguments",
			messages(user("hi"), calling("call_1", "add", `{"a":`), result("call_1", "1")), "expected valid JSON",
		},
		{
			"empty arguments", messages(user("hi"), calling("call_1", "add", ""), result("call_1", "1")),
			"Missing required parameter: 'messages[1].tool_calls[0].function.arguments'",
		},
		{"call without an id", messages(user("hi"), calling("", "add", "{}"), result("", "1")), "tool_calls[0].id"},
		{"call without a name", messages(user("hi"), calling("call_1", "", "{}"), result("call_1", "1")), "function.name"},
		{
			"two calls with one id",
			messages(user("hi"), msg{"role": "assistant", "tool_calls": []msg{
				{"id": "call_1", "function": msg{"name": "add", "arguments": "{}"}},
				{"id": "call_1", "function": msg{"name": "add", "arguments": "{}"}},
			}}, result("call_1", "1")),
			"Duplicate value for 'messages[1].tool_calls[1].id'",
		},
		{
			"tools of another type",
			`{"model":"m","tools":7,"messages":[{"role":"user","content":"hi"}]}`, "Invalid type for 'tools'",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x"))})
			got := send(t, s, test.body)
			equal(t, "status", got.status, http.StatusBadRequest)
			equal(t, "content type", got.header.Get("Content-Type"), "application/json")
			var r refusal
			if err := json.Unmarshal([]byte(got.raw), &r); err != nil {
				t.Fatalf("%v: %s", err, got.raw)
			}
			equal(t, "type", r.Error.Type, "invalid_request_error")
			if !strings.Contains(r.Error.Message, test.message) {
				t.Errorf("message = %q, want %q in it", r.Error.Message, test.message)
			}
			rec := record(t, s, 0)
			equal(t, "recorded status", rec.Status, http.StatusBadRequest)
			equal(t, "turn", rec.Turn, -1)
			equal(t, "billed", s.Ledger().Billed(), 0)
		})
	}
}

func TestValidHistories(t *testing.T) {
	two := msg{"role": "assistant", "content": "Adding.", "tool_calls": []msg{
		{"id": "call_1", "function": msg{"name": "add", "arguments": "{}"}},
		{"id": "call_2", "function": msg{"name": "add", "arguments": "{}"}},
	}}
	parts := []msg{{"type": "text", "text": "h"}, {"type": "text", "text": "i"}}
	for name, messages := range map[string][]msg{
		"results in any order": {user("hi"), two, result("call_2", "2"), result("call_1", "")},
		"hint behind results":  {user("hi"), two, result("call_2", "2"), result("call_1", "1"), user("again")},
		"parts":                {{"role": "user", "content": parts}},
		"system and developer": {system(""), {"role": "developer", "content": "x"}, user("hi"), system("late")},
		"same id again": {
			user("hi"), calling("call_1", "add", "{}"), result("call_1", "1"), calling("call_1", "add", "{}"), result("call_1", "1"),
		},
	} {
		say := faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("x")}}
		s := start(t, faultllm.Config{Script: faultllm.Script{{Answer: say}, {Answer: say}, {Answer: say}}})
		got := ask(t, s, messages...)
		equal(t, name, got.status, http.StatusOK)
		if name == "parts" {
			equal(t, "text of parts", record(t, s, 0).Request.Messages[0].Text, "hi")
		}
	}
}

func TestRouteAndKey(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x")), APIKey: "invented"})
	for _, test := range []struct {
		method, path, key string
		status            int
	}{
		{http.MethodPost, "/chat/completions", "invented", http.StatusOK},
		{http.MethodPost, "/chat/completions", "another", http.StatusUnauthorized},
		{http.MethodGet, "/chat/completions", "invented", http.StatusMethodNotAllowed},
		{http.MethodPost, "/completions", "invented", http.StatusNotFound},
	} {
		body := strings.NewReader(request([]msg{user("hi")}, nil))
		r, err := http.NewRequestWithContext(t.Context(), test.method, s.URL()+test.path, body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+test.key)
		res, err := client(t).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		equal(t, test.method+test.path, res.StatusCode, test.status)
	}
	equal(t, "requests recorded", s.Ledger().Requests, 2)
}
