package storetest

import (
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func appendedIsStored(e *env) {
	stored := func(runID string) checkpointstore.Checkpoint {
		all := growing(runID, 2)
		e.put(all[0])
		e.append(all[0], all[1])
		e.append(all[1], all[2])

		return all[2]
	}
	last := stored("put")
	for i, next := range []checkpointstore.Fence{
		{Epoch: 8, Seq: 1, Owner: "a"},
		{Epoch: 8, Seq: last.Seq - 1, Owner: "a"},
		{Epoch: 8, Seq: last.Seq + 1, Owner: "b"},
		{Epoch: 7, Seq: 99, Owner: "a"},
		{Epoch: 8, Seq: last.Seq, Owner: "a"},
		{Epoch: 8, Seq: last.Seq + 1, Owner: "a"},
		{Epoch: 9, Owner: "b"},
	} {
		runID := fmt.Sprint("put-", i)
		last := stored(runID)
		err := e.store.Put(e.Context(), at(runID, next))
		if want := checkpointstore.AllowPut(last.Fence(), next); want != nil {
			e.is(err, checkpointstore.ErrStale, "Put of %+v over what was appended at %+v", next, last.Fence())
			e.holds(last)
		} else {
			e.is(err, nil, "Put of %+v over what was appended at %+v", next, last.Fence())
			e.holds(at(runID, next))
		}
	}
	if !deletesIf(e.suite, e.store) {
		return
	}
	for i, by := range []checkpointstore.Fence{
		{Epoch: 8, Seq: 1, Owner: "a"}, {Epoch: 8, Seq: last.Seq, Owner: "b"}, {Epoch: 9, Seq: last.Seq, Owner: "a"}, {Epoch: 8, Seq: last.Seq, Owner: "a"},
	} {
		runID := fmt.Sprint("delete-", i)
		last := stored(runID)
		err := e.deleteIf(at(runID, by))
		if want := checkpointstore.AllowDelete(last.Fence(), by); want != nil {
			e.is(err, checkpointstore.ErrStale, "DeleteIf by %+v of what was appended at %+v", by, last.Fence())
			e.holds(last)
		} else {
			e.is(err, nil, "DeleteIf by %+v of what was appended at %+v", by, last.Fence())
			e.holdsNothing(runID)
		}
	}
}

// deltasGo puts what has the same fence as what was there before, so that nothing but the delete keeps the deltas apart.
func deltasGo(e *env) {
	all := growing("run", 3)
	removals := []func(){
		func() { e.put(at("run", checkpointstore.Fence{Epoch: 9, Owner: "b"})) },
		func() { e.is(e.store.Delete(e.Context(), "run"), nil, "Delete") },
	}
	if deletesIf(e.suite, e.store) {
		removals = append(removals, func() { e.is(e.deleteIf(e.get("run")), nil, "DeleteIf") })
	}
	if c, ok := e.store.(checkpointstore.Cleaner); ok {
		removals = append(removals, func() {
			_, err := c.DeleteOlderThan(e.Context(), all[3].UpdatedAt.Add(time.Hour))
			e.is(err, nil, "DeleteOlderThan")
		})
	}
	for _, remove := range removals {
		e.put(all[0])
		e.append(all[0], all[1])
		e.append(all[1], all[2])
		remove()
		if _, err := e.store.Get(e.Context(), "run"); err == nil {
			e.holds(at("run", checkpointstore.Fence{Epoch: 9, Owner: "b"}))
			e.is(e.store.Delete(e.Context(), "run"), nil, "Delete")
		}
		e.put(all[0])
		e.holds(all[0])
		e.append(all[0], all[1])
		e.holds(all[1])
		e.put(all[2]) // the same writer puts the whole again, and goes on
		e.holds(all[2])
		e.append(all[2], all[3])
		e.holds(all[3])
		e.is(e.store.Delete(e.Context(), "run"), nil, "Delete")
	}
}

func zombieAppend(e *env) {
	e.succeedsTo("Append", func(runID string) func() error {
		before := at(runID, checkpointstore.Fence{Epoch: 1, Owner: "a"})
		e.put(before)

		return func() error {
			next := before
			next.Seq, next.Text = next.Seq+1, next.Text+" more"
			err := e.tryAppend(before, next)
			before = next

			return err
		}
	})
}

func appendRenews(e *env) {
	if c, ok := e.store.(checkpointstore.Cleaner); ok {
		all := growing("run", 1)
		e.put(all[0])
		e.append(all[0], all[1])
		n, err := c.DeleteOlderThan(e.Context(), all[1].UpdatedAt)
		e.is(err, nil, "DeleteOlderThan")
		if n != 0 {
			e.broken("DeleteOlderThan removed a checkpoint to which had just been added")
		}
		e.holds(all[1])
	}
	if e.suite.newTTLStore == nil {
		return
	}
	e.store = e.suite.newTTLStore(e.TB)
	before := at("run", checkpointstore.Fence{Epoch: 1, Owner: "a"})
	e.put(before)
	tick := time.NewTicker(e.suite.ttl / 4)
	defer tick.Stop()
	patience := 20
	for proved := 0; proved < 8; { // twice as long as it would live without
		next := before
		next.Seq, next.Text = next.Seq+1, next.Text+"."
		began := time.Now()
		err := e.tryAppend(before, next)
		<-tick.C
		got, getErr := e.store.Get(e.Context(), "run")
		switch {
		case time.Since(began) < e.suite.ttl:
			e.is(err, nil, "Append within the time to live")
			e.is(getErr, nil, "Get within the time to live")
			if got.Seq != next.Seq || got.Text != next.Text {
				e.broken("sequence %d came back as %d", next.Seq, got.Seq)
			}
			before = next
			proved++
		case patience == 0:
			e.Fatalf("the machine stands still for longer than %v again and again", e.suite.ttl)
		default: // it stood still, and the checkpoint may have gone meanwhile
			before.Epoch++
			e.put(before)
			patience--
		}
	}
}
