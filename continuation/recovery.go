package continuation

import (
	"errors"
	"io"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// recovery is what a call remembers beyond the attempt under way.
type recovery struct {
	base     *request // what the caller asks
	sent     int      // requests made
	stretch  int      // the time limits are this many times longer: doubled after each stall in a row
	content  bool     // content has come in this call
	told     bool     // the chunks have told whose client it is
	finished bool     // the consumer has the finish reason
	running  bool     // a continuation was started and has not ended
	reason   string   // the finish reason of the whole answer
	broken   bool     // an interruption was told of, and not yet what follows
	again    bool     // the latest continuation began the answer anew

	budget   budget
	due      time.Duration // the wait of phaseWaiting
	refusals int           // by the circuit breaker, in a row
	probes   int           // begun in this call
	doubt    *slot         // of the circuit breaker, of the attempt whose end a probe asks about
	unasked  int           // continuations before the first probe
	tail     chunk         // what ends an answer that a probe does not show to be cut: half a rune

	plan   snapshot.Plan // of the continuation under way
	class  Class         // of the latest interruption
	first  error         // of the first interruption
	last   error         // of the latest one
	before error         // what the latest request failed with, unless that is first

	switched    bool     // the exact dialect was refused, which says nothing of other calls yet
	thoughtless bool     // requests go without any reasoning
	refusal     error    // what was refused first, until a request is taken
	dropped     []string // names of the calls that the latest interruption cut off

	answer  snapshot.Usage // of the ended attempts, as one answer
	billed  snapshot.Usage // of the ended attempts together
	metered bool           // the original answer brought a usage record, if only one of zeros
}

// ended decides what the end of an attempt means. The caller's control comes first.
func (c *call) ended(err error) {
	c.tether.leave()
	if end := control(c.caller, c.tether.closed(), err); end != nil {
		c.stop(end)

		return
	}
	if c.refused(err) || !c.settled(err) {
		return
	}

	e := c.ending(err)
	err = e.err
	v, class := e.judge()
	switch {
	case v == verdictComplete && e.ordinary() && c.seam.swallowing():
		v, class, err = verdictInterrupted, restarted(), errRestarted // a shorter answer in the words of this one
	case v == verdictNotOpened && c.budget.number > 0:
		v = verdictInterrupted // it uses up a continuation
	}
	switch v {
	case verdictComplete:
		c.complete(err)
	case verdictNotOpened:
		c.reopen(err, class)
	case verdictFatal:
		c.fatal(err, class)
	case verdictProbe:
		c.beginProbe(e, class)
	default:
		c.interrupted(err, class, false)
	}
}

// beginProbe asks whether the answer is whole, if that can be asked.
func (c *call) beginProbe(e ending, class Class) {
	if c.whole != nil || e.media || e.malformed { // a probe would ask for all of it again, or could not ask
		c.tellUnproven("whether the answer is whole cannot be asked")
		c.complete(e.err)
	} else {
		c.doubts()
		c.interrupted(e.err, class, true)
	}
}

// settled brings what is withheld or held back to its decision, and reports whether the end is still to be judged.
func (c *call) settled(err error) bool {
	if c.probe != nil && !c.endProbe(err) {
		return false
	}
	if c.phase == phaseJoining && c.seam.holds() {
		c.settleSeam(err)
	}

	return c.phase != phaseEnded && c.phase != phaseWaiting // the join may have ended the attempt
}

// settleSeam decides what a continuation held back when it ended. If it broke, what is no sure join is dropped: the next
// continuation brings it again.
func (c *call) settleSeam(err error) {
	optional := c.engine.learned.finishRule(c.cfg.finishRequired, *c.profile) == finishOptional
	if isEOF(err) && optional || c.seam.join.sure() {
		c.joined(c.seam.end())

		return
	}
	c.drop((&stash{chunks: c.seam.held}).usage())
	c.seam.drop()
}

// ending gathers what the verdict rests on.
func (c *call) ending(err error) ending {
	reason := c.acc.FinishReason()
	e := ending{
		err:     err,
		finish:  c.profile.finish(reason),
		open:    !c.finished && (c.hasOpenCall(reason != "") || reason == "" && len(c.gate.unanswered()) > 0),
		whole:   c.hasWholeCall(),
		content: c.content,
		text:    c.acc.TextLen() > 0,
		media:   c.acc.Media(),

		malformed: c.hasMalformedCall(),
		rule:      c.engine.learned.finishRule(c.cfg.finishRequired, *c.profile),
		proof:     c.profile.usageProvesEnd && c.acc.Usage().Known,
	}
	if e.finish == finishNone && c.disguised != "" {
		e.finish = finishDisguised
		if isEOF(err) {
			e.err = disguisedError(c.disguised)
		}
	}
	if hidden := c.record.readErr(); isEOF(err) && hidden != nil && e.finish == finishNone {
		e.err = hidden // the client hid why its body ended
	}
	if c.soft != nil {
		e.err = c.soft // what the client made of it afterwards says less
	}
	if !isEOF(e.err) {
		e.class = c.classify(e.err)
	}

	return e
}

func (c *call) classify(err error) Class {
	switch {
	case errors.Is(err, ErrIdleStall):
		return Class{Kind: Transient, Cause: callbacks.CauseIdleStall, ErrorKind: callbacks.KindIdleStall}
	case errors.Is(err, errNilReader):
		return Class{Kind: InvalidRequest, Cause: callbacks.CausePermanent}
	default:
		return c.record.class(c.cfg.classifier(err))
	}
}

func restarted() Class {
	return Class{Kind: Transient, Cause: callbacks.CauseRestarted, ErrorKind: callbacks.KindProviderError}
}

// asError gives a clean end the error that it is.
func asError(err error) error {
	if isEOF(err) {
		return ErrTruncated
	}

	return err
}

// joined passes on what the seam has let go of.
func (c *call) joined(chunks []chunk) {
	j := c.seam.join
	if j.state == joinRejected {
		c.replayed = j.replayed()
		c.drop((&stash{chunks: chunks}).usage()) // the seam has let go of them
		c.seam.drop()
		c.tether.leave()
		c.interrupted(errRestarted, restarted(), false)

		return
	}
	if j.state == joinDone && c.phase == phaseJoining {
		c.seam.stop()
		c.transition(phaseStreaming)
		c.emit(callbacks.Joined{
			Call: c.source(), ContinuationAttempt: c.budget.number,
			Kind: j.kind, Overlap: j.overlap, Confidence: j.confidence,
		})
	}
	for _, m := range chunks {
		if c.phase == phaseEnded {
			return
		}
		c.accept(m)
	}
}

// endUnproven ends an answer cleanly as it was, though nothing says that it is whole.
func (c *call) endUnproven(why string) {
	c.bill()
	if c.tail.Message != nil {
		c.push(c.tail)
	}
	if c.unasked > 0 { // it was recovered before, and its message must say so
		c.pushEnd("", c.unasked, nil)
	}
	c.tellUnproven(why)
	c.end(io.EOF)
}

func (c *call) tellUnproven(why string) {
	c.emit(callbacks.Notice{Call: c.source(), Kind: callbacks.NoticeNoFinishReason, Message: why})
}

// probeBroke asks again, if that can help.
func (c *call) probeBroke(err error) {
	class := c.classify(err)
	if !class.Permanent() {
		c.interrupted(err, class, true)

		return
	}
	c.outcome(outcomeOf(err, class))
	c.failed(class, err)
	c.endUnproven("whether the answer is whole could not be found out: the provider refuses to continue it")
}

// probeOverflow ends a probe that brings more than may be withheld: none can tell.
func (c *call) probeOverflow() {
	c.tether.leave()
	c.drop(c.probe.usage())
	c.probe = nil
	c.failed(truncated(callbacks.CauseTruncated), ErrTruncated)
	c.endUnproven("whether the answer is whole could not be found out: the probe is longer than may be held back")
}

// endProbe decides what a probe was and reports whether the answer goes on with it.
func (c *call) endProbe(err error) bool {
	chunks, finish, usage := c.probe.chunks, c.profile.finish(c.probe.finish()), c.probe.usage()
	c.probe = nil
	if finish == finishNone || finish == finishDisguised {
		c.drop(usage)
	}
	switch {
	case finish != finishNone && finish != finishDisguised:
		c.provenCut()
	case isEOF(err):
		c.engine.learned.omitsFinish.Store(true)
		c.provenWhole()
		c.failed(truncated(callbacks.CauseTruncated), asError(err))
		c.endUnproven("this model ends its answers without a finish reason; it is not asked for one again")

		return false
	default: // it broke before it could tell anything
		c.probeBroke(err)

		return false
	}
	c.transition(phaseJoining)
	for _, m := range chunks {
		switch c.phase {
		case phaseJoining:
			c.joined(c.seam.take(m))
		case phaseStreaming:
			c.accept(m)
		default:
			return false // the join has ended the attempt
		}
	}

	return true
}
