package faultllm

import (
	"errors"
	"testing"
)

// TestLedgerIsBounded needs a small ledger.
func TestLedgerIsBounded(t *testing.T) {
	for name, l := range map[string]*ledger{"records": newLedger(3, 1000), "bytes": newLedger(1000, 30)} {
		for range 10 {
			r := l.arrive(nil, make([]byte, 10))
			l.attempt(r, 7)
			l.update(r, func(r *Record) { r.Prompt, r.Completion, r.Lost = 5, 2, 1 })
			l.end(r)
		}
		checkBounded(t, name, l)
		for range 3 {
			l.attempt(l.arrive(nil, nil), 8)
		}
		if l.limit == 3 && l.attempts[7] != nil {
			t.Errorf("%s: the attempts of forgotten records are kept", name)
		}
	}
}

// checkBounded looks for three of ten records.
func checkBounded(t *testing.T, name string, l *ledger) {
	t.Helper()
	got := l.snapshot()
	if len(got.Records) != 3 || got.Records[0].N != 7 || got.Records[2].Attempt != 9 {
		t.Errorf("%s: records = %v", name, got.Records)
	}
	if got.Requests != 10 || got.Prompt != 50 || got.Completion != 20 || got.Lost != 10 {
		t.Errorf("%s: totals = %+v", name, got)
	}
	if len(l.keys) != 3 || l.attempts[7].kept != 3 {
		t.Errorf("%s: %d keys, %d attempts kept", name, len(l.keys), l.attempts[7].kept)
	}
	s := &Server{ledger: l}
	if _, err := s.WaitEnded(t.Context(), 0); !errors.Is(err, ErrForgotten) {
		t.Errorf("%s: error = %v, want ErrForgotten", name, err)
	}
}

// TestTokensAddUp cuts a run anywhere: the parts cost what the whole costs.
func TestTokensAddUp(t *testing.T) {
	for n := range 30 {
		for cut := range n + 1 {
			if got, want := tokens(0, cut)+tokens(cut, n), (n+3)/4; got != want {
				t.Fatalf("%d bytes cut at %d: %d tokens, want %d", n, cut, got, want)
			}
		}
	}
}
