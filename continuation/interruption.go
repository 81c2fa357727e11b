package continuation

import (
	"errors"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// reopen makes a request again that failed before any content, after a wait, if there is a budget for it.
func (c *call) reopen(err error, class Class) {
	err = asError(err)
	c.outcome(outcomeOf(err, class))
	c.before = err
	if c.budget.opens >= c.cfg.openRetries {
		c.fail(class, err)

		return
	}
	d, reason := c.budget.wait(c.budget.opens+1, class, time.Now())
	if reason != "" {
		c.fail(class, err)

		return
	}
	c.budget.opens++
	c.bill()
	c.acc.Interrupt()
	c.gate = gate{acc: &c.acc, live: c.gate.live, fill: c.gate.fill}
	c.carry.reopen()
	c.stretchAfter(err)
	c.due = d
	c.emit(openRetried(c.source(), c.budget.opens, d, class, err))
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
	if c.refusal != nil && class.Kind == InvalidRequest { // it was refused for something else
		err = c.refusal
	}
	c.outcome(outcomeOf(err, class))
	if c.budget.number == 0 {
		c.fail(class, err)

		return
	}
	c.gate.releaseText(c.deliver)
	c.failed(class, err)
	c.exhaust(class, err, ReasonRefused)
}

// interrupted takes an attempt that broke, tells of it, and prepares what follows.
func (c *call) interrupted(err error, class Class, probing bool) {
	err = asError(err)
	c.outcome(outcomeOf(err, class))
	s := c.soFar()
	s.Usage = c.used(s.Usage)
	plan := c.decide(s)
	b := blocksOf(s)
	if c.running {
		c.failed(class, err)
	}
	if c.first == nil {
		c.first, c.before = err, nil
	} else {
		c.before = err
	}
	c.last, c.again = err, errors.Is(err, errRestarted)
	c.stretchAfter(err)
	c.budget.ended(len(s.Text))
	c.emit(callbacks.Interrupted{
		Call: c.source(), OriginalAttempt: max(0, c.sent-1), ContinuationAttempt: c.budget.number,
		ErrorKind: class.errorKind(), Cause: class.cause(), ErrorMessage: callbacks.BoundMessage(err.Error()), Status: class.Status,
		CommittedTextBlocks: b.textBlocks, CommittedPartialText: b.partialText,
		DiscardedPartialToolUses: len(b.lostCalls), DiscardedReasoningBlocks: b.lostThought,
		UsageFlushed: s.Usage.Known && s.Usage.Unreported == 0, Usage: s.Usage, Plan: plan,
	})
	c.broken = true
	c.dropCalls(b.lostCalls, class)
	c.gate.interrupt(c.deliver)
	c.answer = c.answer.Then(s.Usage)
	c.bill()
	c.reported = true

	if plan == snapshot.SynthesizeToolUse {
		c.runTools(b)

		return
	}
	if m := c.carry.rest(); m.Message != nil && probing {
		c.tail = m
	}
	c.carry.interrupt(s.ReasoningWhole && c.whole == nil)
	c.acc.Interrupt()
	c.saveInterrupted(err)
	d, ok := c.afford(err, class, probing, s.Media)
	if !ok {
		return
	}
	c.due, c.plan, c.class = d, plan, class
	c.probe = nil
	if probing {
		if c.probes++; c.probes == 1 {
			c.unasked = c.budget.number
		}
		c.probe = new(stash)
	}
	if c.whole != nil { // nothing was delivered, so nothing needs to be kept
		c.whole = new(stash)
		c.acc.Restart()
		c.carry.restart()
	}
	c.prepare(c.budget.number + 1)
	c.budget.begin(isResumed(err))
	c.started(b, len(s.Text))
	if plan == snapshot.WholeRestart {
		c.emit(callbacks.StreamReset{Call: c.source(), Reason: string(class.cause())})
	}
	c.transition(phaseWaiting)
}

// soFar returns what has come of the answer, with what the provider runs by itself.
func (c *call) soFar() snapshot.Snapshot {
	s := c.acc.Snapshot()
	s.ToolCalls = append(s.ToolCalls, c.gate.unanswered()...)
	s.Handled = c.gate.handles() || c.carry.layout.handled()

	return s
}

// afford returns the wait before the next continuation. If there may be none, it ends the call.
func (c *call) afford(err error, class Class, probing, media bool) (time.Duration, bool) {
	if isResumed(err) { // which is free
		return 0, true
	}
	if media && c.whole == nil {
		c.exhaust(class, err, ReasonMedia)

		return 0, false
	}
	reason, d := c.budget.exhausted(), time.Duration(0)
	if reason == "" && (!probing || class.Cause != callbacks.CauseTruncated) { // a first probe goes at once
		d, reason = c.budget.wait(c.budget.used+1, class, time.Now())
	}
	switch {
	case reason == "":
		return d, true
	case probing:
		c.endUnproven("whether the answer is whole could not be found out: " + reason)
	default:
		c.exhaust(class, err, reason)
	}

	return 0, false
}

// decide returns the plan. An answer that is wanted whole starts over, unless there are tool calls to run.
func (c *call) decide(s snapshot.Snapshot) snapshot.Plan {
	plan := snapshot.Decide(s)
	if c.whole != nil && plan != snapshot.SynthesizeToolUse {
		return snapshot.WholeRestart
	}

	return plan
}

// dropCalls tells of the calls that are gone.
func (c *call) dropCalls(calls []snapshot.ToolCall, class Class) {
	if !c.fresh { // an attempt that brought nothing knows of no calls, but earlier ones still have to be spoken of
		c.dropped = nil
	}
	for _, t := range calls {
		c.dropped = append(c.dropped, t.Name)
		c.emit(callbacks.PartialToolUseDiscarded{
			Call: c.source(), ToolName: t.Name, PartialInputBytes: len(t.Arguments), Reason: string(class.cause()),
		})
		c.emit(callbacks.ToolCallCancel{Call: c.source(), ID: t.ID, ToolName: t.Name, Reason: string(class.cause())})
	}
}

// prepare builds the request of the n-th continuation, or the caller's own for 0, and the seam that its text will pass.
func (c *call) prepare(n int) {
	s := c.acc.Snapshot()
	c.seam = nil
	if n == 0 || c.plan == snapshot.WholeRestart {
		c.request = c.base
		if s.Text != "" { // white space, which the restarted answer may begin with as well
			c.seam = newSeam(newJoiner(&c.acc, s.Text, true))
		}

		return
	}
	d := c.dialect
	if d.exact() && (c.switched || c.engine.learned.refusesPrefill.Load()) {
		d = UserTurn()
	}
	base := *c.base
	base.partial = c.carry.layout
	base.opts = limitTokens(base.opts, c.answer, len(s.Text)+len(s.Reasoning))
	prompt := ""
	if !d.exact() {
		prompt = c.promptText(s, n)
	}
	c.request = c.engine.speech.continued(base, s, d, *c.profile, prompt)
	if c.thoughtless {
		c.request, _ = c.engine.speech.thoughtless(c.request)
	}
	j := newJoiner(&c.acc, c.request.trimmed, c.request.exact)
	j.keepPreamble, j.notFrom = c.cfg.keepPreamble, c.replayed
	c.seam = newSeam(j)
}

func (c *call) promptText(s snapshot.Snapshot, n int) string {
	p := c.cfg.prompt
	if p == nil {
		p = builtinPrompt
	}

	return p(Interruption{
		Plan: c.plan, Cause: c.class.cause(), Err: c.last, Continuation: n,
		Text: s.Text, DroppedCalls: c.dropped, Restarted: c.again,
	})
}
