package continuation

import (
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// The defaults of checkpoints.
const (
	defaultFlushEvery   = 250 * time.Millisecond
	defaultFlushBytes   = 4 << 10
	defaultStartTimeout = 500 * time.Millisecond
	defaultMaxTakeovers = 10
)

// checkpoints is what WithCheckpoints sets up. It is not changed afterwards, but for the pulse, the ledger and the writers.
type checkpoints struct {
	store        checkpointstore.Store
	deleter      checkpointstore.ConditionalDeleter // nil if the store is none
	appender     checkpointstore.Appender           // likewise
	every        time.Duration
	bytes        int
	startTimeout time.Duration
	maxTakeovers int
	keep         bool // until Commit
	pulse        *pulse
	ledger       *ledger  // of runs that no context knows of
	writers      *writers // of all runs

	reject func(option, format string, args ...any)
}

// CheckpointOption sets up [WithCheckpoints].
type CheckpointOption func(*checkpoints)

// WithCheckpoints keeps the unfinished answer of a call in s, so that another process can take it over: a call with
// the same run id and the same input delivers first what the dead one had delivered, runs the tool calls that had come
// whole, and asks only for the rest. Calls without a run id (see [ContextWithRunID] and [WithRunID]) keep nothing.
//
// The store is asked at the beginning of a call, for [StartTimeout] at most, and told when the consumer reads the end, which
// takes as long at most. All other writes happen beside the stream: a store that is slow, fails or is down delays no chunk and
// costs no answer; a [callbacks.CheckpointFailed] tells of it once an episode. One error of the store ends a stream:
// checkpointstore.ErrStale, which says that another call has taken this one over.
//
// A checkpoint is deleted when the consumer has read io.EOF, unless [KeepUntilCommit]. One of a call that failed, was
// cancelled or closed stays, for the next call to go on from; a process that ends right after waits for it with
// [Model.Drain]. The store stays the caller's: nothing here closes it.
// Generate keeps checkpoints with [WithStreamingGenerate] only. A nil store is an error.
func WithCheckpoints(s checkpointstore.Store, opts ...CheckpointOption) Option {
	return func(c *config) {
		if s == nil {
			c.reject("WithCheckpoints", "the store is nil")

			return
		}
		k := &checkpoints{
			store: s, every: defaultFlushEvery, bytes: defaultFlushBytes,
			startTimeout: defaultStartTimeout, maxTakeovers: defaultMaxTakeovers, pulse: new(pulse),
			ledger: new(ledger), writers: new(writers), reject: c.reject,
		}
		k.deleter, _ = s.(checkpointstore.ConditionalDeleter)
		k.appender, _ = s.(checkpointstore.Appender)
		for i, opt := range opts {
			if opt == nil {
				c.reject("WithCheckpoints", "option %d is nil", i)

				continue
			}
			opt(k)
		}
		c.checkpoints = k
	}
}

// FlushEvery says how often an answer that grows is written: when d has passed since the last write, or when bytes have
// come; default 250 ms and 4 KiB. What came since the last write is what a crash costs. Breaks and whole tool calls are
// written at once. To a store that is a [checkpointstore.Appender] a write adds what came since, if that is at most half of
// the whole; to others each write holds the whole answer, so that writes become rarer as it grows.
//
// All writes together, the one at the end too, hold at most three times the answer or, if that is more, 256 KiB, 8 KiB for
// each second, and the write at the end. Of a long answer that comes fast a crash costs up to half where the store cannot
// add; there, too, a whole tool call is written a flush interval later if more was written than may be, and what must be written
// at once goes beyond the bound.
//
// Nor does a write begin sooner after the last one than eight times what the store takes for one at the time, up to eight
// times d: a store that is slow or overloaded is spared. An end is always written that the consumer does not read within
// 20 ms; one that it reads is deleted instead, unless [KeepUntilCommit]. Both must be more than 0.
func FlushEvery(d time.Duration, bytes int) CheckpointOption {
	return func(k *checkpoints) {
		if d <= 0 || bytes <= 0 {
			k.reject("FlushEvery", "%v and %d bytes must both be more than zero", d, bytes)

			return
		}
		k.every, k.bytes = d, bytes
	}
}

// StartTimeout is how long a call may wait for the store before its first request, and at its end; default 500 ms. A call
// that has waited so long at its beginning is made without checkpoints. Must be more than 0.
func StartTimeout(d time.Duration) CheckpointOption {
	return func(k *checkpoints) {
		if d <= 0 {
			k.reject("StartTimeout", "%v is not more than zero", d)

			return
		}
		k.startTimeout = d
	}
}

// MaxTakeovers bounds how often one answer is taken over, for an answer that kills each process that goes on with it;
// default 10. The call after that ends with an [ExhaustedError], and its checkpoint is deleted. Must be more than 0.
func MaxTakeovers(n int) CheckpointOption {
	return func(k *checkpoints) {
		if n < 1 {
			k.reject("MaxTakeovers", "%d is less than 1", n)

			return
		}
		k.maxTakeovers = n
	}
}

// KeepUntilCommit leaves the checkpoint of a finished answer in the store until [Commit]: a call that is made again before
// is answered from there, without the model. For answers that only count once something else is done with them.
func KeepUntilCommit() CheckpointOption {
	return func(k *checkpoints) { k.keep = true }
}

// TakenOverError ends a stream whose run another call has taken over. What was delivered is in that call's answer as
// well; nothing more is written by this one. errors.Is finds checkpointstore.ErrStale.
type TakenOverError struct {
	RunID string // the key in the store
	Err   error  // of the store
}

// Error names the run.
func (e *TakenOverError) Error() string {
	return fmt.Sprintf("continuation: run %q was taken over by another call: %s", e.RunID, causeText(e.Err))
}

// Unwrap returns the store's error.
func (e *TakenOverError) Unwrap() error { return e.Err }
