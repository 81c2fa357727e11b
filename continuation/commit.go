package continuation

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"

	"github.com/eino-carryon/carryon/checkpointstore"
)

type runIDKey struct{}

// runRecord is a run as its context knows it: its id, and where its calls keep their checkpoints.
type runRecord struct {
	id string

	mu   sync.Mutex
	keys map[string]uint64 // the epoch, by key
}

// ContextWithRunID names the run that the model calls made with the context belong to. Events carry it, and with
// [WithCheckpoints] it is the key under which unfinished answers are found by another process. The context remembers
// under which keys calls of graphs and agents have kept theirs, for [Commit].
func ContextWithRunID(ctx context.Context, runID string) context.Context {
	return context.WithValue(ctx, runIDKey{}, &runRecord{id: runID})
}

func runIDFromContext(ctx context.Context) string {
	if r, ok := ctx.Value(runIDKey{}).(*runRecord); ok {
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

// register remembers where a call of the run keeps its checkpoint. It reports false if what is stored there, at the epoch
// before, is none of the run's calls in this process: then another process has taken the run over since.
func (r *runRecord) register(key string, epoch uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		r.keys = make(map[string]uint64)
	}
	last, known := r.keys[key]
	if known && epoch-1 > last {
		return false
	}
	r.keys[key] = max(last, epoch)

	return true
}

func (r *runRecord) all() map[string]uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.keys)
}

// Commit deletes the finished answers of a run, for models with [KeepUntilCommit]: what they were kept for is done. What
// is not finished stays, and so does what another call has taken over since. For models in graphs and agents ctx must
// be that of [ContextWithRunID], or made from it. Nothing there to delete is no error. It is safe for concurrent use.
func Commit(ctx context.Context, s checkpointstore.Store, runID string) error {
	if err := checkpointstore.ValidateRunID(runID); err != nil {
		return fmt.Errorf("continuation: commit: %w", err)
	}
	var keys map[string]uint64
	if r, ok := ctx.Value(runIDKey{}).(*runRecord); ok && r.id == runID {
		keys = r.all()
	}
	if keys == nil {
		keys = make(map[string]uint64)
	}
	for _, key := range []string{runID, checkpointKey(ctx, runID)} {
		if _, known := keys[key]; !known {
			keys[key] = 0
		}
	}
	var errs []error
	for key, epoch := range keys {
		errs = append(errs, commitKey(ctx, s, key, epoch))
	}

	return errors.Join(errs...)
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

// rememberInRun adds a key to those that the agent's end commits.
func rememberInRun(ctx context.Context, key string, epoch uint64) {
	var lines []string
	if v, ok, err := adk.GetRunLocalValue(ctx, runLocalKeys); err != nil {
		return
	} else if s, isText := v.(string); ok && isText {
		lines = strings.Split(s, "\n")
	}
	lines = slices.DeleteFunc(lines, func(l string) bool { return strings.HasSuffix(l, " "+key) })
	lines = append(lines, strconv.FormatUint(epoch, 10)+" "+key)
	_ = adk.SetRunLocalValue(ctx, runLocalKeys, strings.Join(lines, "\n"))
}

// commitRun commits what the agent's run remembers.
func commitRun(ctx context.Context, s checkpointstore.Store) error {
	v, _, err := adk.GetRunLocalValue(ctx, runLocalKeys)
	text, _ := v.(string)
	if err != nil || text == "" {
		return nil //nolint:nilerr // outside of an agent there is nothing to commit
	}
	var errs []error
	for line := range strings.SplitSeq(text, "\n") {
		number, key, _ := strings.Cut(line, " ")
		epoch, err := strconv.ParseUint(number, 10, 64)
		if err == nil {
			err = commitKey(ctx, s, key, epoch)
		}
		errs = append(errs, err)
	}

	return errors.Join(errs...)
}
