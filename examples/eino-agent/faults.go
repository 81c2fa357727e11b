package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

const (
	faultAll  = "all"
	faultNone = "none"
)

// faultKind is one way to break answers.
type faultKind struct {
	name string
	help string
	// make breaks the first request for an answer; it returns None where the answer has no such place.
	make func(saboteur, faultllm.Answer) faultllm.Fault
}

func faultKinds() []faultKind {
	return []faultKind{
		{"reset", "the connection is reset in mid text", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, faultllm.Reset)
		}},
		{"cut", "the connection closes in mid text", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, faultllm.CutChunked)
		}},
		{"clean-end", "the body ends in good order, without a finish reason", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, faultllm.CleanEnd)
		}},
		{"stall", "nothing comes any more, and the connection stays open", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, faultllm.Stall)
		}},
		{"malformed", "half a frame, then the end", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, faultllm.MalformedJSON)
		}},
		{"provider-error", "an error inside the stream", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inText(a, providerError)
		}},
		{"tool-cut", "the connection closes inside the last tool call", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inLastCall(a, faultllm.CutChunked)
		}},
		{"reasoning-cut", "the connection closes while only reasoning has come", func(s saboteur, a faultllm.Answer) faultllm.Fault {
			return s.inReasoning(a, faultllm.CutChunked)
		}},
		{"rate-limit", "429 with Retry-After before the first token", func(s saboteur, _ faultllm.Answer) faultllm.Fault {
			return s.rateLimit()
		}},
	}
}

func faultNames() []string {
	names := []string{faultAll, faultNone}
	for _, k := range faultKinds() {
		names = append(names, k.name)
	}

	return names
}

// newPlan returns the faults of a run. The same kind and seed give the same breaks at the same bytes.
func newPlan(kind string, seed uint64, retryAfter time.Duration) (faultllm.Plan, error) {
	s := saboteur{rand: rand.New(rand.NewPCG(seed, 0)), retryAfter: retryAfter} //nolint:gosec // it breaks demonstrations
	switch kind {
	case faultNone:
		return nil, nil
	case faultAll:
		return faultllm.ByAnswer(s.story()), nil
	}
	i := slices.IndexFunc(faultKinds(), func(k faultKind) bool { return k.name == kind })
	if i < 0 {
		return nil, fmt.Errorf("unknown fault %q: it is one of %s", kind, strings.Join(faultNames(), ", "))
	}
	faults := make(map[string][]faultllm.Fault)
	for _, t := range script() {
		faults[t.Answer.Name] = []faultllm.Fault{faultKinds()[i].make(s, t.Answer)}
	}

	return faultllm.ByAnswer(faults), nil
}

// saboteur chooses where answers break.
type saboteur struct {
	rand       *rand.Rand
	retryAfter time.Duration
}

// story breaks the conversation in every way that it can break.
func (s saboteur) story() map[string][]faultllm.Fault {
	answers := make(map[string]faultllm.Answer)
	for _, t := range script() {
		answers[t.Answer.Name] = t.Answer
	}
	third := len(answers[answerCauses].Text()) / 3

	return map[string][]faultllm.Fault{
		answerCauses: {
			faultllm.Reset(faultllm.InTextBytes(s.between(third/2, third))),
			providerError(faultllm.InTextBytes(s.between(third/2, third))),
		},
		answerPolite:  {s.inText(answers[answerPolite], faultllm.CleanEnd)},
		answerSilence: {s.inText(answers[answerSilence], faultllm.Stall)},
		answerLookup:  {s.rateLimit(), s.inLastCall(answers[answerLookup], faultllm.CutChunked)},
		answerPrices:  {s.inText(answers[answerPrices], faultllm.MalformedJSON)},
		answerCompute: {s.inLastCall(answers[answerCompute], faultllm.CutChunked)},
		answerVerdict: {s.inReasoning(answers[answerVerdict], faultllm.CutChunked)},
	}
}

func (s saboteur) inText(a faultllm.Answer, fault func(faultllm.Position) faultllm.Fault) faultllm.Fault {
	n := len(a.Text())

	return fault(faultllm.InTextBytes(s.between(n/4, 3*n/4)))
}

func (s saboteur) inLastCall(a faultllm.Answer, fault func(faultllm.Position) faultllm.Fault) faultllm.Fault {
	calls := a.ToolCalls()
	if len(calls) == 0 {
		return faultllm.None()
	}
	last := len(calls) - 1

	return fault(faultllm.InTool(last, s.between(1, len(calls[last].Args)-1)))
}

func (s saboteur) inReasoning(a faultllm.Answer, fault func(faultllm.Position) faultllm.Fault) faultllm.Fault {
	n := len(a.Reasoning()) / pieceSize
	if n == 0 {
		return faultllm.None()
	}

	return fault(faultllm.InReasoning(s.between(n/4, n-1)))
}

func (s saboteur) rateLimit() faultllm.Fault {
	wait := faultllm.RetryAfterMillis(int(s.retryAfter.Milliseconds()))
	if s.retryAfter%time.Second == 0 {
		wait = faultllm.RetryAfterSeconds(int(s.retryAfter.Seconds()))
	}

	return faultllm.Status(http.StatusTooManyRequests, wait, faultllm.VendorError(http.StatusTooManyRequests))
}

func providerError(at faultllm.Position) faultllm.Fault {
	return faultllm.InBandError(at, "server_error", "the model crashed")
}

// between returns a number from low to high, both included.
func (s saboteur) between(low, high int) int { return low + s.rand.IntN(high-low+1) }
