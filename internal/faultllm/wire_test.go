package faultllm_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestWire holds the stream against the vendor's published format.
func TestWire(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("Hm"), faultllm.Say("a<b", "é"), faultllm.Call("call_1", "add", `{"a":`, `1}`),
		faultllm.Call("call_2", "now"),
	)})
	got := send(t, s, request([]msg{user("hello")}, msg{"stream_options": msg{"include_usage": true}}))
	want := []string{
		`{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"reasoning_content":"Hm"},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"content":"a<b"},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"content":"é"},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function",` +
			`"function":{"name":"add","arguments":""}}]},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function",` +
			`"function":{"name":"now","arguments":""}}]},"finish_reason":null}],"usage":null}`,
		`{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}`,
		`],"usage":{"prompt_tokens":2,"completion_tokens":7,"total_tokens":9,"completion_tokens_details":{"reasoning_tokens":1}}}`,
	}
	head := regexp.MustCompile(`^\{"id":"chatcmpl-test-000000","object":"chat.completion.chunk","created":\d+,` +
		`"model":"carryon-test-1","choices":\[`)
	equal(t, "frames", len(got.frames), len(want)+1)
	for i, w := range want {
		if !head.MatchString(got.frames[i]) {
			t.Errorf("frame %d begins wrong: %s", i, got.frames[i])
		}
		equal(t, "frame", head.ReplaceAllString(got.frames[i], ""), w)
	}
	equal(t, "last frame", got.frames[len(want)], "[DONE]")
	equal(t, "content type", got.header.Get("Content-Type"), "text/event-stream")
	equal(t, "blank lines", strings.Count(got.raw, "\n\n"), len(got.frames))
	equal(t, "error", got.err, nil)
}

func TestWireWithoutUsage(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("hi"))})
	got := ask(t, s, user("hello"))
	equal(t, "frames", len(got.frames), 4)
	equal(t, "usage in frames", strings.Contains(got.raw, "usage"), false)
	equal(t, "finish", got.finish, "stop")
}

func TestWholeResponse(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(
		faultllm.Think("Hm"), faultllm.Say("a", "b"), faultllm.Call("call_1", "add", `{"a":`, `1}`),
		faultllm.Call("call_2", "now", "{}"),
	)})
	got := whole(t, s, user("hello"))
	equal(t, "text", got.text, "ab")
	equal(t, "reasoning", got.reasoning, "Hm")
	equal(t, "finish", got.finish, "tool_calls")
	equal(t, "usage", got.usage.Total, 2+1+1+3+2)
	want := []faultllm.ToolCall{{ID: "call_1", Name: "add", Args: `{"a":1}`}, {ID: "call_2", Name: "now", Args: "{}"}}
	if !slices.Equal(got.calls, want) {
		t.Errorf("calls = %v", got.calls)
	}
}

func TestPieceSize(t *testing.T) {
	s := start(t, faultllm.Config{
		Script:    faultllm.Reply(faultllm.Say("abcdé€x𝄞", "yz")),
		PieceSize: 3,
	})
	got := ask(t, s, user("hello"))
	var pieces []string
	for _, f := range got.frames {
		if m := regexp.MustCompile(`"content":"([^"]+)"`).FindStringSubmatch(f); m != nil {
			pieces = append(pieces, m[1])
		}
	}
	if want := []string{"abc", "dé", "€", "x", "𝄞", "yz"}; !slices.Equal(pieces, want) {
		t.Errorf("pieces = %q, want %q", pieces, want)
	}
}

func TestMaxTokens(t *testing.T) {
	s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("four", "more", "last"))})
	got := send(t, s, request([]msg{user("hello")}, msg{"max_tokens": 2}))
	equal(t, "text", got.text, "fourmore")
	equal(t, "finish", got.finish, "length")
	equal(t, "billed", record(t, s, 0).Completion, 2)
}

func TestStartRefusesBadConfig(t *testing.T) {
	good := faultllm.Reply(faultllm.Say("x"))
	for name, cfg := range map[string]faultllm.Config{
		"no script":       {},
		"empty answer":    {Script: faultllm.Reply()},
		"invalid UTF-8":   {Script: faultllm.Reply(faultllm.Say("a\xff"))},
		"call without id": {Script: faultllm.Reply(faultllm.Call("", "add"))},
		"piece size":      {Script: good, PieceSize: -1},
		"pace":            {Script: good, Pace: -1},
	} {
		if s, err := faultllm.Start(cfg); err == nil {
			t.Errorf("%s: no error", name)
			_ = s.Close()
		}
	}
}
