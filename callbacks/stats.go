package callbacks

import (
	"cmp"
	"context"
	"slices"
	"sync"
)

// MaxModels bounds the models that a [Stats] tells apart. Those that come after so many different ones are counted
// together, with [Other] as their provider and model.
const MaxModels = 1000

// Stats is a [Handler] that counts events, per provider and model. Give one to as many models as shall be counted
// together. It is safe for concurrent use, holds nothing to close, and keeps nothing of a call but its numbers: a few
// kilobytes a model, for at most [MaxModels] models. Counting does not block. The zero Stats is ready
// for use and has counted nothing.
type Stats struct {
	mu     sync.Mutex
	models map[modelName]*ModelStats
}

type modelName struct{ provider, model string }

// NewStats returns a Stats that has counted nothing.
func NewStats() *Stats { return new(Stats) }

// Handle counts e. A nil e is nothing to count, and neither is what only accompanies another event: a model of which
// nothing else is told has no numbers.
func (s *Stats) Handle(_ context.Context, e Event) {
	switch e.(type) {
	case nil, ToolCallProgress, ToolCallCancel:
		return
	}
	of := e.Of()
	name := modelName{boundWord(of.Provider), boundWord(of.Model)}

	s.mu.Lock()
	defer s.mu.Unlock()
	e.count(s.of(name))
}

// of returns the numbers of a model.
func (s *Stats) of(name modelName) *ModelStats {
	m := s.models[name]
	if m != nil {
		return m
	}
	if len(s.models) >= MaxModels {
		name = modelName{Other, Other}
		if m = s.models[name]; m != nil {
			return m
		}
	}
	if s.models == nil {
		s.models = make(map[modelName]*ModelStats)
	}
	m = &ModelStats{Provider: name.provider, Model: name.model}
	s.models[name] = m

	return m
}

// Models returns the numbers of all models that an event told of, by provider and then by model. They are copies: the
// caller may keep and change them.
func (s *Stats) Models() []ModelStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]ModelStats, 0, len(s.models))
	for _, m := range s.models {
		all = append(all, m.clone())
	}
	slices.SortFunc(all, func(a, b ModelStats) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model))
	})

	return all
}

// Total returns the numbers of all models together, without a provider and a model. Like Models, it is a copy.
func (s *Stats) Total() ModelStats {
	var total ModelStats
	for _, m := range s.Models() {
		total.merge(m)
	}

	return total
}
