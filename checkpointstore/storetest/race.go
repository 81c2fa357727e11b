package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func raceRules() []rule {
	return []rule{
		{
			name:   "OneClaimerWins",
			reason: "two processes that resume the same run would pay and act twice",
			check:  oneClaimerWins,
		},
		{
			name:   "ZombieAndSuccessor",
			reason: "comparing and writing in two steps leaves a gap through which an old writer slips under load",
			check:  zombieAndSuccessor,
		},
		{
			name:   "ZombieDeleteAndClaim",
			reason: "comparing and deleting in two steps leaves a gap in which a claim is made, and lost",
			needs:  deletesIf,
			check:  zombieDeleteAndClaim,
		},
		{
			name:   "ConcurrentRuns",
			reason: "one store serves all runs of a process at once",
			check:  concurrentRuns,
		},
	}
}

func oneClaimerWins(e *env) {
	const claimers, rounds = 8, 16
	stores := [2]checkpointstore.Store{e.store, e.second()}
	dead := e.second() // the claimers must not know from their own writing what is there
	for round := range rounds {
		runID := fmt.Sprintf("run-%d", round)
		if round%2 == 1 { // the other half claims what nobody has written yet
			err := dead.Put(e.Context(), at(runID, checkpointstore.Fence{Epoch: 1, Seq: 7, Owner: "dead"}))
			e.is(err, nil, "round %d: the first Put", round)
		}
		var errs [claimers]error
		together(claimers, func(i int) {
			// The sequences differ, as those of claimers who read at different moments may.
			errs[i] = stores[i%2].Put(e.Context(), at(runID, checkpointstore.Fence{Epoch: 2, Seq: uint64((3*i + round) % claimers), Owner: owner(i)}))
		})
		winner := -1
		for i, err := range errs {
			switch {
			case err == nil && winner >= 0:
				e.broken("round %d: both %s and %s have the epoch", round, owner(winner), owner(i))
			case err == nil:
				winner = i
			default:
				e.is(err, checkpointstore.ErrStale, "round %d: the claim of %s", round, owner(i))
			}
		}
		if winner < 0 {
			e.broken("round %d: nobody has the epoch", round)
		}
		if c := e.get(runID); c.Owner != owner(winner) {
			e.broken("round %d: %s was told that it has the epoch, but %q is stored", round, owner(winner), c.Owner)
		}
	}
}

func zombieAndSuccessor(e *env) {
	e.succeedsTo("Put", func(runID string) func() error {
		seq := uint64(0)

		return func() error {
			err := e.store.Put(e.Context(), at(runID, checkpointstore.Fence{Epoch: 1, Seq: seq, Owner: "a"}))
			seq++

			return err
		}
	})
}

// succeedsTo lets another claim a run while its owner writes, and demands that the owner is refused from then on. The writer
// of a run returns what makes the owner's next write.
func (e *env) succeedsTo(verb string, writer func(runID string) (write func() error)) {
	e.Helper()
	successor := e.second()
	for round := range 5 {
		runID := fmt.Sprintf("run-%d", round)
		write := writer(runID)
		claim := at(runID, checkpointstore.Fence{Epoch: 2, Owner: "b"})
		started := make(chan struct{})
		var once sync.Once
		var over atomic.Bool
		var claimed, refused error
		together(2, func(i int) {
			if i == 0 {
				<-started
				claimed = successor.Put(e.Context(), claim)
				over.Store(true)

				return
			}
			for n, last := 0, false; refused == nil && !last; n++ {
				last = over.Load() // what is written after this must be refused
				refused = write()
				if n == 3 || refused != nil {
					once.Do(func() { close(started) })
				}
			}
		})
		e.is(claimed, nil, "the claim while the old owner writes")
		e.is(refused, checkpointstore.ErrStale, "the old owner's %s after the claim", verb)
		e.holds(claim)
	}
}

func zombieDeleteAndClaim(e *env) {
	for round := range 40 {
		old := at(fmt.Sprintf("run-%d", round), checkpointstore.Fence{Epoch: 1, Seq: 5, Owner: "a"})
		next := at(old.RunID, checkpointstore.Fence{Epoch: 2, Owner: "b"})
		e.put(old)
		var claimed, deleted error
		together(2, func(i int) {
			if i == 0 {
				claimed = e.store.Put(e.Context(), next)
			} else {
				deleted = e.deleteIf(old)
			}
		})
		e.is(claimed, nil, "the claim beside a delete")
		if deleted != nil {
			e.is(deleted, checkpointstore.ErrStale, "the delete beside a claim")
		}
		e.holds(next)
	}
}

func concurrentRuns(e *env) {
	const runs, puts = 16, 10
	var errs [runs]error
	together(runs, func(i int) {
		for seq := range puts {
			c := sample(fmt.Sprintf("run-%d", i))
			c.Seq, c.Text = uint64(seq), fmt.Sprint(i, seq)
			if errs[i] = writeAndRead(e.Context(), e.store, c); errs[i] != nil {
				return
			}
		}
	})
	for i, err := range errs {
		e.is(err, nil, "run %d", i)
	}
}

func writeAndRead(ctx context.Context, s checkpointstore.Store, c checkpointstore.Checkpoint) error {
	if err := s.Put(ctx, c); err != nil {
		return err
	}
	got, err := s.Get(ctx, c.RunID)
	if err == nil && got.Text != c.Text {
		err = errors.New("another text came back: " + got.Text)
	}

	return err
}

// together runs do(0) to do(n-1) at once and waits for them.
func together(n int, do func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	wg.Wait()
}

func owner(i int) string { return fmt.Sprintf("owner-%d", i) }
