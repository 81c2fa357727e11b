package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func TestStory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			out := play(t, exitOK, "--seed", fmt.Sprint(seed))
			has(t, out,
				"↻ ContinueText", "↻ SynthesizeToolUse", "↻ TruncateBeforeTool", "↻ WholeRestart", "↻ open retry",
				"✂ connection_reset", "✂ truncated", "✂ idle_stall", "✂ rate_limited", "✂ provider_error", "✂ malformed_frame",
				"▸ read_file", "◂ "+priceList, "▸ calculator", "◂ 40000 * 15 / 1000000 = 0.6", "◂ 40000 * 2 / 1000000 = 0.08",
				"✓ 9 breaks, and 6 of 6 answers are byte for byte what they are without a break.",
			)
			hasNot(t, out, "\x1b", "✗", "given up")
		})
	}
}

// TestTextIsSeamless takes the marks out of what was drawn.
func TestTextIsSeamless(t *testing.T) {
	t.Parallel()
	out := play(t, exitOK)
	marks := regexp.MustCompile(`(?m)^ +(✂|↻|▸|◂|half a call).*\n`)
	drawn := strings.Join(strings.Fields(marks.ReplaceAllString(out, "")), "")
	for _, turn := range script() {
		text := strings.Join(strings.Fields(turn.Answer.Text()), "")
		if n := strings.Count(drawn, text); n != 1 {
			t.Errorf("answer %s was drawn %d times", turn.Answer.Name, n)
		}
	}
}

func TestSeedDecidesWhere(t *testing.T) {
	t.Parallel()
	breaks := func(seed string) string {
		kept := regexp.MustCompile(`\d+ bytes`).FindAllString(play(t, exitOK, "--seed", seed, "--fault", "cut"), -1)

		return strings.Join(kept, " ")
	}
	one := breaks("1")
	equal(t, "the same seed", breaks("1"), one)
	if breaks("2") == one {
		t.Error("another seed breaks at the same bytes")
	}
}

func TestEachFault(t *testing.T) {
	t.Parallel()
	healed := map[string][]string{
		"reset":          {"✂ connection_reset", "↻ ContinueText"},
		"cut":            {"✂ connection_reset", "↻ ContinueText"},
		"clean-end":      {"✂ truncated", "↻ ContinueText"},
		"stall":          {"✂ idle_stall", "↻ ContinueText"},
		"malformed":      {"✂ malformed_frame", "↻ ContinueText"},
		"provider-error": {"✂ provider_error", "↻ ContinueText"},
		"tool-cut":       {"✂ connection_reset", "↻ TruncateBeforeTool", "↻ SynthesizeToolUse"},
		"reasoning-cut":  {"✂ connection_reset", "↻ WholeRestart"},
		"rate-limit":     {"✂ rate_limited", "↻ open retry"},
	}
	broken := map[string]string{
		"reset": "connection reset by peer", "cut": "unexpected EOF", "clean-end": "cut off, and nobody was told",
		"stall": "nothing came any more for 600ms, given up", "malformed": "unexpected end of JSON input",
		"provider-error": "error, the model crashed", "tool-cut": "unexpected EOF", "reasoning-cut": "unexpected EOF",
		"rate-limit": "Rate limit reached",
	}
	for _, k := range faultKinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			has(t, play(t, exitOK, "--fault", k.name), append(healed[k.name], "6 of 6 answers")...)
		})
		t.Run(k.name+" plain", func(t *testing.T) {
			t.Parallel()
			out := play(t, exitFailure, "--fault="+k.name, "--plain")
			has(t, out, "✗ "+broken[k.name], "answers arrived whole.")
			hasNot(t, out, "↻", "6 of 6")
		})
	}
}

func TestPlainStory(t *testing.T) {
	t.Parallel()
	out := play(t, exitFailure, "--plain")
	has(t, out, "✗ 0 of 6 answers arrived whole.", "One answer was cut off without an error")
}

func TestNoFault(t *testing.T) {
	t.Parallel()
	out := play(t, exitOK, "--fault", "none")
	has(t, out, "✓ 0 breaks, and 6 of 6 answers")
	hasNot(t, out, "✂", "↻", "ContinueText")
	has(t, play(t, exitOK, "--fault", "none", "--plain"), "✓ 6 of 6 answers arrived whole.")
}

