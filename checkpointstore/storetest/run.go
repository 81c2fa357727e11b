// Package storetest holds a checkpointstore.Store to its contract. A store's own test is one call:
//
//	func TestContract(t *testing.T) {
//		storetest.Run(t, func(tb testing.TB) checkpointstore.Store { return mystore.New(open(tb)) })
//	}
package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// NewStore returns a store that is empty, or at least has no checkpoint of an earlier call, and registers with
// tb.Cleanup what must be closed after the test.
type NewStore func(tb testing.TB) checkpointstore.Store

// Option switches on rules that need more than an empty store.
type Option func(*suite)

// WithPeer gives a second store on the data of s, with a client of its own: what another process would have. The races
// are then run between the two.
func WithPeer(peer func(tb testing.TB, s checkpointstore.Store) checkpointstore.Store) Option {
	return func(s *suite) { s.peer = peer }
}

// WithPlant gives a way round Put: plant puts data where the store keeps the encoded checkpoint of runID, be it there
// or not. What is stored on disk is not always what was written.
func WithPlant(plant func(tb testing.TB, s checkpointstore.Store, runID string, data []byte)) Option {
	return func(s *suite) { s.plant = plant }
}

// WithTTL gives a store whose checkpoints go ttl after their last Put. The rule takes some times ttl to run; a second is
// what most servers count in.
func WithTTL(ttl time.Duration, newStore NewStore) Option {
	return func(s *suite) { s.ttl, s.newTTLStore = ttl, newStore }
}

// Without leaves a rule out, for a store that cannot hold it and says so to its users; the reason is printed. The name is that
// of the rule's subtest.
func Without(rule, reason string) Option {
	return func(s *suite) {
		if s.without == nil {
			s.without = map[string]string{}
		}
		s.without[rule] = reason
	}
}

// Run runs every rule as a parallel subtest, each on a store of its own. A rule for an optional interface runs if the
// store has it. A failure says why the rule is there.
func Run(t *testing.T, newStore NewStore, opts ...Option) {
	t.Helper()
	s := suite{newStore: newStore}
	for _, opt := range opts {
		opt(&s)
	}
	if err := s.misnamed(); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.run(t, s)
		})
	}
}

type suite struct {
	newStore    NewStore
	peer        func(testing.TB, checkpointstore.Store) checkpointstore.Store
	plant       func(testing.TB, checkpointstore.Store, string, []byte)
	ttl         time.Duration
	newTTLStore NewStore
	without     map[string]string
}

// misnamed returns an error if what is to be left out is no rule, or is left out for no reason.
func (s suite) misnamed() error {
	for name, reason := range s.without {
		if !slices.ContainsFunc(rules(), func(r rule) bool { return r.name == name }) {
			return fmt.Errorf("storetest: there is no rule %q", name)
		}
		if reason == "" {
			return fmt.Errorf("storetest: the rule %s is left out for no reason", name)
		}
	}

	return nil
}

// rule is one promise of the contract.
type rule struct {
	name   string
	reason string // printed when it is broken
	needs  func(suite, checkpointstore.Store) bool
	check  func(*env)
}

func rules() []rule {
	var all []rule
	for _, group := range [][]rule{basicRules(), inputRules(), fenceRules(), raceRules(), appendRules(), planted(), lifeRules()} {
		all = append(all, group...)
	}

	return all
}

func (r rule) run(tb testing.TB, s suite) {
	tb.Helper()
	if reason := s.without[r.name]; reason != "" {
		tb.Skip(reason)
	}
	store := s.newStore(tb)
	if r.needs != nil && !r.needs(s, store) {
		tb.Skip("the store has no such ability")
	}
	r.check(&env{TB: tb, suite: s, store: store, reason: r.reason})
}
