package continuation

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/snapshot"
)

// errNotKept names what of an answer a checkpoint cannot hold.
var errNotKept = errors.New("continuation: a checkpoint cannot hold these values of Extra")

// saves reports whether what came can be kept: an answer that is wanted whole was not delivered, and media cannot be gone
// on with.
func (c *call) saves() bool {
	return c.saver != nil && c.whole == nil && !c.acc.Media()
}

// grew takes note of a chunk for the checkpoint, and writes it if it is time to.
func (c *call) grew(m chunk) {
	if c.saver == nil {
		return
	}
	c.tellNews()
	c.carry.parts.note(m.Message)
	if !c.saves() {
		return
	}
	pace := &c.saver.pace
	pace.grew(snapshot.Text(m.Message))
	if c.carry.layout == nil {
		pace.grew(m.ReasoningContent)
	} else { // the blocks hold it
		pace.came(len(m.ReasoningContent) + c.carry.layout.came())
	}
	for i := range m.ToolCalls {
		pace.grew(m.ToolCalls[i].Function.Arguments)
	}
	if len(m.ToolCalls) > 0 && c.newWholeCall() {
		pace.called(time.Now())
	}
	c.save(false)
}

// newWholeCall reports whether a tool call has become whole since the last write.
func (c *call) newWholeCall() bool {
	n := 0
	for i := range c.acc.Calls() {
		if c.acc.CallState(i, false) == snapshot.CallWhole && !c.acc.CallEmpty(i) {
			n++
		}
	}
	more := n > c.saver.calls
	c.saver.calls = n

	return more
}

// save writes the checkpoint if it is due, or at once.
func (c *call) save(now bool) {
	if !c.saves() || c.saver.restoring {
		return
	}
	t := time.Now()
	if p := &c.saver.pace; !now && (!p.due(t) || p.call.IsZero() && c.saver.busy()) {
		return
	}
	c.saver.put(c.draft(t))
	c.saver.pace.given(t)
}

// draft returns what has come to now, to be written.
func (c *call) draft(now time.Time) job {
	kept := c.acc.Kept()
	c.saver.base.Seq++
	cp := c.saver.base
	cp.Text, cp.Reasoning, cp.Extra = kept.Text, kept.Reasoning, kept.ReasoningExtra
	cp.Dropped = append(cp.Dropped, c.dropped...)
	cp.Usage = checkpointstore.Usage(c.answer.Then(c.used(kept.Usage)))
	for _, t := range kept.ToolCalls {
		switch stored := storedCall(t); {
		case t.State == snapshot.CallWhole:
			cp.ToolCalls = append(cp.ToolCalls, stored)
		case cp.OpenToolCall != nil:
			cp.Dropped = append(cp.Dropped, cp.OpenToolCall.Name)
			fallthrough
		default:
			cp.OpenToolCall = &stored
		}
	}
	beside, rest := c.engine.speech.stored(&c.carry, &cp)
	c.saver.pace.beside = cadenceEach + beside
	cp.UpdatedAt = now
	cp, lost := checkpointstore.Normalize(cp)
	if len(lost) > 0 && !c.saver.told {
		c.saver.told = true
		c.saver.leavesOut(fmt.Errorf("%w: %s", errNotKept, strings.Join(lost, ", ")))
	}

	return job{checkpoint: cp, rest: rest, size: c.saver.pace.total()}
}

func storedCall(t snapshot.ToolCall) checkpointstore.ToolCall {
	return checkpointstore.ToolCall{
		Index: t.Index, ID: t.ID, Type: t.Type, Name: t.Name, Arguments: t.Arguments, Extra: t.Extra,
	}
}

// lastDraft returns the finished answer, to be written.
func (c *call) lastDraft() job {
	j := c.draft(time.Now())
	j.last = true
	cp := &j.checkpoint
	cp.Done, cp.FinishReason, cp.Usage = true, c.reason, checkpointstore.Usage(c.answer)
	if cp.OpenToolCall == nil && !c.gate.fill {
		return j
	}
	cp.OpenToolCall, cp.ToolCalls = nil, nil
	for _, t := range c.acc.Snapshot().ToolCalls {
		if t.State != snapshot.CallWhole && c.plan == snapshot.SynthesizeToolUse && c.gate.fill {
			continue // it was cancelled; in an unbroken answer it was delivered as it came
		}
		stored := storedCall(t)
		if c.gate.fill && strings.TrimSpace(t.Arguments) == "" {
			stored.Arguments = "{}"
		}
		cp.ToolCalls = append(cp.ToolCalls, stored)
	}

	return j
}

// keep writes what the call has come to at its end.
func (c *call) keep(err error) {
	s := c.saver
	if s == nil {
		return
	}
	s.stop()
	defer s.end()
	switch {
	case s.abandoned:
		j := c.lastDraft()
		j.remove = true
		s.put(j)
	case s.stands, s.restoring: // what is stored is all there is
	case isEOF(err) && !c.acc.Media() && (s.keep || s.dirty):
		j := c.lastDraft()
		j.grace = !s.keep
		s.put(j)
	case !isEOF(err) && c.saves() && (s.pace.unsaved > 0 || s.dirty && c.content):
		j := c.draft(time.Now())
		j.last = true
		s.put(j)
	}
}

// endRead says that the consumer has read the end: what is not to be kept is deleted. It waits for the store as long as a
// call does at its start, so that a program may end after its answer, unless the caller has left. It returns the end, or the
// error that the last write was refused with.
func (c *call) endRead(end error) error {
	s := c.saver
	if s == nil || c.left() && !isEOF(end) { // closed sees to the rest
		return end
	}
	if isEOF(end) && !s.keep && s.dirty {
		s.ledger.reenter(s.base.RunID, s)
		j := c.lastDraft()
		j.remove = true
		s.put(j)
	}
	s.wait(c.caller.Done(), c.tether.gone())
	c.tellNews()
	c.saver = nil
	if err := s.takenOver(); err != nil && isEOF(end) {
		c.epilogue.takenOver()

		return err
	}

	return end
}

// left reports whether the caller has closed the reader or cancelled the call. What there is to tell of its last write is
// told when the reader is closed: a caller that leaves does not wait.
func (c *call) left() bool { return c.tether.closed() || c.caller.Err() != nil }

// settleLeft waits for the last write of a call that the caller has left, and tells of it.
func (c *call) settleLeft() {
	if c.saver == nil {
		return
	}
	c.saver.wait()
	c.tellNews()
	c.saver = nil
}

// tellNews tells of failures of the store, once an episode.
func (c *call) tellNews() {
	for _, f := range c.saver.news() {
		c.tellStore(f.operation, f.err)
	}
}

// saveInterrupted writes what stands after a break. What was resumed is in the store already.
func (c *call) saveInterrupted(err error) {
	if c.saver == nil || isResumed(err) {
		return
	}
	c.saver.base.Interruptions++
	c.saver.calls = 0
	c.save(true)
}
