package storetest

import (
	"errors"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

func lifeRules() []rule {
	return []rule{
		{
			name:   "DeleteOlderThan",
			reason: "runs that nobody came back for fill a store, and those under way must survive the cleaning",
			needs: func(_ suite, s checkpointstore.Store) bool {
				_, ok := s.(checkpointstore.Cleaner)

				return ok
			},
			check: deleteOlderThan,
		},
		{
			name:   "TimeToLive",
			reason: "runs that nobody came back for fill a store, and each Put says that somebody is there",
			needs:  func(s suite, _ checkpointstore.Store) bool { return s.newTTLStore != nil },
			check:  timeToLive,
		},
	}
}

func deleteOlderThan(e *env) {
	now := sample("").UpdatedAt
	for id, updated := range map[string]time.Time{
		"old": now.Add(-time.Hour), "just": now.Add(-time.Nanosecond), "now": now, "later": now.Add(time.Hour), "never": {},
	} {
		c := sample(id)
		c.UpdatedAt = updated
		e.put(c)
	}
	cleaner, ok := e.store.(checkpointstore.Cleaner)
	if !ok {
		e.Fatal("the store was a Cleaner")
	}
	for _, want := range []int{3, 0} {
		n, err := cleaner.DeleteOlderThan(e.Context(), now.In(time.FixedZone("east", 3600)))
		e.is(err, nil, "DeleteOlderThan")
		if n != want {
			e.broken("DeleteOlderThan removed %d, not %d", n, want)
		}
	}
	for _, id := range []string{"old", "just", "never"} {
		e.holdsNothing(id)
	}
	e.get("now")
	e.get("later")
}

func timeToLive(e *env) {
	const longest = 20 // times its time to live
	patience := 20
	e.store = e.suite.newTTLStore(e.TB)
	c := at("run", checkpointstore.Fence{Epoch: 1, Owner: "a"})
	tick := time.NewTicker(e.suite.ttl / 4)
	defer tick.Stop()
	for proved := 0; proved < 8; { // twice as long as it would live without the Puts
		c.Seq++
		began := time.Now()
		e.put(c)
		<-tick.C
		got, err := e.store.Get(e.Context(), "run")
		switch {
		case time.Since(began) < e.suite.ttl:
			e.is(err, nil, "Get within the time to live")
			if got.Seq != c.Seq {
				e.broken("sequence %d came back as %d", c.Seq, got.Seq)
			}
			proved++
		case patience == 0:
			e.Fatalf("the machine stands still for longer than %v again and again", e.suite.ttl)
		default: // it stood still, and the checkpoint may have gone meanwhile
			patience--
		}
	}
	for range 4 * longest {
		if _, err := e.store.Get(e.Context(), "run"); errors.Is(err, checkpointstore.ErrNotFound) {
			c.Epoch, c.Owner = 1, "b"
			e.put(c)
			e.holds(c)

			return
		}
		<-tick.C
	}
	e.broken("it is still there %d times its time to live after the last Put", longest)
}
