package faultllm_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// full is an answer with everything: 1 role, 2 reasoning, 3 text, 1+2 and 1+2 call frames, finish, done.
func full() faultllm.Script {
	return faultllm.Reply(
		faultllm.Think("think", "ing"),
		faultllm.Say("one ", "two ", "three"),
		faultllm.Call("call_1", "add", `{"a":1,`, `"b":2}`),
		faultllm.Call("call_2", "sub", `{"a":`, `3}`),
	)
}

const (
	reset      = "reset"
	unexpected = "unexpected EOF"
	clean      = ""
)

func checkEnd(t *testing.T, err error, want string) {
	t.Helper()
	switch want {
	case reset:
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("error = %v, want ECONNRESET", err)
		}
	case unexpected:
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("error = %v, want an unexpected EOF", err)
		}
	default:
		if err != nil {
			t.Errorf("error = %v, want a clean end", err)
		}
	}
}

// TestFaults breaks the same answer in every way and looks at what a client reads.
func TestFaults(t *testing.T) {
	const (
		all     = "one two three"
		thought = "thinking"
		call1   = `{"a":1,"b":2}`
		calls   = call1 + `{"a":3}`
		tools   = "tool_calls"
	)
	for _, test := range []struct {
		fault     faultllm.Fault
		text      string
		reasoning string
		args      string // of all calls
		finish    string
		done      bool
		end       string
		lost      int
		miss      bool
	}{
		{fault: faultllm.None(), text: all, reasoning: thought, args: calls, finish: tools, done: true, miss: true},
		{fault: faultllm.Reset(faultllm.AtStart()), end: reset},
		{fault: faultllm.Reset(faultllm.AfterFrames(1)), end: reset},
		{fault: faultllm.Reset(faultllm.InReasoning(0)), end: reset},
		{fault: faultllm.Reset(faultllm.InReasoning(1)), reasoning: "think", end: reset},
		{fault: faultllm.Reset(faultllm.InText(0)), reasoning: thought, end: reset},
		{fault: faultllm.Reset(faultllm.InText(2)), reasoning: thought, text: "one two ", end: reset},
		{fault: faultllm.CutChunked(faultllm.InText(3)), reasoning: thought, text: all, end: unexpected},
		{fault: faultllm.CutChunked(faultllm.InTextBytes(0)), reasoning: thought, end: unexpected},
		{fault: faultllm.CutChunked(faultllm.InTextBytes(6)), reasoning: thought, text: "one tw", end: unexpected},
		{fault: faultllm.CutChunked(faultllm.InTool(0, 0)), reasoning: thought, text: all, end: unexpected},
		{
			fault:     faultllm.CutChunked(faultllm.InTool(0, 4)),
			reasoning: thought, text: all, args: `{"a"`, end: unexpected,
		},
		{
			fault:     faultllm.CutChunked(faultllm.AfterTool(0)),
			reasoning: thought, text: all, args: call1, end: unexpected,
		},
		{
			fault:     faultllm.CutChunked(faultllm.InTool(1, 6)),
			reasoning: thought, text: all, args: call1 + `{"a":3`, end: unexpected,
		},
		{fault: faultllm.CutLine(faultllm.InText(1)), reasoning: thought, text: "one ", end: unexpected, lost: 1},
		{fault: faultllm.CleanEnd(faultllm.InText(1)), reasoning: thought, text: "one ", end: clean},
		{fault: faultllm.CleanCutLine(faultllm.InText(1)), reasoning: thought, text: "one ", end: clean, lost: 1},
		{
			fault:     faultllm.InBandError(faultllm.InText(1), "server_error", "boom"),
			reasoning: thought, text: "one ", end: clean,
		},
		{fault: faultllm.MalformedJSON(faultllm.InText(1)), reasoning: thought, text: "one ", end: clean, lost: 1},
		{
			fault: faultllm.KeepAlives(faultllm.InText(1), 3, 0),
			text:  all, reasoning: thought, args: calls, finish: tools, done: true,
		},
		{
			fault: faultllm.SlowDrip(faultllm.InText(1), 0),
			text:  all, reasoning: thought, args: calls, finish: tools, done: true,
		},
		{fault: faultllm.EmptyBody(), end: clean},
		{fault: faultllm.AfterFinish(), text: all, reasoning: thought, args: calls, finish: tools, end: unexpected},
		{fault: faultllm.NoFinish(), text: all, reasoning: thought, args: calls, done: true},
		{
			fault: faultllm.Reset(faultllm.InText(4)),
			text:  all, reasoning: thought, args: calls, finish: tools, done: true, miss: true,
		},
		{
			fault: faultllm.Reset(faultllm.InTool(2, 0)),
			text:  all, reasoning: thought, args: calls, finish: tools, done: true, miss: true,
		},
	} {
		t.Run(test.fault.String(), func(t *testing.T) {
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(test.fault)})
			got := ask(t, s, user("hello"))
			args := ""
			for _, c := range got.calls {
				args += c.Args
			}
			equal(t, "text", got.text, test.text)
			equal(t, "reasoning", got.reasoning, test.reasoning)
			equal(t, "arguments", args, test.args)
			equal(t, "finish", got.finish, test.finish)
			equal(t, "done", got.done, test.done)
			checkEnd(t, got.err, test.end)
			rec := record(t, s, 0)
			equal(t, "hit", rec.FaultHit, !test.miss)
			equal(t, "fault", rec.Fault, test.fault)
			equal(t, "disconnected", rec.Disconnected, false)
			equal(t, "prompt", rec.Prompt, 2)
			equal(t, "lost", rec.Lost, test.lost)
		})
	}
}

