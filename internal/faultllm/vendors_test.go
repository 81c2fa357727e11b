package faultllm_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// protocols calls f with each protocol. Each server gets a client of its own from dial: another one's idle connection may
// have its port.
func protocols(t *testing.T, f func(t *testing.T, dial func(*testing.T) *http.Client, http2 bool)) {
	t.Helper()
	t.Run("HTTP/1.1", func(t *testing.T) { f(t, client, false) })
	t.Run("HTTP/2", func(t *testing.T) { f(t, http2Client, true) })
}

func http2Client(t *testing.T) *http.Client {
	t.Helper()
	c := faultllm.HTTP2Client()
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// wholeCalls says whether a call comes in one piece, and without an id.
func wholeCalls(v faultllm.Vendor) bool { return v == faultllm.Gemini || v == faultllm.Ollama }

// TestEveryWireAnswers asks for an answer with everything, streamed and whole.
func TestEveryWireAnswers(t *testing.T) {
	answer := full()[0].Answer
	finish := map[faultllm.Vendor]string{
		faultllm.Anthropic: "tool_use", faultllm.Gemini: "STOP", faultllm.Ollama: "stop",
		faultllm.ArkResponses: "completed",
	}
	protocols(t, func(t *testing.T, dial func(*testing.T) *http.Client, http2 bool) {
		t.Helper()
		for _, v := range faultllm.Vendors() {
			for _, stream := range []bool{true, false} {
				s := start(t, faultllm.Config{Script: full()})
				got := talk(t, dial(t), s, v, speak(v, stream, says("user", "hello")))
				name := fmt.Sprintf("%v, stream %v: ", v, stream)
				equal(t, name+"status", got.status, http.StatusOK)
				equal(t, name+"text", got.text, answer.Text())
				equal(t, name+"reasoning", got.reasoning, answer.Reasoning())
				want := answer.ToolCalls()
				if wholeCalls(v) {
					want[0].ID, want[1].ID = "", ""
				}
				if !slices.Equal(got.calls, want) {
					t.Errorf("%scalls = %v, want %v", name, got.calls, want)
				}
				equal(t, name+"finish", got.finish, finish[v]+strings.Repeat("tool_calls", 1-min(1, len(finish[v]))))
				equal(t, name+"done", got.done, true)
				equal(t, name+"error", got.err, nil)
				rec := record(t, s, 0)
				equal(t, name+"billed", rec.Completion, faultllm.Needed(answer))
				equal(t, name+"prompt", rec.Prompt, 2)
				equal(t, name+"vendor", rec.Request.Vendor, v)
				equal(t, name+"model", rec.Request.Model, "carryon-test-1")
				equal(t, name+"HTTP/2", rec.HTTP2, http2)
				if got.usage != nil {
					equal(t, name+"usage", got.usage.Completion, faultllm.Needed(answer))
				} else if v == faultllm.Anthropic || wholeCalls(v) || !stream {
					t.Errorf("%sno usage", name)
				}
				checkSignatures(t, name, v, got)
			}
		}
	})
}

func checkSignatures(t *testing.T, name string, v faultllm.Vendor, got reply) {
	t.Helper()
	thinking, call := "", ""
	switch v {
	case faultllm.Anthropic, faultllm.OpenRouter:
		thinking = faultllm.Sign("thinking")
	case faultllm.Gemini:
		call = faultllm.SignCall("add", `{"a":1,"b":2}`)
	default:
	}
	equal(t, name+"signature", got.signature, thinking)
	equal(t, name+"signature of the call", got.callSignature, call)
}

// TestEveryWireContinues breaks an answer at every byte of its text and continues it.
func TestEveryWireContinues(t *testing.T) {
	for _, v := range faultllm.Vendors() {
		for _, prefill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, prefill %v", v, prefill), func(t *testing.T) {
				answer := prose()
				text := answer.Text()
				for n := 1; n <= len(text); n++ {
					c := client(t)
					s := start(t, faultllm.Config{
						Script: faultllm.Script{{Answer: answer}},
						Plan:   faultllm.ByAttempt(faultllm.CutChunked(faultllm.InTextBytes(n))),
					})
					first := talk(t, c, s, v, speak(v, true, says("system", "be brief"), says("user", "hello")))
					partial := strings.TrimRight(first.text, " \n")
					turns := []turn{says("system", "be brief"), says("user", "hello"), says("assistant", partial), says("user", prompt)}
					if prefill {
						turns = turns[:3]
					}
					second := talk(t, c, s, v, speak(v, true, turns...))
					equal(t, "status", second.status, http.StatusOK)
					equal(t, "joined", partial+second.text, text)
					equal(t, "reasoning", first.reasoning+second.reasoning, answer.Reasoning())
					equal(t, "done", second.done, true)
					rec := record(t, s, 1)
					equal(t, "from", rec.From, len(partial))
					equal(t, "attempt", rec.Attempt, 1)
					twice := (len(first.text)+3)/4 - (len(partial)+3)/4 // white space that was trimmed.
					equal(t, "billed", s.Ledger().Completion, faultllm.Needed(answer)+twice)
					_ = s.Close()
				}
			})
		}
	}
}

// TestEveryWireGoesOnAfterTools sends an answer back with its results, and with the hint that a client may add.
func TestEveryWireGoesOnAfterTools(t *testing.T) {
	script := append(full(), faultllm.Turn{Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("Done.")}}})
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: script})
		first := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
		said := turn{
			role: "assistant", text: first.text, thinking: first.reasoning, signature: first.signature, calls: first.calls,
			signed: first.callSignature,
		}
		turns := []turn{says("user", "hello"), said}
		for _, c := range first.calls {
			turns = append(turns, turn{role: "tool", text: "3", id: c.ID + strings.Repeat(c.Name, 1-min(1, len(c.ID)))})
		}
		for _, more := range [][]turn{nil, {says("user", "A call was cut off.")}} {
			got := talk(t, client(t), s, v, speak(v, true, slices.Concat(turns, more)...))
			equal(t, v.String()+": status", got.status, http.StatusOK)
			equal(t, v.String()+": text", got.text, "Done.")
			if got.status != http.StatusOK {
				t.Log(got.raw)
			}
		}
		sent := record(t, s, 1).Request.Messages
		equal(t, v.String()+": messages", len(sent), 4)
		equal(t, v.String()+": thinking sent", sent[1].Reasoning, "thinking")
		equal(t, v.String()+": call sent", sent[1].ToolCalls[0].Args, `{"a":1,"b":2}`)
		equal(t, v.String()+": result sent", sent[3].Text, "3")
	}
}

// TestEveryWireLimits asks for two tokens only.
func TestEveryWireLimits(t *testing.T) {
	limits := map[faultllm.Vendor]msg{
		faultllm.Anthropic: {"max_tokens": 2},
		faultllm.Gemini:    {"generationConfig": msg{"maxOutputTokens": 2}},
		faultllm.Ollama:    {"options": msg{"num_predict": 2}},

		faultllm.ArkResponses: {"max_output_tokens": 2},
	}
	finish := map[faultllm.Vendor]string{faultllm.Anthropic: "max_tokens", faultllm.Gemini: "MAX_TOKENS"}
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("four", "more", "last"))})
		extra := limits[v]
		if extra == nil {
			extra = msg{"max_tokens": 2}
		}
		got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")).with(extra))
		equal(t, v.String()+": text", got.text, "fourmore")
		want := finish[v]
		if want == "" {
			want = "length"
		}
		equal(t, v.String()+": finish", got.finish, want)
		equal(t, v.String()+": billed", record(t, s, 0).Completion, 2)
	}
}
