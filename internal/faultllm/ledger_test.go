package faultllm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func TestLedger(t *testing.T) {
	s := start(t, faultllm.Config{
		Script: faultllm.Script{{Answer: prose()}},
		Plan: faultllm.ByAnswer(map[string][]faultllm.Fault{
			"prose": {faultllm.Reset(faultllm.InText(1)), faultllm.Status(500, faultllm.RetryAfter{}, "")},
		}),
	})
	tool := msg{"type": "function", "function": msg{"name": "add", "parameters": msg{"type": "object"}}}
	body := request([]msg{system("12345"), user("hello")}, msg{"tools": []msg{tool}})
	send(t, s, body)
	send(t, s, request([]msg{system("12345"), user("hello"), assistant("Grüße,"), user("go on")}, nil))
	send(t, s, request([]msg{system("12345"), user("hello"), assistant("Grüße,"), user("go on")}, nil))
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	l := s.Ledger()
	equal(t, "requests", l.Requests, 3)
	equal(t, "records", len(l.Records), 3)
	first, second, third := l.Records[0], l.Records[1], l.Records[2]
	equal(t, "body", string(first.Body), body)
	equal(t, "header", first.Header.Get("Content-Type"), "application/json")
	equal(t, "message", first.Request.Messages[1].Text, "hello")
	equal(t, "tools", strings.Join(first.Request.Tools, " "), "add")
	equal(t, "name", first.Name, "prose")
	definition := `[{"function":{"name":"add","parameters":{"type":"object"}},"type":"function"}]`
	equal(t, "first prompt", first.Prompt, 2+2+(len(definition)+3)/4)
	equal(t, "first completion", first.Completion, 3+3) // "Let me see." and "Grüße, ".
	equal(t, "second", second.Fault.String(), "Status(500)")
	equal(t, "second billed", second.Prompt+second.Completion, 0)
	equal(t, "third attempt", third.Attempt, 2)
	equal(t, "third prompt", third.Prompt, 2+2+2+2)
	equal(t, "prompt", l.Prompt, first.Prompt+third.Prompt)
	equal(t, "completion", l.Completion, faultllm.Needed(prose())+1) // the trimmed space began a token.
	equal(t, "billed", l.Billed(), l.Prompt+l.Completion)
	if first.Began.After(first.Ended) || second.Began.Before(first.Began) {
		t.Error("the times are not in order")
	}
}

func TestWaits(t *testing.T) {
	s := start(t, faultllm.Config{Script: full()})
	ask(t, s, user("hello"))
	if _, err := s.WaitDisconnect(t.Context(), 0); !errors.Is(err, faultllm.ErrNotDisconnected) {
		t.Errorf("error = %v, want ErrNotDisconnected", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.WaitEnded(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want that of the context", err)
	}
}

// TestCloseEndsEverything closes a server that stalls, and looks for what is left of it.
func TestCloseEndsEverything(t *testing.T) {
	s, err := faultllm.Start(faultllm.Config{
		Script: full(), Pace: time.Hour,
		Plan: faultllm.InOrder(
			faultllm.Stall(faultllm.BeforeHeaders()), faultllm.Stall(faultllm.AfterFrames(1)),
			faultllm.Hold(faultllm.AtStart(), nil), faultllm.StallKeepingAlive(faultllm.AtStart(), time.Millisecond),
		),
	})
	if err != nil {
		t.Fatal(err)
	}
	var clients sync.WaitGroup
	for range 5 { // the fifth waits for its pace.
		clients.Go(func() {
			if got := ask(t, s, user("hello")); got.err == nil {
				t.Error("the client saw a clean end")
			}
		})
	}
	for n := range 5 {
		begun := func(r faultllm.Record) bool { return r.FaultHit || n == 4 && r.Status == 200 }
		if _, err := s.Wait(t.Context(), n, begun); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	for _, r := range s.Ledger().Records {
		equal(t, "disconnected", r.Disconnected, false)
		equal(t, "ended", r.Ended.IsZero(), false)
	}
	// A connection's goroutine reports its end a few instructions before it ends.
	for ctx := t.Context(); serving(); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatal("goroutines of the server are left")
		}
	}
	if _, err := post(t.Context(), client(t), s, "{}"); err == nil {
		t.Error("a closed server answers")
	}
}

func serving() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return strings.Contains(string(stacks), "faultllm.(*Server)") || strings.Contains(string(stacks), "net/http.(*conn).serve")
}

// TestConcurrentClients breaks and continues many conversations at once.
func TestConcurrentClients(t *testing.T) {
	s := start(t, faultllm.Config{
		Script: faultllm.Script{{Answer: prose()}}, PieceSize: 5,
		Plan: func(a faultllm.Arrival) faultllm.Fault {
			if a.Attempt > 0 {
				return faultllm.None()
			}
			return []faultllm.Fault{
				faultllm.Reset(faultllm.InText(2)), faultllm.CutChunked(faultllm.InText(3)), faultllm.NoFinish(),
			}[len(a.Request.Messages[0].Text)%3]
		},
	})
	var all sync.WaitGroup
	for i := range 60 {
		all.Go(func() {
			question := user(fmt.Sprintf("%d%s", i, strings.Repeat("!", i%7)))
			first := ask(t, s, question)
			partial := strings.TrimRight(first.text, " \n")
			second := ask(t, s, question, assistant(partial), user(prompt))
			if got := partial + second.text; got != prose().Text() {
				t.Errorf("client %d: %q", i, got)
			}
		})
	}
	all.Wait()
	l := s.Ledger()
	equal(t, "requests", l.Requests, 120)
	sum := 0
	for _, r := range l.Records {
		sum += r.Completion
	}
	equal(t, "total", l.Completion, sum)
}
