package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// quick is a tempo without an audience. Idle and patience are longer than a busy machine takes to send a piece.
func quick() tempo {
	const silence = 600 * time.Millisecond

	return tempo{backoff: time.Millisecond, idle: silence, retryAfter: 10 * time.Millisecond, patience: silence, breakerPause: time.Second}
}

// paper is a terminal that can be read while it is written to.
type paper struct {
	mu     sync.Mutex
	text   bytes.Buffer
	awaits string
	then   func()
}

func (p *paper) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(b)
	if p.then != nil && strings.Contains(p.text.String(), p.awaits) {
		p.then()
		p.then = nil
	}

	return len(b), nil
}

func (p *paper) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.text.String()
}

// stage is a program and what it wrote.
type stage struct {
	program
	out, errOut *paper
	env         map[string]string
}

func newStage() *stage {
	s := &stage{out: &paper{}, errOut: &paper{}, env: map[string]string{}}
	s.program = program{in: strings.NewReader(""), out: s.out, errOut: s.errOut, tempo: quick(), getenv: func(key string) string { return s.env[key] }}

	return s
}

// play runs the program and returns its output.
func play(t *testing.T, want int, args ...string) string {
	t.Helper()
	s := newStage()
	code := s.run(t.Context(), args)
	if code != want {
		t.Fatalf("run(%q) = %d, want %d\n%s\n%s", args, code, want, s.out, s.errOut)
	}

	return s.out.String()
}

func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
}

func hasNot(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in:\n%s", part, text)
		}
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func toolsOf(t *testing.T) []tool.BaseTool {
	t.Helper()
	tools, err := newTools(library{})
	noError(t, err)

	return tools
}

// scripted returns the answer of this name.
func scripted(t *testing.T, name string) faultllm.Answer {
	t.Helper()
	for _, turn := range script() {
		if turn.Answer.Name == name {
			return turn.Answer
		}
	}
	t.Fatalf("no answer is named %q", name)

	return faultllm.Answer{}
}

// recovered holds a conversation whose answers break and heal. It returns the report and the provider's ledger.
func recovered(t *testing.T, kind string, seed uint64) (report, faultllm.Ledger) {
	t.Helper()
	s, tools := newStage(), toolsOf(t)
	unbroken, err := rehearse(t.Context(), tools)
	noError(t, err)
	set := settings{fault: kind, seed: seed, provider: providerEmbedded}
	b, err := s.open(t.Context(), set)
	noError(t, err)
	defer closing(t, b)
	r, err := s.perform(t.Context(), set, b, tools, unbroken)
	noError(t, err)

	return r, b.server.Ledger()
}

func closing(t *testing.T, b *backend) {
	t.Helper()
	noError(t, errors.Join(b.server.WaitIdle(context.WithoutCancel(t.Context())), b.Close()))
}
