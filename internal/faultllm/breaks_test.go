package faultllm_test

import (
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// ends says how a fault ends a body. On HTTP/2 a body without its end is the same error whoever leaves it away.
type ends struct {
	fault  faultllm.Fault
	h1, h2 string
	end    bool // the answer is whole
}

// resetOrEOF is a RST on HTTP/2: the client's writing goroutine may read the error away from the reading one.
const resetOrEOF = "reset or unexpected EOF"

// TestEveryWireBreaks breaks an answer in every way on every wire.
func TestEveryWireBreaks(t *testing.T) {
	at := faultllm.InText(1)
	protocols(t, func(t *testing.T, dial func(*testing.T) *http.Client, http2 bool) {
		t.Helper()
		for _, test := range []ends{
			{fault: faultllm.Reset(at), h1: reset, h2: resetOrEOF},
			{fault: faultllm.CutChunked(at), h1: unexpected, h2: unexpected},
			{fault: faultllm.CutLine(at), h1: unexpected, h2: unexpected},
			{fault: faultllm.CleanEnd(at)},
			{fault: faultllm.CleanCutLine(at)},
			{fault: faultllm.MalformedJSON(at)},
			{fault: faultllm.InBandError(at, "", "boom")},
			{fault: faultllm.ResetStream(at, faultllm.H2InternalError), h1: unexpected, h2: "INTERNAL_ERROR; received from peer"},
			{fault: faultllm.ResetStream(at, faultllm.H2EnhanceCalm), h1: unexpected, h2: "ENHANCE_YOUR_CALM"},
			{fault: faultllm.GoAway(at, faultllm.H2NoError), h1: unexpected, h2: "GOAWAY and closed the connection"},
			{fault: faultllm.GoAway(at, faultllm.H2InternalError), h1: unexpected, h2: "received GOAWAY from server ErrCode:INTERNAL"},
			{fault: faultllm.KeepAlives(at, 3, 0), end: true},
			{fault: faultllm.SlowDrip(at, 0), end: true},
		} {
			for _, v := range faultllm.Vendors() {
				t.Run(v.String()+" "+test.fault.String(), func(t *testing.T) {
					c := dial(t)
					s := start(t, faultllm.Config{Script: full(), Plan: faultllm.ByAttempt(test.fault)})
					got := talk(t, c, s, v, speak(v, true, says("user", "hello")))
					want := "one "
					if test.end {
						want = "one two three"
					}
					equal(t, "text", got.text, want)
					equal(t, "reasoning", got.reasoning, "thinking")
					equal(t, "done", got.done, test.end)
					end := test.h1
					if http2 {
						end = test.h2
					}
					checkBreak(t, got.err, end)
					rec := record(t, s, 0)
					equal(t, "hit", rec.FaultHit, true)
					equal(t, "disconnected", rec.Disconnected, false)
					again := talk(t, c, s, v, speak(v, true, says("user", "hello")))
					equal(t, "next", again.text, "one two three")
				})
			}
		}
	})
}

func checkBreak(t *testing.T, err error, want string) {
	t.Helper()
	if want == resetOrEOF && errors.Is(err, syscall.ECONNRESET) {
		return
	}
	if want == resetOrEOF {
		want = unexpected
	}
	if want == reset || want == unexpected || want == clean {
		checkEnd(t, err, want)
		return
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error = %v, want %q in it", err, want)
	}
}

// TestEveryWireBreaksInCalls breaks an answer around its first call.
func TestEveryWireBreaksInCalls(t *testing.T) {
	const first = `{"a":1,"b":2}`
	for _, v := range faultllm.Vendors() {
		for _, test := range []struct {
			at          faultllm.Position
			args, whole string
		}{
			{faultllm.InTool(0, 0), "", ""},
			{faultllm.InTool(0, 4), `{"a"`, ""},
			{faultllm.AfterTool(0), first, first},
			{faultllm.InTool(1, 3), first + `{"a`, first},
			{faultllm.Finished(), first + `{"a":3}`, first + `{"a":3}`},
		} {
			t.Run(v.String()+" "+test.at.String(), func(t *testing.T) {
				s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.CutChunked(test.at))})
				got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
				args := ""
				for _, c := range got.calls {
					args += c.Args
				}
				want := test.args
				if wholeCalls(v) {
					want = test.whole
				}
				equal(t, "arguments", args, want)
				equal(t, "finished", got.finish != "", test.at == faultllm.Finished())
				checkEnd(t, got.err, unexpected)
				equal(t, "hit", record(t, s, 0).FaultHit, true)
			})
		}
	}
}

// TestAtByte breaks a stream behind every byte.
func TestAtByte(t *testing.T) {
	script := faultllm.Reply(faultllm.Think("m"), faultllm.Say("é"), faultllm.Call("call_1", "f", "{}"))
	kinds := []func(faultllm.Position) faultllm.Fault{
		faultllm.CutChunked, faultllm.CleanEnd, faultllm.Reset, faultllm.CutLine, faultllm.CleanCutLine,
	}
	for _, v := range faultllm.Vendors() {
		t.Run(v.String(), func(t *testing.T) {
			s := start(t, faultllm.Config{
				Script: script,
				Plan:   func(a faultllm.Arrival) faultllm.Fault { return kinds[a.N%len(kinds)](faultllm.AtByte(a.N)) },
			})
			c := client(t)
			for n := 0; ; n++ {
				got := talk(t, c, s, v, speak(v, true, says("user", "hello")))
				rec := record(t, s, n)
				if !rec.FaultHit {
					equal(t, "done", got.done, true)
					equal(t, "frames broken", n > 300, true)
					return
				}
				equal(t, "bytes", len(got.raw), n)
				checkEnd(t, got.err, []string{unexpected, clean, reset, unexpected, clean}[n%len(kinds)])
			}
		})
	}
}

