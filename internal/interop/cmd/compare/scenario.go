package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// sample is one question, its answer, and what breaks the first attempts at it.
type sample struct {
	question string
	answer   faultllm.Answer
	faults   []faultllm.Fault
}

// tokensPerPiece is how much of an answer comes in one frame: as much as a fast model sends at once.
const tokensPerPiece = 4

// scenario makes answers of 600 to 3,000 bytes. A third of them breaks once, a third twice, a third not at all: at any
// place, in one of the ways in which connections and providers break.
func scenario(seed uint64, n int) []sample {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same faults for the same seed
	words := strings.Fields("tide harbour wind sail reef current buoy chart keel rope anchor beacon channel swell lee draft")
	var all []sample
	for i := range n {
		name := fmt.Sprintf("answer %d", i)
		var text strings.Builder
		for size := 600 + r.IntN(2400); text.Len() < size; {
			fmt.Fprintf(&text, "%s %d, ", words[r.IntN(len(words))], r.IntN(1000))
		}
		whole := strings.TrimSuffix(text.String(), ", ") + "."
		s := sample{
			question: fmt.Sprintf("Question %d: what do I need to know?", i),
			answer:   faultllm.Answer{Name: name, Parts: []faultllm.Part{faultllm.Say(whole)}},
		}
		for range i % 3 {
			s.faults = append(s.faults, fault(r, len(whole)))
		}
		all = append(all, s)
	}

	return all
}

// fault is one way to break, at a place that a first attempt reaches.
func fault(r *rand.Rand, size int) faultllm.Fault {
	at := faultllm.InTextBytes(1 + r.IntN(size-1))
	switch r.IntN(6) {
	case 0:
		return faultllm.Reset(at)
	case 1:
		return faultllm.CutChunked(at)
	case 2:
		return faultllm.CleanEnd(at)
	case 3:
		return faultllm.MalformedJSON(at)
	case 4:
		return faultllm.InBandError(at, "overloaded_error", "Overloaded")
	default:
		return faultllm.Refuse(503, faultllm.RetryAfter{})
	}
}
