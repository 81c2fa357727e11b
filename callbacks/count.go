package callbacks

import (
	"math"
	"slices"
	"time"

	"github.com/eino-carryon/carryon/snapshot"
)

// What each event adds to the statistics. Only the event itself is looked at, never those before it, so that nothing has
// to be remembered of a call, and a log may begin anywhere.

func (e Interrupted) count(m *ModelStats) {
	if e.ContinuationAttempt == 0 { // the original answer breaks once at most
		add(&m.Interrupted, 1)
	}
	addWord(&m.Causes, e.Cause, 1)
	addWord(&m.Plans, e.Plan.String(), 1)
	add(&m.DiscardedThoughts, e.DiscardedReasoningBlocks)
	if e.Usage.Known && e.Usage.Unreported == 0 {
		add(&m.UsageKnown, 1)
	} else {
		add(&m.UsageUnknown, 1)
	}
	if e.Usage.Known && e.Plan != snapshot.WholeRestart {
		add(&m.KeptTokens, atLeast0(e.Usage.Completion)-atLeast0(e.Usage.Reasoning))
	}
}

func (e Started) count(m *ModelStats) {
	add(&m.Continuations, 1)
	m.wait(e.Backoff)
	if e.Plan != snapshot.WholeRestart { // the request keeps nothing
		add(&m.KeptTextBytes, e.CommittedTextBytes)
		add(&m.KeptToolCalls, e.CommittedToolCalls)
	}
}

func (e Completed) count(m *ModelStats) {
	add(&m.Recovered, 1)
	m.billCall(e.Billed)
}

func (e Failed) count(m *ModelStats) { add(&m.FailedContinuations, 1) }

func (e Cancelled) count(m *ModelStats) { add(&m.Cancelled, 1) }

func (e Exhausted) count(m *ModelStats) {
	add(&m.Exhausted, 1)
	addWord(&m.FinalReasons, e.FinalReason, 1)
	m.billCall(e.Billed)
}

func (e Ended) count(m *ModelStats) {
	add(&m.Calls, 1)
	switch {
	case e.Outcome == OutcomeRecovered, e.Outcome == OutcomeExhausted: // those have told it themselves
	case e.Requests == 0 && !e.Billed.Known: // there was nothing to bill
	default:
		m.billCall(e.Billed)
	}
}

func (e PartialToolUseDiscarded) count(m *ModelStats) {
	add(&m.DiscardedToolCalls, 1)
	add(&m.DiscardedToolBytes, e.PartialInputBytes)
}

func (e StreamReset) count(m *ModelStats) { add(&m.Restarts, 1) }

func (e Joined) count(m *ModelStats) {
	addWord(&m.Joins, e.Kind, 1)
	addWord(&m.Confidences, e.Confidence, 1)
	add(&m.OverlapBytes, e.Overlap)
}

func (e OpenRetried) count(m *ModelStats) {
	add(&m.OpenRetries, 1)
	addWord(&m.OpenCauses, e.Cause, 1)
	m.wait(e.Backoff)
}

func (e CheckpointFailed) count(m *ModelStats) { add(&m.CheckpointFailures, 1) }

func (e BreakerChanged) count(m *ModelStats) { addWord(&m.BreakerChanges, e.To, 1) }

func (e LateError) count(m *ModelStats) { add(&m.LateErrors, 1) }

func (e HandlerStalled) count(m *ModelStats) { add(&m.HandlersStalled, 1) }

func (e Notice) count(m *ModelStats) { addWord(&m.Notices, e.Kind, 1) }

// PartialToolUseDiscarded counts the same call.
func (ToolCallCancel) count(*ModelStats) {}

// Progress that nobody missed.
func (ToolCallProgress) count(*ModelStats) {}

func (m *ModelStats) wait(d time.Duration) {
	if d > 0 {
		add(&m.Waits, 1)
		m.waited(d)
	}
}

func (m *ModelStats) waited(d time.Duration) {
	if d > math.MaxInt64-m.Waited {
		d = math.MaxInt64 - m.Waited
	}
	m.Waited += d
}

// billCall adds what one call was billed.
func (m *ModelStats) billCall(u snapshot.Usage) {
	if !u.Known {
		add(&m.BilledUnknown, 1)

		return
	}
	add(&m.BilledKnown, 1)
	if u.Unreported > 0 {
		add(&m.BilledPartly, 1)
	}
	m.Billed.merge(Tokens{
		Prompt: u.Prompt, Cached: u.Cached, Completion: u.Completion, Reasoning: u.Reasoning, Total: u.Total,
	})
}

// add adds n to sum, which only grows and stops at the largest number that it can hold.
func add(sum *int, n int) {
	switch {
	case n <= 0:
	case n > math.MaxInt-*sum:
		*sum = math.MaxInt
	default:
		*sum += n
	}
}

func atLeast0(n int) int { return max(0, n) }

// MaxWords bounds the keys of a map in [ModelStats]: what comes after so many different ones is counted as [Other].
const MaxWords = 64

// Other is what is counted together because there are too many different ones of its kind.
const Other = "other"

// addWord counts a word n times.
func addWord[W ~string](words *map[W]int, word W, n int) {
	word = W(boundWord(string(word)))
	if *words == nil {
		*words = make(map[W]int)
	}
	if _, known := (*words)[word]; !known && len(*words) >= MaxWords-1 {
		word = Other
	}
	sum := (*words)[word]
	add(&sum, n)
	(*words)[word] = sum
}

// mergeWords adds from's numbers in the order of their words, so that the sum does not depend on chance.
func mergeWords[W ~string](words *map[W]int, from map[W]int) {
	keys := make([]W, 0, len(from))
	for word := range from {
		keys = append(keys, word)
	}
	slices.Sort(keys)
	for _, word := range keys {
		addWord(words, word, from[word])
	}
}
