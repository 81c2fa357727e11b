package storetest

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// env is what a rule works with. Its helpers end the test at the first broken promise.
type env struct {
	testing.TB
	suite  suite
	store  checkpointstore.Store
	reason string
}

func (e *env) broken(format string, args ...any) {
	e.Helper()
	e.Logf("this rule is there because %s", e.reason)
	e.Fatalf(format, args...)
}

func (e *env) put(c checkpointstore.Checkpoint) {
	e.Helper()
	if err := e.store.Put(e.Context(), c); err != nil {
		e.broken("Put of %s: %v", label(c), err)
	}
}

func (e *env) get(runID string) checkpointstore.Checkpoint {
	e.Helper()
	c, err := e.store.Get(e.Context(), runID)
	if err != nil {
		e.broken("Get of %q: %v", runID, err)
	}

	return c
}

// holds demands that exactly want is stored.
func (e *env) holds(want checkpointstore.Checkpoint) {
	e.Helper()
	want, _ = checkpointstore.Normalize(want)
	got := e.get(want.RunID)
	if reflect.DeepEqual(got, want) {
		return
	}
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		if !reflect.DeepEqual(w.Field(i).Interface(), g.Field(i).Interface()) {
			e.broken("%s came back as %.300v, not as %.300v", w.Type().Field(i).Name, g.Field(i), w.Field(i))
		}
	}
}

func (e *env) holdsNothing(runID string) {
	e.Helper()
	_, err := e.store.Get(e.Context(), runID)
	e.is(err, checkpointstore.ErrNotFound, "Get of %q", runID)
}

// is demands the error want, in a form that errors.Is finds; nil is one too.
func (e *env) is(err, want error, format string, args ...any) {
	e.Helper()
	if !errors.Is(err, want) {
		e.broken(format+": the error is %v; it should be: %v", append(args, err, want)...)
	}
}

// verbs are all that a store can be asked about a run, by name.
func (e *env) verbs(ctx context.Context, runID string) map[string]error {
	verbs := map[string]error{
		"Put":    e.store.Put(ctx, checkpointstore.Checkpoint{RunID: runID, Epoch: 9}),
		"Delete": e.store.Delete(ctx, runID),
	}
	_, verbs["Get"] = e.store.Get(ctx, runID)
	if a, ok := e.store.(checkpointstore.Appender); ok {
		verbs["Append"] = a.Append(ctx, checkpointstore.Delta{RunID: runID, Epoch: 9, Seq: 1})
	}
	if d, ok := e.store.(checkpointstore.ConditionalDeleter); ok {
		verbs["DeleteIf"] = d.DeleteIf(ctx, checkpointstore.Checkpoint{RunID: runID, Epoch: 1, Owner: "a"})
	}

	return verbs
}

// second is the store of another process, if there is one.
func (e *env) second() checkpointstore.Store {
	e.Helper()
	if e.suite.peer == nil {
		return e.store
	}

	return e.suite.peer(e.TB, e.store)
}

func deletesIf(_ suite, s checkpointstore.Store) bool {
	_, ok := s.(checkpointstore.ConditionalDeleter)

	return ok
}

func appends(_ suite, s checkpointstore.Store) bool {
	_, ok := s.(checkpointstore.Appender)

	return ok
}

// at is a checkpoint at a fence.
func at(runID string, f checkpointstore.Fence) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: runID, Epoch: f.Epoch, Seq: f.Seq, Owner: f.Owner, Text: "of " + f.Owner}
}

func label(c checkpointstore.Checkpoint) string {
	if len(c.RunID) > 80 {
		return c.RunID[:80] + "…"
	}

	return c.RunID
}
