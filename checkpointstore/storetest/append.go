package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func appendRules() []rule {
	return []rule{
		{
			name:   "AppendAdds",
			reason: "an answer that is kept in parts must come back as the one that was given, whatever grew and however long it is",
			needs:  appends,
			check:  appendAdds,
		},
		{
			name:   "AppendAgain",
			reason: "a writer, or its client, that got no answer sends the same once more",
			needs:  appends,
			check: func(e *env) {
				all := growing("run", 3)
				e.put(all[0])
				for i := range len(all) - 1 {
					e.append(all[i], all[i+1])
					e.append(all[i], all[i+1])
					e.holds(all[i+1])
				}
			},
		},
		{
			name:   "AppendWhereItGoesOn",
			reason: "a delta behind anything but what it was made for gives an answer that nobody wrote",
			needs:  appends,
			check: func(e *env) {
				for i, stored := range fences() {
					for j, next := range fences() {
						if (i+j)%3 == 0 && next.Seq > 0 {
							e.appendAgainst(fmt.Sprintf("run-%d-%d", i, j), stored, next, next.Seq-1)
						}
					}
				}
				for i, stored := range []checkpointstore.Fence{
					{Epoch: 2, Seq: 5, Owner: "a"},
					{Epoch: 2, Seq: 4, Owner: "a"},
					{Epoch: 2, Seq: 6, Owner: "a"},
					{Epoch: 2, Seq: 7, Owner: "a"},
					{Epoch: 2, Seq: 8, Owner: "a"},
					{Epoch: 2, Seq: 5, Owner: "b"},
					{Epoch: 3, Seq: 5, Owner: "a"},
					{Epoch: 1, Seq: 5, Owner: "a"},
				} {
					e.appendAgainst(fmt.Sprintf("one-%d", i), stored, checkpointstore.Fence{Epoch: 2, Seq: 7, Owner: "a"}, 5)
				}
			},
		},
		{
			name:   "AppendToNothing",
			reason: "a checkpoint that has expired or was deleted meanwhile is one that the writer has to put whole",
			needs:  appends,
			check: func(e *env) {
				all := growing("run", 1)
				e.is(e.tryAppend(all[0], all[1]), checkpointstore.ErrNoBase, "Append to nothing")
				e.holdsNothing("run")
				e.put(all[0])
				e.is(e.store.Delete(e.Context(), "run"), nil, "Delete")
				e.is(e.tryAppend(all[0], all[1]), checkpointstore.ErrNoBase, "Append to what was deleted")
				e.holdsNothing("run")
			},
		},
		{
			name:   "AppendedIsStored",
			reason: "what was added counts as if it had been put: for the fence of every writer, old or new",
			needs:  appends,
			check:  appendedIsStored,
		},
		{
			name:   "DeltasGoWithTheirCheckpoint",
			reason: "a delta that outlives its checkpoint would be read behind the next one",
			needs:  appends,
			check:  deltasGo,
		},
		{
			name:   "ZombieAppendAndSuccessor",
			reason: "comparing and adding in two steps leaves a gap in which the successor's answer gets the zombie's words",
			needs:  appends,
			check:  zombieAppend,
		},
		{
			name:   "AppendRenews",
			reason: "a long answer must not expire under its writer's hands",
			needs: func(s suite, store checkpointstore.Store) bool {
				_, cleans := store.(checkpointstore.Cleaner)

				return appends(s, store) && (cleans || s.newTTLStore != nil)
			},
			check: appendRenews,
		},
	}
}

// growing are a checkpoint and n that each add to the one before: text, thought, calls, Extra.
func growing(runID string, n int) []checkpointstore.Checkpoint {
	c := sample(runID)
	c.Epoch, c.Seq, c.Owner, c.Done = 8, 1, "a", false
	c.OpenToolCall.Index = len(c.ToolCalls)
	all := []checkpointstore.Checkpoint{c}
	for i := range n {
		c.Seq += uint64(1 + i%2)
		c.UpdatedAt = c.UpdatedAt.Add(time.Second)
		c.Text, c.Reasoning = c.Text+fmt.Sprintf(" and \"%d\"\n", i), c.Reasoning+"\x9f"
		open := *c.OpenToolCall
		open.Arguments += fmt.Sprintf("%d\xff", i)
		c.OpenToolCall = &open
		if i%3 == 1 {
			c.ToolCalls = append(slices.Clip(c.ToolCalls), open)
			c.OpenToolCall = &checkpointstore.ToolCall{Index: open.Index + 1, Name: "next"}
		}
		c.Extra = sampleExtra()
		c.Extra["n"], c.Extra["grows"] = int64(i), strings.Repeat("é\xff", i)
		c.Interruptions, c.Usage.Total, c.Dropped = i, i, append(c.Dropped[:2:2], fmt.Sprint(i))
		all = append(all, c)
	}

	return all
}

// tryAppend appends what makes next of before.
func (e *env) tryAppend(before, next checkpointstore.Checkpoint) error {
	e.Helper()

	return e.appendTo(e.store, before, next)
}

func (e *env) appendTo(s checkpointstore.Store, before, next checkpointstore.Checkpoint) error {
	e.Helper()
	a, ok := s.(checkpointstore.Appender)
	if !ok {
		e.Fatal("the store was one that appends")
	}
	before, _ = checkpointstore.Normalize(before)
	next, _ = checkpointstore.Normalize(next)
	d, ok := checkpointstore.Diff(before, next)
	if !ok {
		e.Fatal("the second checkpoint does not only add to the first")
	}

	return a.Append(e.Context(), d)
}

func (e *env) append(before, next checkpointstore.Checkpoint) {
	e.Helper()
	e.is(e.tryAppend(before, next), nil, "Append from %d to %d of %s", before.Seq, next.Seq, label(next))
}

func appendAdds(e *env) {
	all := growing("run", 40)
	e.put(all[0])
	for i := range len(all) - 1 {
		e.append(all[i], all[i+1])
		if i%10 < 3 {
			e.holds(all[i+1])
		}
	}
	e.holds(all[len(all)-1])

	long := at("long", checkpointstore.Fence{Epoch: 1, Owner: "a"})
	long.Text = strings.Repeat("0123456789abcde\n", 4<<20/16)
	e.put(long)
	for range 4 {
		next := long
		next.Seq++
		next.Text += strings.Repeat("0123456789abcde\n", 512<<10/16)
		e.append(long, next)
		long = next
	}
	e.holds(long)

	for _, id := range oddRunIDs() {
		two := growing(id, 1)
		e.put(two[0])
		e.append(two[0], two[1])
	}
	for _, id := range oddRunIDs() {
		e.holds(growing(id, 1)[1])
	}
}

// appendAgainst appends from a sequence to next where stored is, and demands what AllowAppend says of it.
func (e *env) appendAgainst(runID string, stored, next checkpointstore.Fence, after uint64) {
	e.Helper()
	e.put(at(runID, stored))
	before, later := at(runID, next), at(runID, next)
	before.Seq, later.Text = after, later.Text+", more"
	again, want := checkpointstore.AllowAppend(stored, checkpointstore.Delta{RunID: runID, Epoch: next.Epoch, Owner: next.Owner, After: after, Seq: next.Seq})
	for _, sentinel := range []error{checkpointstore.ErrStale, checkpointstore.ErrNoBase} {
		if errors.Is(want, sentinel) {
			want = sentinel
		}
	}
	e.is(e.tryAppend(before, later), want, "Append from %d to %+v where %+v is", after, next, stored)
	if want != nil || again {
		e.holds(at(runID, stored))
	} else {
		e.holds(later)
	}
}