func TestFaultFrames(t *testing.T) {
	at := faultllm.InText(1)
	ask1 := func(f faultllm.Fault) reply {
		return ask(t, start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)}), user("hello"))
	}
	equal(t, "error type", ask1(faultllm.InBandError(at, "overloaded_error", "boom")).failure, "overloaded_error")
	malformed := ask1(faultllm.MalformedJSON(at))
	equal(t, "frames", len(malformed.frames), 5)
	equal(t, "last line is whole", strings.HasSuffix(malformed.raw, "\n\n"), true)
	equal(t, "last frame is broken", strings.HasSuffix(malformed.frames[4], "}"), false)
	equal(t, "cut line", strings.HasSuffix(ask1(faultllm.CleanCutLine(at)).raw, "\n"), false)
	equal(t, "comments", strings.Count(ask1(faultllm.KeepAlives(at, 7, time.Microsecond)).raw, ": keep-alive\n\n"), 7)
	equal(t, "empty", ask1(faultllm.EmptyBody()).raw, "")
}

// TestResetKeepsWhatWasSent reads slowly enough for the RST to arrive before the frames are read.
func TestResetKeepsWhatWasSent(t *testing.T) {
	s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.Reset(faultllm.InText(3)))})
	c := client(t)
	for n := range 100 {
		res, err := post(t.Context(), c, s, request([]msg{user("hello")}, nil))
		if err != nil {
			t.Fatal(err)
		}
		record(t, s, n)
		got := read(t, res)
		equal(t, "text", got.text, "one two three")
		checkEnd(t, got.err, reset)
		_ = res.Body.Close()
	}
}

func TestBeforeHeaders(t *testing.T) {
	for _, f := range []faultllm.Fault{
		faultllm.Reset(faultllm.BeforeHeaders()), faultllm.CutChunked(faultllm.BeforeHeaders()),
	} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
		got := ask(t, s, user("hello"))
		want := io.EOF
		if f == faultllm.Reset(faultllm.BeforeHeaders()) {
			want = syscall.ECONNRESET
		}
		if !errors.Is(got.err, want) {
			t.Errorf("%v: error = %v, want %v", f, got.err, want)
		}
		rec := record(t, s, 0)
		equal(t, "billed", s.Ledger().Billed(), 0)
		equal(t, "status", rec.Status, 0)
		equal(t, "requests", s.Ledger().Requests, 1)
	}
}

func TestStatus(t *testing.T) {
	date := time.Date(2031, 10, 21, 7, 28, 0, 0, time.UTC)
	for _, test := range []struct {
		code          int
		retry         faultllm.RetryAfter
		body          string
		header, value string
	}{
		{429, faultllm.RetryAfterSeconds(7), faultllm.VendorError(429), "Retry-After", "7"},
		{429, faultllm.RetryAfterDate(date), faultllm.VendorError(429), "Retry-After", "Tue, 21 Oct 2031 07:28:00 GMT"},
		{429, faultllm.RetryAfterMillis(250), "", "Retry-After-Ms", "250"},
		{429, faultllm.RetryAfterText("soon"), "", "Retry-After", "soon"},
		{503, faultllm.RetryAfter{}, "", "Retry-After", ""},
		{500, faultllm.RetryAfter{}, faultllm.VendorError(500), "Retry-After", ""},
		{502, faultllm.RetryAfter{}, "<html>bad gateway</html>", "Retry-After", ""},
		{400, faultllm.RetryAfter{}, faultllm.VendorError(400), "Retry-After", ""},
		{401, faultllm.RetryAfter{}, faultllm.VendorError(401), "Retry-After", ""},
	} {
		s := start(t, faultllm.Config{
			Script: full(),
			Plan:   faultllm.InOrder(faultllm.Status(test.code, test.retry, test.body)),
		})
		got := ask(t, s, user("hello"))
		equal(t, "status", got.status, test.code)
		equal(t, "header", got.header.Get(test.header), test.value)
		equal(t, "body", got.raw, test.body)
		rec := record(t, s, 0)
		equal(t, "billed", s.Ledger().Billed(), 0)
		equal(t, "recorded status", rec.Status, test.code)
		equal(t, "next", ask(t, s, user("hello")).done, true)
	}
}
