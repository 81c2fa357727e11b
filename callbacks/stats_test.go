package callbacks

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/snapshot"
)

// counted returns what a Stats makes of events.
func counted(events ...Event) *Stats {
	s := NewStats()
	for _, e := range events {
		s.Handle(context.Background(), e)
	}

	return s
}

func TestStatsOfThreeCalls(t *testing.T) {
	c := testCall()
	known := snapshot.Usage{Known: true, Prompt: 10, Cached: 4, Completion: 6, Reasoning: 2, Total: 16}
	least := known
	least.Unreported = 1
	s := counted(
		// One breaks twice and is recovered.
		OpenRetried{Call: c, Attempt: 1, Backoff: time.Second, Cause: CauseRateLimited},
		Interrupted{Call: c, Cause: CauseConnectionReset, Plan: snapshot.ContinueText, Usage: least},
		Started{Call: c, ContinuationAttempt: 1, Backoff: 2 * time.Second, CommittedTextBytes: 100},
		Joined{Call: c, ContinuationAttempt: 1, Kind: JoinOverlap, Overlap: 12, Confidence: ConfidenceHigh},
		Failed{Call: c, ContinuationAttempt: 1, Cause: CauseTruncated},
		Interrupted{
			Call: c, ContinuationAttempt: 1, Cause: CauseTruncated, Plan: snapshot.TruncateBeforeTool,
			DiscardedPartialToolUses: 1,
		},
		PartialToolUseDiscarded{Call: c, ToolName: "search", PartialInputBytes: 17},
		ToolCallCancel{Call: c, ToolName: "search"},
		Started{
			Call: c, ContinuationAttempt: 2, Backoff: 3 * time.Second, Plan: snapshot.TruncateBeforeTool, CommittedTextBytes: 150,
		},
		Joined{Call: c, ContinuationAttempt: 2, Kind: JoinPlain, Confidence: ConfidenceLow},
		Completed{Call: c, ContinuationAttempt: 2, CompletionReason: "stop", Billed: least},
		Ended{Call: c, Outcome: OutcomeRecovered, Billed: known},
		// One ends with its whole tool calls.
		Interrupted{Call: c, Cause: CauseConnectionReset, Plan: snapshot.SynthesizeToolUse},
		Started{Call: c, ContinuationAttempt: 1, Plan: snapshot.SynthesizeToolUse, CommittedTextBytes: 5, CommittedToolCalls: 2},
		Completed{Call: c, ContinuationAttempt: 1, CompletionReason: "tool_calls"},
		// One is given up while it thinks.
		Interrupted{Call: c, Cause: CauseIdleStall, Plan: snapshot.WholeRestart, DiscardedReasoningBlocks: 1, Usage: known},
		Started{Call: c, ContinuationAttempt: 1, Backoff: time.Second, Plan: snapshot.WholeRestart, CommittedTextBytes: 3},
		StreamReset{Call: c, Reason: "idle_stall"},
		Failed{Call: c, ContinuationAttempt: 1, Cause: CauseConnectionReset},
		Exhausted{Call: c, Attempts: 1, FinalReason: "refused", Billed: known},
		// One does not break.
		Ended{Call: c, Outcome: OutcomeComplete, Billed: known},
	)
	want := ModelStats{
		Provider: "OpenAI", Model: "example-model",
		Calls: 2, Interrupted: 3, Recovered: 2, Exhausted: 1,
		Causes:       map[Cause]int{CauseConnectionReset: 2, CauseTruncated: 1, CauseIdleStall: 1},
		Plans:        map[string]int{"ContinueText": 1, "TruncateBeforeTool": 1, "SynthesizeToolUse": 1, "WholeRestart": 1},
		FinalReasons: map[string]int{"refused": 1}, Restarts: 1,
		Continuations: 4, FailedContinuations: 2,
		OpenRetries: 1, OpenCauses: map[Cause]int{CauseRateLimited: 1},
		Waits: 4, Waited: 7 * time.Second,
		Joins:       map[JoinKind]int{JoinOverlap: 1, JoinPlain: 1},
		Confidences: map[Confidence]int{ConfidenceHigh: 1, ConfidenceLow: 1}, OverlapBytes: 12,
		KeptTextBytes: 255, KeptToolCalls: 2, KeptTokens: 4,
		DiscardedToolCalls: 1, DiscardedToolBytes: 17, DiscardedThoughts: 1,
		Billed:      Tokens{Prompt: 30, Cached: 12, Completion: 18, Reasoning: 6, Total: 48},
		BilledKnown: 3, BilledPartly: 1, BilledUnknown: 1, UsageKnown: 1, UsageUnknown: 3,
	}
	if got := s.Models(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

func TestStatsCountsEveryEvent(t *testing.T) {
	uncounted := []string{ToolCallCancel{}.Name(), ToolCallProgress{}.Name()}
	for _, w := range everyEvent() {
		e := w.event
		if i, ok := e.(Interrupted); ok {
			i.ContinuationAttempt = 0
			e = i
		}
		all := counted(e).Models()
		if slices.Contains(uncounted, w.name) {
			if len(all) > 0 { // a log without progress could not tell of the model
				t.Errorf("%s counts as %+v", w.name, all)
			}

			continue
		}
		nothing := ModelStats{Provider: testCall().Provider, Model: testCall().Model}
		if len(all) != 1 || reflect.DeepEqual(all[0], nothing) {
			t.Errorf("%s counts as %+v", w.name, all)
		}
	}
}

// full returns numbers of which none is zero.
func full(t *testing.T) ModelStats {
	t.Helper()
	var m ModelStats
	for _, l := range leaves(reflect.TypeOf(m)) {
		v := reflect.ValueOf(&m).Elem().FieldByIndex(l.index)
		switch {
		case v.CanInt():
			v.SetInt(3)
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("word").Convert(v.Type().Key()), reflect.ValueOf(3))
		case v.Kind() == reflect.String:
			v.SetString("name")
		default:
			t.Fatalf("no way to fill a %s: teach the test", v.Type())
		}
	}

	return m
}

func TestTotalAddsUpEveryNumber(t *testing.T) {
	var total ModelStats
	total.merge(full(t))
	total.merge(full(t))
	for _, l := range leaves(reflect.TypeOf(total)) {
		v := reflect.ValueOf(total).FieldByIndex(l.index)
		switch {
		case v.CanInt() && v.Int() != 6:
			t.Errorf("%s = %d, want 6", l.name, v.Int())
		case v.Kind() == reflect.Map && fmt.Sprint(v) != "map[word:6]":
			t.Errorf("%s = %v, want 6 of the word", l.name, v)
		case v.Kind() == reflect.String && v.String() != "":
			t.Errorf("%s = %q: a total is of no model", l.name, v)
		}
	}
}

func TestModelsAreCopies(t *testing.T) {
	m := full(t)
	c := m.clone()
	for _, l := range leaves(reflect.TypeOf(c)) {
		if v := reflect.ValueOf(c).FieldByIndex(l.index); v.Kind() == reflect.Map {
			v.SetMapIndex(reflect.ValueOf("word").Convert(v.Type().Key()), reflect.ValueOf(99))
		}
	}
	if !reflect.DeepEqual(m, full(t)) {
		t.Errorf("a change of the copy changed %+v", m)
	}

	s := counted(Joined{Call: testCall(), Kind: JoinPlain})
	s.Models()[0].Joins[JoinPlain] = 99
	if got := s.Models()[0].Joins[JoinPlain]; got != 1 {
		t.Errorf("a caller changed the count to %d", got)
	}
}

func TestModelsComeInOrder(t *testing.T) {
	s := NewStats()
	for _, name := range []string{"b/1", "a/2", "b/0", "a/1", "/", "a/"} {
		provider, model, _ := strings.Cut(name, "/")
		s.Handle(t.Context(), StreamReset{Call: Call{Provider: provider, Model: model}})
	}
	var got []string
	for _, m := range s.Models() {
		got = append(got, m.Provider+"/"+m.Model)
	}
	if want := []string{"/", "a/", "a/1", "a/2", "b/0", "b/1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRecoveryRate(t *testing.T) {
	for _, c := range []struct {
		interrupted, recovered int
		rate                   float64
		known                  bool
	}{
		{0, 0, 0, false}, {0, 3, 0, false}, {4, 0, 0, true}, {4, 3, 0.75, true}, {4, 4, 1, true}, {4, 5, 1, true},
	} {
		rate, known := ModelStats{Interrupted: c.interrupted, Recovered: c.recovered}.RecoveryRate()
		if rate != c.rate || known != c.known {
			t.Errorf("%d of %d: %v, %v", c.recovered, c.interrupted, rate, known)
		}
	}
}

// A call is interrupted once, however often its continuations break.
func TestStatsCountsInterruptedCallsOnce(t *testing.T) {
	s := NewStats()
	for n := range 5 {
		s.Handle(t.Context(), Interrupted{Call: testCall(), ContinuationAttempt: n})
	}
	if got := s.Models()[0].Interrupted; got != 1 {
		t.Errorf("%d interrupted calls, want 1", got)
	}
}

func TestStatsIsSafeForConcurrentUse(t *testing.T) {
	var s Stats
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				for _, w := range everyEvent() {
					s.Handle(t.Context(), w.event)
				}
				s.Models()
				s.Total()
			}
		})
	}
	wg.Wait()
	if got := s.Total().OpenRetries; got != 800 {
		t.Errorf("%d open retries, want 800", got)
	}
}

// TestStatsOfACallWithoutARequest: an answer from the store, or a call that the circuit breaker refused, has no bill.
func TestStatsOfACallWithoutARequest(t *testing.T) {
	m := counted(
		Ended{Call: testCall(), Outcome: OutcomeComplete}, Ended{Call: testCall(), Outcome: OutcomeFailed, Requests: 1},
	).Models()[0]
	if m.Calls != 2 || m.BilledUnknown != 1 || m.BilledKnown != 0 {
		t.Errorf("%d calls, %d bills unknown, %d known; want 2, 1, 0", m.Calls, m.BilledUnknown, m.BilledKnown)
	}
}
