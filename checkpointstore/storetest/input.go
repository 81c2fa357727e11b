package storetest

import (
	"context"
	"strings"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// oddRunIDs are ids that a store is tempted to confuse, to take for a path or to put into a query.
func oddRunIDs() []string {
	return []string{
		"run-7/a1b2c3d4", "run-7", "run-7/", "/run-7", "run-7//a1b2c3d4", "run-7\\a1b2c3d4", "run-7%2Fa1b2c3d4", "run-7_a1b2c3d4", "run-7-a1b2c3d4",
		"a", "A", "a ", " a", "a.", ".a", "a*", "a>", "a?", "a:b", "a|b", "é", "e\u0301", "{a}", "{a}b", "{}",
		".", "..", "../../../../tmp/run", "/etc/passwd", "C:\\run", "CON", "nul.txt", "~", "-rf",
		"'; DROP TABLE checkpoints; --", "%", "_", "\"", "`id`", "$(id)", "日本語", "🙂", "\u202e", "run.tmp", "run.lock", "=", "AAAA", "YQ",
		strings.Repeat("x", checkpointstore.MaxRunIDBytes), strings.Repeat("x", checkpointstore.MaxRunIDBytes-1) + "y", strings.Repeat("🙂", checkpointstore.MaxRunIDBytes/4),
	}
}

func invalidRunIDs() []string {
	return []string{"", "\x00", "a\x00b", "a\nb", "\x7f", "\xff", strings.Repeat("x", checkpointstore.MaxRunIDBytes+1), strings.Repeat("x", 10_000)}
}

func inputRules() []rule {
	return []rule{
		{
			name:   "OddRunIDs",
			reason: "run ids are the caller's: an id must neither reach another run's checkpoint nor leave the store",
			check: func(e *env) {
				for _, id := range oddRunIDs() {
					c := sample(id)
					c.Text = id
					e.put(c)
				}
				for i, id := range oddRunIDs() {
					c := sample(id)
					c.Text = id
					e.holds(c)
					if i%2 == 0 {
						e.is(e.store.Delete(e.Context(), id), nil, "Delete of %q", id)
					}
				}
				for i, id := range oddRunIDs() {
					if i%2 == 0 {
						e.holdsNothing(id)
					} else {
						e.get(id)
					}
				}
			},
		},
		{
			name:   "InvalidRunIDs",
			reason: "what one store refuses every store refuses, or changing the store loses checkpoints",
			check: func(e *env) {
				for _, id := range invalidRunIDs() {
					for verb, err := range e.verbs(e.Context(), id) {
						e.is(err, checkpointstore.ErrInvalidRunID, "%s of %.40q", verb, id)
					}
				}
			},
		},
		{
			name:   "TooLarge",
			reason: "a store that grows without a bound fills up for all",
			check: func(e *env) {
				c := at("run", checkpointstore.Fence{Epoch: 1, Owner: strings.Repeat("x", checkpointstore.MaxOwnerBytes+1)})
				e.is(e.store.Put(e.Context(), c), checkpointstore.ErrTooLarge, "Put with an owner that is too long")
				e.holdsNothing("run")
			},
		},
		{
			name:   "EndedContext",
			reason: "the time for a checkpoint is bounded, and the error says whose decision ended it",
			check: func(e *env) {
				e.put(sample("run"))
				ctx, cancel := context.WithCancel(e.Context())
				cancel()
				for verb, err := range e.verbs(ctx, "run") {
					e.is(err, context.Canceled, "%s with a cancelled context", verb)
				}
				ctx, cancel = context.WithTimeout(e.Context(), 0)
				defer cancel()
				for verb, err := range e.verbs(ctx, "run") {
					e.is(err, context.DeadlineExceeded, "%s past the deadline", verb)
				}
				e.holds(sample("run"))
			},
		},
	}
}
