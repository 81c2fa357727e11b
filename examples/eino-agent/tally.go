package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// tally counts the events of one turn. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts counts
}

// counts are what happened in a turn.
type counts struct {
	breaks int               // interruptions, requests that were refused for the moment among them
	plans  []string          // each as often as it was followed
	waited time.Duration     // before requests
	causes []callbacks.Cause // one a break
}

// Handle counts an event. It makes the tally a [callbacks.Handler].
func (t *tally) Handle(_ context.Context, e callbacks.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case callbacks.Interrupted:
		t.counts.breaks++
		t.counts.causes = append(t.counts.causes, e.Cause)
	case callbacks.Started:
		t.counts.plans = append(t.counts.plans, e.Plan.String())
		t.counts.waited += e.Backoff
	case callbacks.OpenRetried:
		t.counts.breaks++
		t.counts.causes = append(t.counts.causes, e.Cause)
		t.counts.plans = append(t.counts.plans, "open retry")
		t.counts.waited += e.Backoff
	}
}

// take returns the counts and begins anew.
func (t *tally) take() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.counts
	t.counts = counts{}

	return c
}

// planList names the plans in the order in which they came, each once.
func (c counts) planList() []string {
	times := make(map[string]int)
	var names []string
	for _, p := range c.plans {
		if times[p]++; times[p] == 1 {
			names = append(names, p)
		}
	}
	for i, name := range names {
		if n := times[name]; n > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, n)
		}
	}

	return names
}
