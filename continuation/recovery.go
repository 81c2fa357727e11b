package continuation

import (
	"errors"
	"io"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// recovery is what a call remembers beyond the attempt under way.
type recovery struct {
	base     request // what the caller asks
	sent     int     // requests made
	stretch  int     // the time limits are this many times longer: doubled after each stall in a row
	content  bool    // content has come in this call
	fresh    bool    // no content has come in this attempt
	finished bool    // the consumer has the finish reason

	budget  budget
	due     time.Duration // the wait of phaseWaiting
	plan    snapshot.Plan // of the continuation under way
	running bool          // a continuation was started and has not ended
	class   Class         // of the latest interruption
	first   error         // of the first interruption
	last    error         // of the latest one
	again   bool          // the latest continuation began the answer anew
	soft    error         // an error that the client reported inside a chunk of this attempt
	dropped []string      // names of the calls that the latest interruption cut off

	answer snapshot.Usage // of the ended attempts, as one answer
	billed snapshot.Usage // of the ended attempts together
}

// ended decides what the end of an attempt means. The caller's control comes first.
func (c *call) ended(err error) {
	c.attempt.leave()
	if end := control(c.caller, c.ctx, err); end != nil {
		c.stop(end)

		return
	}
	if c.refused(err) {
		return
	}
	if c.phase == phaseProbing && !c.endProbe(err) {
		return
	}
	if c.phase == phaseJoining && c.seam.holds() {
		c.joined(c.seam.end())
	}
	if c.phase == phaseEnded || c.phase == phaseWaiting { // the join has ended the attempt already
		return
	}

	e := c.ending(err)
	v, class := e.judge()
	if v == verdictComplete && c.seam != nil && c.seam.join.state == joinSwallowing {
		v, class, err = verdictInterrupted, restarted(), errRestarted // a shorter answer in the words of this one
	}
	switch v {
	case verdictComplete:
		c.complete(err)
	case verdictNotOpened:
		c.reopen(err, class)
	case verdictFatal:
		c.fatal(err, class)
	case verdictProbe:
		c.interrupted(err, class, true)
	default:
		c.interrupted(err, class, false)
	}
}

// ending gathers what the verdict rests on.
func (c *call) ending(err error) ending {
	reason := c.acc.FinishReason()
	e := ending{
		err:     err,
		finish:  c.profile.finish(reason),
		open:    !c.finished && c.hasOpenCall(reason != ""),
		whole:   c.hasWholeCall(),
		content: c.content,
		text:    c.acc.TextLen() > 0,
		rule:    c.model.learned.finishRule(c.cfg.finishRequired, *c.profile),
		proof:   c.profile.usageProvesEnd && c.acc.Usage().Known,
	}
	if hidden := c.record.readErr(); err == io.EOF && hidden != nil && e.finish == finishNone {
		e.err = hidden // the client hid why its body ended
	}
	if c.soft != nil {
		e.err = c.soft // what the client made of it afterwards says less
	}
	if e.err != io.EOF {
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
	if err == io.EOF {
		return ErrTruncated
	}

	return err
}

// joined passes on what the seam has let go of.
func (c *call) joined(chunks []*schema.Message) {
	j := c.seam.join
	if j.state == joinRejected {
		c.seam.drop()
		c.attempt.leave()
		c.interrupted(errRestarted, restarted(), false)

		return
	}
	if j.state == joinDone && c.phase == phaseJoining {
		c.seam.stop()
		c.transition(phaseStreaming)
		c.emit(callbacks.Joined{
			Call: c.events.source(), ContinuationAttempt: c.budget.number,
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

// endProbe decides what a probe was and reports whether the answer goes on with it.
func (c *call) endProbe(err error) bool {
	chunks, finish := c.probe.chunks, c.profile.finish(c.probe.finish())
	c.probe = probe{}
	if finish == finishNone || finish == finishDisguised {
		c.failed(truncated(callbacks.CauseTruncated), asError(err))
		if err == io.EOF {
			c.model.learned.omitsFinish.Store(true)
			c.emit(callbacks.Notice{
				Call: c.events.source(), Kind: callbacks.NoticeNoFinishReason,
				Message: "this model ends its answers without a finish reason; it is not asked for one again",
			})
		}
		c.end(io.EOF)

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

// refused handles a request that the provider refuses for what this decorator added to it. It is sent once more without
// that, at once, and that is no interruption.
func (c *call) refused(err error) bool {
	if !c.fresh || err == io.EOF {
		return false
	}
	class := c.classify(err)
	if class.Kind != InvalidRequest {
		return false
	}
	switch {
	case c.request.exact && refusesPrefill(err):
		c.model.learned.refusesPrefill.Store(true)
		c.emit(callbacks.Notice{
			Call: c.events.source(), Kind: callbacks.NoticePrefillRefused, Message: callbacks.BoundMessage(err.Error()),
		})
	case c.request.hinted:
		c.model.refuseHint(c.caller, &c.events, err)
		c.base = c.model.baseRequest(c.events.input, c.base.opts)
	default:
		return false
	}
	c.prepare()
	c.begin()

	return true
}

// refusesPrefill reports whether a provider says that a request must not end with an assistant message. There is no type
// for it.
func refusesPrefill(err error) bool {
	return speaksOf(err, "prefill", "must end with a user")
}

// complete ends the call after the whole answer.
func (c *call) complete(err error) {
	if err != io.EOF {
		class := c.classify(err)
		c.emit(callbacks.LateError{
			Call: c.events.source(), ErrorKind: class.errorKind(), Cause: class.cause(),
			ErrorMessage: callbacks.BoundMessage(err.Error()),
		})
	}
	if c.phase == phaseJoining {
		c.joined(c.seam.end()) // no text came: the answer was whole
	}
	c.flush()
	if m := c.carry.rest(); m != nil {
		c.out.push(m)
	}
	c.finish(c.acc.FinishReason())
}

// finish ends the call cleanly. After a break the last chunk brings the finish reason, the usage of the whole answer, and
// the marks for a later call.
func (c *call) finish(reason string) {
	usage := c.acc.Usage()
	c.answer, c.billed = c.answer.Then(usage), c.billed.Plus(usage)
	if c.carry.later {
		c.pushEnd(reason, c.budget.number, nil)
	}
	c.completed(reason, usage)
	c.end(io.EOF)
}

// pushEnd delivers the last chunk of a recovered answer.
func (c *call) pushEnd(reason string, continuations int, dropped []string) {
	last := &schema.Message{Role: c.carry.role(), Extra: c.carry.marks(continuations, dropped)}
	usage := c.answer
	if c.cfg.billedUsage {
		usage = c.billed
	}
	if u := usage.TokenUsage(); u != nil || reason != "" {
		last.ResponseMeta = &schema.ResponseMeta{FinishReason: reason, Usage: u}
	}
	if !isEmpty(last) {
		c.out.push(last)
	}
}

// reopen makes a request again that failed before any content, after a wait, if there is a budget for it.
func (c *call) reopen(err error, class Class) {
	err = asError(err)
	if c.budget.opens >= c.cfg.openRetries {
		c.fail(err)

		return
	}
	d, reason := c.budget.wait(c.budget.opens+1, class, time.Now())
	if reason != "" {
		c.fail(err)

		return
	}
	c.budget.opens++
	c.carry.reopen()
	c.stretchAfter(err)
	c.due = d
	c.emit(openRetried(c.events.source(), c.budget.opens, d, class, err))
	c.transition(phaseWaiting)
}

func openRetried(of callbacks.Call, n int, d time.Duration, class Class, err error) callbacks.OpenRetried {
	return callbacks.OpenRetried{
		Call: of, Attempt: n, Backoff: d, ErrorKind: class.errorKind(), Cause: class.cause(),
		ErrorMessage: callbacks.BoundMessage(err.Error()), Status: class.Status,
	}
}

// stretchAfter doubles the time limits of the next attempt after a stall.
func (c *call) stretchAfter(err error) {
	if !errors.Is(err, ErrIdleStall) {
		c.stretch = 1
	} else if c.stretch < 1<<10 {
		c.stretch *= 2
	}
}

// fatal ends the call with a permanent error: of the original answer as it is, of a continuation beside the first error.
func (c *call) fatal(err error, class Class) {
	if c.budget.number == 0 {
		c.fail(err)

		return
	}
	c.failed(class, err)
	c.exhaust(err, ReasonRefused)
}

// interrupted takes an attempt that broke, tells of it, and prepares what follows.
func (c *call) interrupted(err error, class Class, probing bool) {
	err = asError(err)
	s := c.acc.Snapshot()
	plan := snapshot.Decide(s)
	b := blocksOf(s)
	if c.running {
		c.failed(class, err)
	}
	if c.first == nil {
		c.first = err
	}
	c.last, c.again = err, errors.Is(err, errRestarted)
	c.stretchAfter(err)
	c.budget.ended(len(s.Text))
	c.emit(callbacks.Interrupted{
		Call: c.events.source(), OriginalAttempt: c.sent - 1, ContinuationAttempt: c.budget.number,
		ErrorKind: class.errorKind(), Cause: class.cause(), ErrorMessage: callbacks.BoundMessage(err.Error()), Status: class.Status,
		CommittedTextBlocks: b.textBlocks, CommittedPartialText: b.partialText,
		DiscardedPartialToolUses: len(b.lostCalls), DiscardedReasoningBlocks: b.lostThought,
		UsageFlushed: s.Usage.Known, Usage: s.Usage, Plan: plan,
	})
	c.dropCalls(b.lostCalls, class)
	c.gate.interrupt(c.out.push)
	c.answer, c.billed = c.answer.Then(s.Usage), c.billed.Plus(s.Usage)

	if plan == snapshot.SynthesizeToolUse {
		c.runTools(b)

		return
	}
	c.carry.interrupt(s.ReasoningWhole)
	c.acc.Interrupt()
	if s.Media {
		c.exhaust(err, ReasonMedia)

		return
	}
	if reason := c.budget.exhausted(); reason != "" {
		c.exhaust(err, reason)

		return
	}
	d, reason := c.budget.wait(c.budget.used+1, class, time.Now())
	if probing {
		d, reason = 0, ""
	}
	if reason != "" {
		c.exhaust(err, reason)

		return
	}
	c.budget.number++
	c.budget.used++
	c.due, c.plan, c.class = d, plan, class
	c.probe = probe{on: probing}
	c.prepare()
	c.started(b, len(s.Text))
	if plan == snapshot.WholeRestart {
		c.emit(callbacks.StreamReset{Call: c.events.source(), Reason: string(class.cause())})
	}
	c.transition(phaseWaiting)
}

// dropCalls tells of the calls that are gone.
func (c *call) dropCalls(calls []snapshot.ToolCall, class Class) {
	c.dropped = c.dropped[:0]
	for _, t := range calls {
		c.dropped = append(c.dropped, t.Name)
		c.emit(callbacks.PartialToolUseDiscarded{
			Call: c.events.source(), ToolName: t.Name, PartialInputBytes: len(t.Arguments), Reason: string(class.cause()),
		})
		c.emit(callbacks.ToolCallCancel{Call: c.events.source(), ID: t.ID, ToolName: t.Name, Reason: string(class.cause())})
	}
}
