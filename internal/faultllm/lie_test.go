package faultllm_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestWrongLength sends less than the headers say, and not more.
func TestWrongLength(t *testing.T) {
	for n, want := range map[int]error{0: nil, 100: nil, 1 << 20: io.ErrUnexpectedEOF} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.WrongLength(n))})
		got := talk(t, client(t), s, faultllm.OpenAI, speak(faultllm.OpenAI, true, says("user", "hello")))
		if !errors.Is(got.err, want) || n < 1<<20 && len(got.raw) != n {
			t.Errorf("%d: got %d bytes, %v", n, len(got.raw), got.err)
		}
		equal(t, "length", got.header.Get("Content-Length") != "", true)
	}
}

func TestFalseUsage(t *testing.T) {
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("one two three")), Plan: faultllm.Every(faultllm.FalseUsage(7, 1))})
		got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
		equal(t, v.String()+": text", got.text, "one two three")
		equal(t, v.String()+": hit", record(t, s, 0).FaultHit, true)
		if got.usage != nil && v != faultllm.Gemini { // it tells its usage with every chunk
			equal(t, v.String()+": completion", got.usage.Completion, 1)
		}
	}
}

func TestOneIndex(t *testing.T) {
	s := start(t, faultllm.Config{
		Script: faultllm.Reply(faultllm.Call("call_a", "f", "{", "}"), faultllm.Call("call_b", "g", "{}")), Plan: faultllm.Every(faultllm.OneIndex()),
	})
	got := talk(t, client(t), s, faultllm.OpenAI, speak(faultllm.OpenAI, true, says("user", "hello")))
	equal(t, "calls", strings.Count(got.raw, `"index":0,"id":`), 2)
}

// TestRedactedThinking is sent by one wire alone, and taken back only as it was.
func TestRedactedThinking(t *testing.T) {
	script := faultllm.Reply(faultllm.Redact("b64opaque"), faultllm.Say("x"))
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: script})
		got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
		equal(t, v.String()+": text", got.text, "x")
		equal(t, v.String()+": shown", strings.Contains(got.raw, `"type":"redacted_thinking","data":"b64opaque"`), v == faultllm.Anthropic)
	}
	s := start(t, faultllm.Config{Script: faultllm.Script{script[0], {Says: "and", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("y")}}}}})
	for data, want := range map[string]int{"b64opaque": http.StatusOK, "b64forged": http.StatusBadRequest} {
		words := speak(faultllm.Anthropic, true).with(msg{"messages": []msg{
			user("hello"),
			{"role": "assistant", "content": []msg{{"type": "redacted_thinking", "data": data}, {"type": "text", "text": "x"}}},
			user("and?"),
		}})
		equal(t, data, talk(t, client(t), s, faultllm.Anthropic, words).status, want)
	}
}

// TestHTTP2CodesBeforeHeaders sends each code where there is no response yet. Of some the client makes the request again.
func TestHTTP2CodesBeforeHeaders(t *testing.T) {
	before := faultllm.BeforeHeaders()
	for _, test := range []struct {
		fault faultllm.Fault
		want  string // in the error; empty if the client asked again
	}{
		{faultllm.ResetStream(before, faultllm.H2NoError), "NO_ERROR"},
		{faultllm.ResetStream(before, faultllm.H2InternalError), "INTERNAL_ERROR"},
		{faultllm.ResetStream(before, faultllm.H2Cancel), "CANCEL"},
		{faultllm.ResetStream(before, faultllm.H2EnhanceCalm), "ENHANCE_YOUR_CALM"},
		{faultllm.ResetStream(before, faultllm.H2RefusedStream), ""},
		{faultllm.GoAway(before, faultllm.H2NoError), "GOAWAY"},
		{faultllm.GoAway(before, faultllm.H2InternalError), "GOAWAY"},
	} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.InOrder(test.fault)})
		got := talk(t, http2Client(t), s, faultllm.OpenAI, speak(faultllm.OpenAI, true, says("user", "hello")))
		if test.want == "" {
			equal(t, test.fault.String(), got.text, "one two three")
			equal(t, test.fault.String()+": requests", s.Ledger().Requests, 2)
		} else if got.err == nil || !strings.Contains(got.err.Error(), test.want) {
			t.Errorf("%v: got %v", test.fault, got.err)
		}
	}
}
