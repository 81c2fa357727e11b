package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBreakerShow(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	out := play(t, exitOK, "--breaker", "--log", path)
	rest := out
	for _, part := range []string{
		"1 you", "✗", "1 request,", "2 you", "✗", "1 request,", "3 you", "circuit breaker: closed → open", "✗", "1 request,",
		"4 you", "✗ circuit breaker is open", "no request,", "5 you", "✗ circuit breaker is open", "no request,",
		"6 you", "✗ circuit breaker is open", "no request,", "1.00 s pass",
		"7 you", "circuit breaker: open → half-open", "the half and calls it done.", "circuit breaker: half-open → closed", "1 request,",
		"8 you", "the half and calls it done.", "1 request,",
		"8 calls, 5 requests reached the provider: 3 failed at once, without one.",
	} {
		_, after, found := strings.Cut(rest, part)
		if !found {
			t.Fatalf("%q is missing, or not in its place, in:\n%s", part, out)
		}
		rest = after
	}
	hasNot(t, out, "\x1b")
	has(t, play(t, exitOK, "stats", path), "circuit breaker", "half-open")

	for _, args := range [][]string{{"--plain"}, {"--provider", "openai"}, {"--fault", "cut"}} {
		s := newStage()
		equal(t, fmt.Sprintf("exit code of %q", args), s.run(t.Context(), append(args, "--breaker")), exitFailure)
		has(t, s.errOut.String(), "--breaker")
	}
}

func TestBreakerShowTellsOfARequestThatGotThrough(t *testing.T) {
	t.Parallel()
	s := newStage()
	s.tempo.breakerPause = 1 // it closes before the next call, and nothing is kept from the provider
	equal(t, "exit code", s.run(t.Context(), []string{"--breaker"}), exitFailure)
	has(t, s.errOut.String(), "did not do what it should")
}

func TestInterruptTheBreakerShow(t *testing.T) {
	t.Parallel()
	for awaits, says := range map[string]string{"s pass": "while the circuit breaker is open", "half-open": "interrupted in call 7"} {
		t.Run(awaits, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			s.tempo.pace = time.Millisecond // slow enough to be in the middle of an answer
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.out.awaits, s.out.then = awaits, cancel
			equal(t, "exit code", s.run(ctx, []string{"--breaker"}), exitInterrupt)
			has(t, s.errOut.String(), says)
		})
	}
}