// TestWhatTheAgentGot looks at the messages, not at the drawing.
func TestWhatTheAgentGot(t *testing.T) {
	t.Parallel()
	for _, kind := range faultNames() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			r, _ := recovered(t, kind, 3)
			finals := []string{answerCauses, answerPolite, answerSilence, answerPrices, answerCost, answerVerdict}
			for i, name := range finals {
				equal(t, name, r.turns[i].reply.text(), scripted(t, name).Text())
			}
			for i, turn := range r.turns {
				validHistory(t, i, turn.reply.messages)
			}
		})
	}
}

// validHistory checks that each message is one scripted answer, or the beginning of it that ends with whole calls.
func validHistory(t *testing.T, i int, messages []*schema.Message) {
	t.Helper()
	for _, m := range messages {
		if m.Role != schema.Assistant {
			continue
		}
		known := slices.ContainsFunc(script(), func(turn faultllm.Turn) bool {
			calls := turn.Answer.ToolCalls()
			if m.Content != turn.Answer.Text() || len(m.ToolCalls) > len(calls) || len(calls) > 0 && len(m.ToolCalls) == 0 {
				return false
			}
			for n, c := range m.ToolCalls {
				if c.ID != calls[n].ID || c.Function.Name != calls[n].Name || c.Function.Arguments != calls[n].Args {
					return false
				}
			}

			return true
		})
		if !known {
			t.Errorf("turn %d: nobody said %q and called %v", i+1, m.Content, m.ToolCalls)
		}
	}
}

func TestInterrupt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, fault, awaits, says string
		slow                      func(*tempo)
	}{
		{"streaming", "none", "gateway", "of its answer had come and stand above, 0 of 6 turns are whole", func(*tempo) {}},
		{
			"in back-off", "cut", "↻ ContinueText", "of its answer had come and stand above, 0 of 6 turns are whole",
			func(p *tempo) { p.backoff = time.Hour },
		},
		{
			"in a stall", "stall", "Anything", "of its answer had come and stand above, 0 of 6 turns are whole",
			func(p *tempo) { p.idle = time.Hour },
		},
		{
			"before the first token", "rate-limit", "↻ open retry", "interrupted in turn 1: 0 of 6 turns are whole",
			func(p *tempo) { p.backoff = time.Hour },
		},
		{"in a later turn", "cut", "2 you", "1 of 6 turns are whole", func(p *tempo) { p.pace = time.Millisecond }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			test.slow(&s.tempo)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.out.awaits, s.out.then = test.awaits, cancel
			equal(t, "exit code", s.run(ctx, []string{"--fault", test.fault}), exitInterrupt)
			has(t, s.errOut.String(), "interrupted in turn", test.says)
			hasNot(t, s.out.String(), "billed")
		})
	}
}

func TestRealEndpoint(t *testing.T) {
	t.Parallel()
	plan, err := newPlan(faultAll, 1, time.Millisecond)
	noError(t, err)
	server, err := faultllm.Start(faultllm.Config{Script: script(), PieceSize: pieceSize, Plan: plan, APIKey: "key"})
	noError(t, err)
	defer func() { noError(t, server.Close()) }()

	s := newStage()
	s.env = map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": server.URL(), "OPENAI_MODEL": "example-1"}
	equal(t, "exit code", s.run(t.Context(), []string{"--provider", "openai", "--fault", "reset"}), exitOK)
	has(t, s.out.String(), "--fault is ignored", "tokens as reported", "SynthesizeToolUse", scripted(t, answerLookup).Text())
	equal(t, "model", server.Ledger().Records[0].Request.Model, "example-1")

	s = newStage()
	equal(t, "exit code without a key", s.run(t.Context(), []string{"--provider", "openai"}), exitFailure)
	has(t, s.errOut.String(), "OPENAI_API_KEY")

	s.env = map[string]string{"OPENAI_API_KEY": "wrong", "OPENAI_BASE_URL": server.URL()}
	equal(t, "exit code with a wrong key", s.run(t.Context(), []string{"--provider=openai"}), exitFailure)
	has(t, s.errOut.String(), "turn 1", "Incorrect API key")
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"--fault", "typo"}, {"--provider", "typo"}, {"--seed", "-1"}, {"--typo"}, {"extra"},
	} {
		s := newStage()
		equal(t, fmt.Sprintf("exit code of %q", args), s.run(t.Context(), args), exitFailure)
		has(t, s.errOut.String(), "eino-agent: ")
		equal(t, "output", s.out.String(), "")
	}
	help := play(t, exitOK, "--help")
	has(t, help, faultNames()...)
	has(t, help, "--seed", "--plain", "--provider", "--no-color", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "NO_COLOR")
}
