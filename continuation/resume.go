package continuation

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/snapshot"
)

// errResumed is the interruption of an answer that another process, or an earlier call, has left.
var errResumed = errors.New("continuation: resumed from a checkpoint")

func isResumed(err error) bool { return same(err, errResumed) }

// found is what the store had of a call.
type found struct {
	saver *saver                      // nil: nothing is kept of this call
	left  *checkpointstore.Checkpoint // what an earlier call with the same input has left; nil if none
}

// What a call has against what it finds.
var (
	errSideBySide = errors.New("continuation: another call of the run is under way in this process; " +
		"calls side by side need run ids of their own")
	errOtherRun  = errors.New("continuation: the store returned the checkpoint of another run")
	errLastEpoch = errors.New("continuation: there is no epoch after that of the checkpoint")
)

// lookUp asks the store for what is there of the call, and claims it if it is to be gone on with. What goes wrong leads to
// a call without checkpoints, but for a rival that was faster, or that has taken over between two calls of the run: a
// process that was stopped meanwhile must not take the run back.
func (c *call) lookUp() (f found, err error) {
	key := checkpointKey(c.caller, c.cfg.runID(c.caller))
	if key == "" {
		return found{}, nil
	}
	s := c.newSaver(key)
	ctx, cancel := context.WithTimeout(c.caller, s.startTimeout)
	defer cancel()
	defer func() {
		if f.saver == nil {
			s.end()
		}
	}()
	if !s.enter(ctx) {
		c.unkept(errSideBySide)

		return found{}, nil
	}
	stored, err := inTime(ctx, func() (checkpointstore.Checkpoint, error) { return s.store.Get(ctx, key) })
	fresh := errors.Is(err, checkpointstore.ErrNotFound)
	if err != nil && !fresh && (!errors.Is(err, checkpointstore.ErrCorrupt) || stored.RunID == "") {
		c.unkept(err)

		return found{}, nil
	}
	if broken := unusable(key, stored, fresh); broken != nil {
		c.unkept(broken)

		return found{}, nil
	}
	if err != nil && !fresh {
		c.unkept(err)
	}
	if err := c.overtaken(s, stored); err != nil {
		return found{}, err
	}
	s.dirty = !fresh
	s.base.Epoch = s.ledger.next(key, stored.Epoch)
	rememberInRun(c.caller, key, s.base.Epoch)
	f = found{saver: s}
	if err != nil || stored.Fingerprint != s.base.Fingerprint {
		return f, nil
	}
	s.base.Takeovers, s.base.Interruptions = stored.Takeovers, stored.Interruptions
	f.left = &stored

	return c.claim(ctx, f)
}

// unusable returns what of a checkpoint no call of its key can begin with.
func unusable(key string, stored checkpointstore.Checkpoint, fresh bool) error {
	switch {
	case fresh:
		return nil
	case stored.RunID != key:
		return errOtherRun
	case stored.Epoch == math.MaxUint64:
		return errLastEpoch
	default:
		return nil
	}
}

// unkept tells why the call keeps no checkpoints, or begins without what is there. That the caller has ended the call is
// no failure of the store.
func (c *call) unkept(err error) {
	if c.caller.Err() == nil {
		c.tellStore("get", err)
	}
}

// overtaken returns an error if what is stored is of a later epoch than the run has given out here: then another process
// has taken the run over since. A run is what its context says or, in an agent, the agent's; without either it is all
// calls of the model up to the one that is refused.
func (c *call) overtaken(s *saver, stored checkpointstore.Checkpoint) error {
	key := s.base.RunID
	last, inAgent := epochInRun(c.caller, key)
	if !s.forgets || !inAgent {
		last = max(last, s.ledger.last(key))
	}
	if last == 0 || stored.Epoch <= last {
		return nil
	}
	if s.forgets {
		s.ledger.forget(key, s.ledger.last(key))
	}

	return &TakenOverError{
		RunID: key, Err: fmt.Errorf("%w: epoch %d is none of this run", checkpointstore.ErrStale, stored.Epoch),
	}
}

// inTime asks a store that may not heed its context: what comes too late is nobody's any more.
func inTime[T any](ctx context.Context, ask func() (T, error)) (answer T, err error) {
	type result struct {
		answer T
		err    error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errGone}
		defer func() {
			if p := recover(); p != nil {
				r.err = &PanicError{Value: p, Stack: debug.Stack()}
			}
			done <- r
		}()
		r.answer, r.err = ask()
	}()
	select {
	case r := <-done:
		return r.answer, r.err
	case <-ctx.Done():
		return answer, contextError(ctx)
	}
}

