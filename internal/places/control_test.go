package places_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/require"
)

// TestControlOfAgents: the user's control wins wherever a model call stands, also in an agent below the one that is
// cancelled: the run ends, nothing more is asked, and nothing is left behind. What is resumed has one message of each
// answer, and no tool has run twice.
func TestControlOfAgents(t *testing.T) {
	t.Parallel()
	for name, cell := range cells() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &store{}
			cell(t, s).resume(t, interrupt(t, func(t *testing.T) half { t.Helper(); return cell(t, s) })...)
		})
	}
}

// cells are all cells of the table, by name. What a cell makes is used for one half of it.
func cells() map[string]func(*testing.T, adk.CheckPointStore) half {
	all := map[string]func(*testing.T, adk.CheckPointStore) half{}
	messages, agentic := messageTongue(), agenticTongue()
	addCells(all, "messages", messages, slices.Concat([]nest[adk.Message]{alone[adk.Message](), unstreamed[adk.Message]()}, below[adk.Message](messages.steps), beside(messages.steps)))
	addCells(all, "agentic messages", agentic, append([]nest[adk.AgenticMessage]{alone[adk.AgenticMessage](), unstreamed[adk.AgenticMessage]()}, below[adk.AgenticMessage](agentic.steps)...))

	return all
}

func addCells[M adk.MessageType](all map[string]func(*testing.T, adk.CheckPointStore) half, kind string, l tongue[M], nests []nest[M]) {
	for place := range l.places {
		for _, n := range nests {
			for _, s := range signals() {
				if !plays(place, len(n.asks) == 0, s) {
					continue
				}
				for _, m := range moments() {
					if n.whole && m.continued && place != "Model" {
						continue // a middleware gets no stream from an agent that has none
					}
					all[strings.Join([]string{kind, place, n.name, s.name, m.name}, "/")] = func(t *testing.T, store adk.CheckPointStore) half {
						t.Helper()

						return &controlled[M]{
							tongue: l, place: place, nest: n, signal: s, moment: m, store: store,
							lookout: newLookout(), release: make(chan struct{}),
						}
					}
				}
			}
		}
	}
}

// plays reports whether a signal makes a difference: one that is not recursive leaves what is below the agent running, by
// Eino's design; one that is finds nothing below an agent that is alone; and of two decorators below one another only the
// first acts, wherever the agent stands.
func plays(place string, alone bool, s signal) bool {
	if alone {
		return s.ctx != nil || !s.recursive || place == "Model"
	}

	return s.recursive && place != "both"
}

// TestControlOfGraphs: the same for graphs, which are interrupted from outside.
func TestControlOfGraphs(t *testing.T) {
	t.Parallel()
	for name, cell := range graphCells() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &store{}
			cell(t, s).resume(t, interrupt(t, func(t *testing.T) half { t.Helper(); return cell(t, s) })...)
		})
	}
}

func graphCells() map[string]func(*testing.T, adk.CheckPointStore) half {
	all := map[string]func(*testing.T, adk.CheckPointStore) half{}
	addGraphCells(all, "messages", messageTongue())
	addGraphCells(all, "agentic messages", agenticTongue())

	return all
}

func addGraphCells[M adk.MessageType](all map[string]func(*testing.T, adk.CheckPointStore) half, kind string, l tongue[M]) {
	for nested, place := range map[bool]string{false: "graph", true: "graph in a graph"} {
		for _, w := range graphWays() {
			for _, s := range graphSignals() {
				for _, m := range moments() {
					if w.generate && m.continued {
						continue
					}
					all[strings.Join([]string{kind, place, w.name, s.name, m.name}, "/")] = func(_ *testing.T, store adk.CheckPointStore) half {
						return newGraphed(l, nested, w, s, m, store)
					}
				}
			}
		}
	}
}

// half is the first half of a cell, which ends when the user takes control, or the second, which goes on from there.
type half interface {
	interrupt(t *testing.T) (runs []string, inTime bool)
	resume(t *testing.T, before ...string)
}

// interrupt plays the first half of a cell until the signal comes in time, and returns the tools that have run.
func interrupt(t *testing.T, cell func(*testing.T) half) []string {
	t.Helper()
	for range 100 {
		if runs, inTime := cell(t).interrupt(t); inTime {
			return runs
		}
	}
	require.Fail(t, "the agent below hears of no cancel in time")

	return nil
}