// TestAtByteGoesOn checks the faults that do not end the stream, and those that need a frame.
func TestAtByteGoesOn(t *testing.T) {
	const n = 40 // inside the first frame.
	at := faultllm.AtByte(n)
	release := make(chan struct{})
	close(release)
	for _, v := range faultllm.Vendors() {
		plain := talk(t, client(t), start(t, faultllm.Config{Script: full()}), v, speak(v, true, says("user", "hello")))
		for _, f := range []faultllm.Fault{
			faultllm.Hold(at, release), faultllm.SlowDrip(at, 0), faultllm.KeepAlives(at, 2, 0), faultllm.Comments(at, 2, 0),
		} {
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
			got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
			equal(t, f.String()+": text", got.text, plain.text)
			equal(t, f.String()+": done", got.done, true)
			equal(t, f.String()+": lost", record(t, s, 0).Lost, 0)
		}
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.InBandError(at, "", "boom"))})
		got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
		equal(t, "error is last", strings.Contains(got.raw[n:], "boom"), true)
		s = start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.MalformedJSON(at))})
		got = talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
		equal(t, "malformed", strings.Trim(got.raw[n:], "\r\n"), "")
		equal(t, "the line is whole", strings.HasSuffix(got.raw, "\n"), true)
	}
}

// TestEveryWireStops checks what begins before the first byte, and what sends nothing.
func TestEveryWireStops(t *testing.T) {
	protocols(t, func(t *testing.T, dial func(*testing.T) *http.Client, _ bool) {
		t.Helper()
		for _, v := range faultllm.Vendors() {
			c := dial(t)
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.InOrder(
				faultllm.EmptyBody(), faultllm.Refuse(529, faultllm.RetryAfterMillis(250)),
				faultllm.Status(503, faultllm.RetryAfter{}, ""), faultllm.NoFinish(),
				faultllm.Refuse(429, faultllm.RetryAfterText("soon")),
			)})
			words := speak(v, true, says("user", "hello"))
			got := talk(t, c, s, v, words)
			equal(t, "empty", got.raw, "")
			equal(t, "status", got.status, http.StatusOK)
			equal(t, "error", got.err, nil)
			got = talk(t, c, s, v, words)
			equal(t, "overloaded", got.status, 529)
			if v == faultllm.Gemini {
				equal(t, "delay", strings.Contains(got.raw, `google.rpc.RetryInfo",`) && strings.Contains(got.raw, `"retryDelay": "0.25s"`), true)
			} else {
				equal(t, "body", got.raw, v.Error(529))
			}
			equal(t, "retry after", got.header.Get("Retry-After-Ms"), "250")
			got = talk(t, c, s, v, words)
			equal(t, "empty 503", got.raw, "")
			equal(t, "status", got.status, http.StatusServiceUnavailable)
			got = talk(t, c, s, v, words)
			equal(t, v.String()+": finish", got.finish, "")
			equal(t, v.String()+": done without a reason", got.done, v != faultllm.Gemini)
			equal(t, "text", got.text, "one two three")
			got = talk(t, c, s, v, words)
			equal(t, "soon", got.header.Get("Retry-After"), "soon")
			equal(t, "body of no delay", got.raw, v.Error(429))
		}
	})
}

// TestKeepAlives looks at the frames without meaning.
func TestKeepAlives(t *testing.T) {
	want := map[faultllm.Vendor]string{
		faultllm.OpenAI: ": keep-alive\n\n", faultllm.DeepSeek: ": keep-alive\n\n", faultllm.Qwen: ": keep-alive\n\n",
		faultllm.Ark: ": keep-alive\n\n", faultllm.ArkResponses: ": keep-alive\n\n", faultllm.OpenRouter: ": OPENROUTER PROCESSING\n\n",
		faultllm.Anthropic: "event: ping\ndata: {\"type\": \"ping\"}\n\n",
		faultllm.Gemini:    `"parts":[{"text":""}],"role":"model"},"index"`, faultllm.Ollama: `"message":{"role":"assistant","content":""},"done":false}`,
	}
	for _, v := range faultllm.Vendors() {
		for _, test := range []struct {
			fault faultllm.Fault
			frame string
		}{
			{faultllm.KeepAlives(faultllm.InText(1), 7, time.Microsecond), want[v]},
			{faultllm.Comments(faultllm.InText(1), 7, time.Microsecond), ": keep-alive"},
		} {
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(test.fault)})
			got := talk(t, client(t), s, v, speak(v, true, says("user", "hello")))
			n := strings.Count(got.raw, test.frame)
			if v == faultllm.Anthropic && test.frame == want[v] {
				n-- // the one at the beginning of every stream.
			}
			equal(t, v.String()+": "+test.fault.String(), n, 7)
		}
	}
}