// newSaver returns the writer of the call's checkpoints. It has no epoch yet.
func (c *call) newSaver(key string) *saver {
	of := c.source()
	s := &saver{
		checkpoints: c.cfg.checkpoints, ctx: context.WithoutCancel(c.caller), ledger: c.cfg.checkpoints.ledger, forgets: true,
		lost: c.tether.leave, newer: make(chan struct{}, 1), over: make(chan struct{}), pace: newCadence(c.cfg.checkpoints, time.Now()),
		base: checkpointstore.Checkpoint{
			RunID: key, Fingerprint: c.engine.fingerprint(c.asked), Provider: of.Provider, Model: of.Model, Owner: rand.Text(),
		},
	}
	if r := recordOf(c.caller); r != nil {
		s.ledger, s.forgets = &r.ledger, false
	}
	s.writers.add(s)

	return s
}

// claim takes over what was left. Of two claimers one wins. A finished answer is claimed too, since its run goes on: what
// cannot be claimed because the store takes no writes is answered from it all the same.
func (c *call) claim(ctx context.Context, f found) (found, error) {
	s := f.saver
	if !f.left.Done && f.left.Takeovers >= s.maxTakeovers {
		return f, nil // resume ends the call
	}
	next := *f.left
	next.Epoch, next.Owner, next.Seq = s.base.Epoch, s.base.Owner, 1
	if !next.Done {
		next.Takeovers++
		next.Interruptions++
	}
	next.UpdatedAt = time.Now()
	_, err := inTime(ctx, func() (struct{}, error) { return struct{}{}, s.store.Put(ctx, next) })
	switch {
	case errors.Is(err, checkpointstore.ErrStale):
		return found{}, &TakenOverError{RunID: s.base.RunID, Err: err}
	case err == nil:
		s.base.Seq = 1
		if s.appender != nil {
			next, _ = checkpointstore.Normalize(next)
			s.kept = &next
		}
	case next.Done: // it is deleted as who wrote it would have
		c.tellStore("put", err)
		s.base.Epoch, s.base.Seq, s.base.Owner = f.left.Epoch, f.left.Seq, f.left.Owner
	default:
		c.tellStore("put", err)

		return found{}, nil
	}
	s.owns, s.whole, s.stands = true, next.Done, next.Done
	s.base.Takeovers, s.base.Interruptions = next.Takeovers, next.Interruptions

	return f, nil
}

// takenUp reports whether the call goes on with what another has left.
func (c *call) takenUp() (yes bool) {
	yes = true
	defer c.recovered()

	return c.resume()
}

// resume begins the call with what the store has of it. It reports false if there is nothing, and the call begins as any.
func (c *call) resume() bool {
	if c.cfg.checkpoints == nil {
		return false
	}
	f, err := c.lookUp()
	if err != nil {
		c.stop(err)

		return true
	}
	c.saver = f.saver
	c.carry.layout.keep(f.saver != nil)
	if f.left == nil {
		return false
	}
	left := f.left
	if !left.Done && len(left.ToolCalls) == 0 && strings.TrimSpace(left.Text) == "" && left.Takeovers < c.saver.maxTakeovers {
		return false // nothing to go on from
	}
	c.answer, c.billed = usageFrom(left.Usage), usageFrom(left.Usage)
	c.dropped = left.Dropped
	c.fresh = true
	c.carry.later = true // its last chunk carries the usage and the marks
	c.saver.restoring = true
	for _, m := range c.engine.speech.restored(left) {
		if c.phase == phaseEnded { // it is larger than may be held
			break
		}
		c.accept(m)
	}
	c.saver.restored()
	c.content = true
	c.epilogue.began()
	switch {
	case c.phase == phaseEnded: // it is larger than may be held
	case left.Done:
		c.replay(left)
	case left.Takeovers >= c.saver.maxTakeovers:
		c.saver.abandoned = true
		c.exhaust(resumed(), fmt.Errorf("%w: %d takeovers", errResumed, left.Takeovers), ReasonMaxTakeovers)
	default:
		c.interrupted(errResumed, resumed(), false)
	}

	return true
}

func resumed() Class { return Class{Kind: Transient, Cause: callbacks.CauseResumedFromCheckpoint} }

// replay ends the call with an answer that was finished before.
func (c *call) replay(left *checkpointstore.Checkpoint) {
	c.emit(callbacks.Notice{
		Call: c.source(), Kind: callbacks.NoticeReplayed,
		Message: "the answer is in the store already; the model is not asked",
	})
	c.flush()
	c.release()
	c.pushEnd(left.FinishReason, left.Interruptions, left.Dropped)
	c.reason = left.FinishReason
	c.billed = snapshot.Usage{} // by this call
	c.end(io.EOF)
}

func usageFrom(u checkpointstore.Usage) snapshot.Usage { return snapshot.Usage(u) }

// tellStore tells of a failure of the store.
func (c *call) tellStore(operation string, err error) {
	c.emit(callbacks.CheckpointFailed{
		Call: c.source(), Operation: operation, ErrorMessage: callbacks.BoundMessage(err.Error()),
	})
}
