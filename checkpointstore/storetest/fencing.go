package storetest

import (
	"fmt"
	"math"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// fences are places whose order a store is tempted to get wrong: as texts, as floats, as signed numbers.
func fences() []checkpointstore.Fence {
	numbers := []uint64{0, 1, 9, 10, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1, math.MaxUint64}
	var all []checkpointstore.Fence
	for i, n := range numbers {
		all = append(all,
			checkpointstore.Fence{Epoch: n, Seq: 1, Owner: "a"},
			checkpointstore.Fence{Epoch: 1, Seq: n, Owner: "a"},
			checkpointstore.Fence{Epoch: n, Seq: numbers[len(numbers)-1-i], Owner: "b"},
		)
	}

	return append(all, checkpointstore.Fence{Epoch: 1, Seq: 1}, checkpointstore.Fence{Epoch: 1, Seq: 1, Owner: "A"}, checkpointstore.Fence{Epoch: 1, Seq: 1, Owner: "a "}, checkpointstore.Fence{Epoch: 1, Seq: 1, Owner: "\x00\xff"})
}

func fenceRules() []rule {
	return []rule{
		{
			name:   "StalePutIsRefused",
			reason: "a writer that was thought dead wakes up and overwrites what its successor wrote",
			check: func(e *env) {
				for i, stored := range fences() {
					for j, next := range fences() {
						if (i+j)%3 != 0 && i != j { // a third is enough, and every number meets every other
							continue
						}
						e.putAgainst(fmt.Sprintf("run-%d-%d", i, j), stored, next)
					}
				}
			},
		},
		{
			name:   "TieOnlyForTheSameOwner",
			reason: "two processes that take over the same run at once must not both believe that it is theirs",
			check: func(e *env) {
				for i, next := range []checkpointstore.Fence{
					{Epoch: 2, Seq: 5, Owner: "a"}, {Epoch: 2, Seq: 5, Owner: "b"}, {Epoch: 2, Seq: 6, Owner: "b"}, {Epoch: 2, Seq: 5}, {Epoch: 2, Seq: 4, Owner: "a"},
				} {
					e.putAgainst(fmt.Sprintf("run-%d", i), checkpointstore.Fence{Epoch: 2, Seq: 5, Owner: "a"}, next)
				}
			},
		},
		{
			name:   "ZombieDeleteIsRefused",
			reason: "a writer that was thought dead wakes up, finishes and removes what its successor wrote",
			needs:  deletesIf,
			check: func(e *env) {
				e.is(e.deleteIf(at("nothing", checkpointstore.Fence{Epoch: 1, Owner: "a"})), nil, "DeleteIf of nothing")
				for i, stored := range fences() {
					for j, by := range fences() {
						if (i+j)%5 == 0 || i == j {
							e.deleteAgainst(fmt.Sprintf("run-%d-%d", i, j), stored, by)
						}
					}
				}
				for i, by := range []checkpointstore.Fence{
					{Epoch: 2, Seq: 5, Owner: "a"},
					{Epoch: 2, Seq: 6, Owner: "a"},
					{Epoch: 2, Seq: 4, Owner: "a"},
					{Epoch: 2, Seq: 5, Owner: "b"},
					{Epoch: 1, Seq: 9, Owner: "a"},
					{Epoch: 3, Seq: 5, Owner: "a"},
				} {
					e.deleteAgainst(fmt.Sprintf("one-%d", i), checkpointstore.Fence{Epoch: 2, Seq: 5, Owner: "a"}, by)
				}
			},
		},
	}
}

// putAgainst puts next where stored is, and demands what AllowPut says of it.
func (e *env) putAgainst(runID string, stored, next checkpointstore.Fence) {
	e.Helper()
	e.put(at(runID, stored))
	err := e.store.Put(e.Context(), at(runID, next))
	if want := checkpointstore.AllowPut(stored, next); want != nil {
		e.is(err, checkpointstore.ErrStale, "Put of %+v over %+v", next, stored)
		e.holds(at(runID, stored))
	} else {
		e.is(err, nil, "Put of %+v over %+v", next, stored)
		e.holds(at(runID, next))
	}
}

func (e *env) deleteAgainst(runID string, stored, by checkpointstore.Fence) {
	e.Helper()
	e.put(at(runID, stored))
	err := e.deleteIf(at(runID, by))
	if want := checkpointstore.AllowDelete(stored, by); want != nil {
		e.is(err, checkpointstore.ErrStale, "DeleteIf of %+v by %+v", stored, by)
		e.holds(at(runID, stored))
	} else {
		e.is(err, nil, "DeleteIf of %+v by %+v", stored, by)
		e.holdsNothing(runID)
	}
}

func (e *env) deleteIf(c checkpointstore.Checkpoint) error {
	d, ok := e.store.(checkpointstore.ConditionalDeleter)
	if !ok {
		e.Fatal("the store was one that can delete under a condition")
	}

	return d.DeleteIf(e.Context(), c)
}
