package continuation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/eino-carryon/carryon/checkpointstore"
)

type runIDKey struct{}

// runRecord is a run as its context knows it: its id, and where its calls keep their checkpoints.
type runRecord struct {
	id     string
	ledger ledger
}

// recordOf returns the run of a context; nil if it has none.
func recordOf(ctx context.Context) *runRecord {
	r, _ := ctx.Value(runIDKey{}).(*runRecord)

	return r
}

// ContextWithRunID names the run that the model calls made with the context belong to. Events carry it, and with
// [WithCheckpoints] it is the key under which unfinished answers are found by another process. The context remembers
// under which keys calls of graphs and agents have kept theirs, for [Commit], and tells calls of the run from those of a
// process that has taken it over. It remembers 1024 keys.
func ContextWithRunID(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, runIDKey{}, &runRecord{id: runID})
}

func runIDFromContext(ctx context.Context) string {
	if r := recordOf(ctx); r != nil {
		return r.id
	}

	return ""
}

// RunIDFromSession returns a function for [WithRunID] that takes the run id from a value of the agent's session, as
// adk.WithSessionValues sets it. A value that is missing or no string is no run id.
func RunIDFromSession(key string) func(context.Context) string {
	return func(ctx context.Context) string {
		v, _ := adk.GetSessionValue(ctx, key)
		id, _ := v.(string)

		return id
	}
}

// Commit deletes the finished answers of a run, for models with [KeepUntilCommit]: what they were kept for is done. What
// is not finished stays, and so does what another call has taken over since, as far as ctx tells: it must be that of
// [ContextWithRunID], or made from it, also for models in graphs and agents. For run ids that come from [WithRunID] there
// is [Model.Commit]. A last write that is under way is waited for, as long as [StartTimeout]. Nothing there to delete is
// no error. It is safe for concurrent use.
func Commit(ctx context.Context, s checkpointstore.Store, runID string) error {
	var l *ledger
	if r := recordOf(ctx); r != nil {
		l = &r.ledger
	}

	return commitRunID(ctx, s, runID, l)
}

// commit commits the run that the calls of ctx belong to.
func (e *engine) commit(ctx context.Context) error {
	k := e.cfg.checkpoints
	if k == nil {
		return nil
	}
	runID := e.cfg.runID(ctx)
	if r := recordOf(ctx); r != nil {
		return commitRunID(ctx, k.store, runID, &r.ledger)
	}
	ended := k.ledger.of(runID)
	err := commitRunID(ctx, k.store, runID, k.ledger)
	for key, e := range ended { // what comes is another run
		k.ledger.forget(key, e.epoch)
	}

	return err
}

// commitRunID commits what is known of a run; a nil ledger knows nothing.
func commitRunID(ctx context.Context, s checkpointstore.Store, runID string, l *ledger) error {
	if err := checkpointstore.ValidateRunID(runID); err != nil {
		return fmt.Errorf("continuation: commit: %w", err)
	}
	keys := map[string]entry{runID: {}, checkpointKey(ctx, runID): {}}
	if l != nil {
		maps.Copy(keys, l.of(runID))
	}
	var errs []error
	for key, e := range keys {
		e.written(ctx)
		errs = append(errs, commitKey(ctx, s, key, e.epoch))
	}

	return errors.Join(errs...)
}

// written waits for the last write of a call that has ended.
func (e entry) written(ctx context.Context) {
	if e.call == nil || e.call.lives() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, e.call.startTimeout)
	defer cancel()
	e.call.settle(ctx)
}

// commitKey deletes a finished answer that is not of a later epoch; 0 is any.
func commitKey(ctx context.Context, s checkpointstore.Store, key string, epoch uint64) error {
	c, err := s.Get(ctx, key)
	switch {
	case errors.Is(err, checkpointstore.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("continuation: commit %q: %w", key, err)
	case !c.Done || epoch != 0 && c.Epoch > epoch:
		return nil
	}
	if d, ok := s.(checkpointstore.ConditionalDeleter); ok {
		err = d.DeleteIf(ctx, c)
	} else {
		err = s.Delete(ctx, key)
	}
	if err != nil && !errors.Is(err, checkpointstore.ErrStale) {
		return fmt.Errorf("continuation: commit %q: %w", key, err)
	}

	return nil
}

// runLocalKeys is where an agent's run remembers the checkpoints of its model, for the end of the run. The value is a
// string, which the checkpoint of an agent can hold.
const runLocalKeys = "carryon_checkpoints"

// keysInRun returns the lines that the agent's run remembers; false outside of an agent.
func keysInRun(ctx context.Context) ([]string, bool) {
	v, _, err := adk.GetRunLocalValue(ctx, runLocalKeys)
	text, _ := v.(string)
	if err != nil || text == "" {
		return nil, err == nil
	}

	return strings.Split(text, "\n"), true
}

// rememberInRun adds a key to those that the agent's end commits.
func rememberInRun(ctx context.Context, key string, epoch uint64) {
	lines, ok := keysInRun(ctx)
	if !ok {
		return
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasSuffix(l, " "+key) })
	lines = append(lines, strconv.FormatUint(epoch, 10)+" "+key)
	_ = adk.SetRunLocalValue(ctx, runLocalKeys, strings.Join(lines, "\n"))
}

// epochInRun returns the last epoch of a key that the agent's run remembers, 0 if there is none, and whether there is an
// agent.
func epochInRun(ctx context.Context, key string) (epoch uint64, inAgent bool) {
	lines, inAgent := keysInRun(ctx)
	for _, line := range lines {
		if number, k, _ := strings.Cut(line, " "); k == key {
			epoch, _ = strconv.ParseUint(number, 10, 64)
		}
	}

	return epoch, inAgent
}

// commitRun commits what the agent's run remembers.
func commitRun(ctx context.Context, s checkpointstore.Store) error {
	lines, _ := keysInRun(ctx)
	var errs []error
	for _, line := range lines {
		number, key, _ := strings.Cut(line, " ")
		epoch, err := strconv.ParseUint(number, 10, 64)
		if err == nil {
			err = commitKey(ctx, s, key, epoch)
		}
		errs = append(errs, err)
	}

	return errors.Join(errs...)
}
