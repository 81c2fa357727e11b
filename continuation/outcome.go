package continuation

import (
	"errors"
	"io"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/snapshot"
)

// started tells of the continuation that is due.
func (c *call) started(b blocks, text int) {
	c.running, c.broken = true, false
	e := callbacks.Started{
		Call: c.source(), ContinuationAttempt: c.budget.number, Backoff: c.due, Plan: c.plan,
		CommittedTextBlocks: b.textBlocks, CommittedPartialText: b.partialText, CommittedTextBytes: text,
		CommittedToolCalls: b.calls, HistoryRewrite: c.request.rewrite, Prompt: "none",
	}
	if c.plan == snapshot.SynthesizeToolUse {
		e.HistoryRewrite = rewriteNone
	}
	if e.HistoryRewrite == rewriteWithPrompt {
		e.Prompt = "built-in"
		if c.cfg.prompt != nil {
			e.Prompt = "custom"
		}
		if c.cfg.promptText {
			e.PromptText = c.request.prompt
		}
	}
	c.emit(e)
}

// complete ends the call after the whole answer.
func (c *call) complete(err error) {
	if !isEOF(err) {
		class := c.classify(err)
		c.emit(callbacks.LateError{
			Call: c.source(), ErrorKind: class.errorKind(), Cause: class.cause(),
			ErrorMessage: callbacks.BoundMessage(err.Error()),
		})
	}
	if c.phase == phaseJoining {
		c.joined(c.seam.end()) // no text came: the answer was whole
	}
	c.outcome(nil)
	c.flush()
	if m := c.carry.rest(); m.Message != nil {
		c.deliver(m)
	}
	c.release()
	c.finish(c.acc.FinishReason())
}

// finish ends the call cleanly. After a break the last chunk brings the finish reason, the usage of the whole answer, and
// the marks for a later call.
func (c *call) finish(reason string) {
	c.reason = reason
	usage := c.used(c.acc.Usage())
	c.answer = c.answer.Then(usage)
	c.bill()
	switch {
	case c.carry.later:
		c.pushEnd(reason, c.budget.number, nil)
	case reason != "" && !c.finished: // it came while a call was still open
		c.push(made(&schema.Message{Role: c.carry.role(), ResponseMeta: &schema.ResponseMeta{FinishReason: reason}}))
	}
	if !c.carry.later && c.carry.layout.marked() {
		c.push(made(&schema.Message{Role: c.carry.role(), Extra: c.carry.marks(0, nil)}))
	}
	c.completed(reason, usage)
	c.end(io.EOF)
}

// panicked ends the call because a function that was given as an option panicked.
func (c *call) panicked(err error) {
	if c.broken {
		c.exhaust(Class{}, err, ReasonPanic)
	} else {
		c.fail(Class{}, err)
	}
}

// pushEnd delivers the last chunk of a recovered answer.
func (c *call) pushEnd(reason string, continuations int, dropped []string) {
	last := &schema.Message{Role: c.carry.role(), Extra: c.carry.expire(c.carry.marks(continuations, dropped))}
	usage := c.answer
	if c.cfg.billedUsage {
		usage = c.billed
	}
	if usage.Unreported > 0 && (usage.Known || c.metered) {
		last.Extra = withMark(last.Extra, ExtraUnreported, usage.Unreported)
	}
	if u := usage.TokenUsage(); u != nil || reason != "" {
		last.ResponseMeta = &schema.ResponseMeta{FinishReason: reason, Usage: u}
	}
	if !isEmpty(last) {
		c.push(made(last))
	}
}

// runTools ends the answer with the calls that arrived whole. The gate has let them go.
func (c *call) runTools(b blocks) {
	const reason = "tool_calls"
	requests := c.budget.number
	c.budget.number++
	c.due, c.plan = 0, snapshot.SynthesizeToolUse
	c.started(b, c.acc.TextLen())
	c.reason = reason
	c.release()
	c.pushEnd(reason, requests, c.dropped)
	c.completed(reason, snapshot.Usage{})
	c.end(io.EOF)
}

// completed, failed and cancelled end the continuation that was started, if there is one.
func (c *call) completed(reason string, usage snapshot.Usage) {
	if !c.running {
		return
	}
	c.running = false
	c.epilogue.ends(callbacks.OutcomeRecovered, "")
	c.emit(callbacks.Completed{
		Call: c.source(), ContinuationAttempt: c.budget.number, CompletionReason: reason,
		Usage: usage, Answer: c.answer, Billed: c.billed,
	})
}

func (c *call) failed(class Class, err error) {
	if !c.running {
		return
	}
	c.running = false
	c.emit(callbacks.Failed{
		Call: c.source(), ContinuationAttempt: c.budget.number, ErrorKind: class.errorKind(), Cause: class.cause(),
		ErrorMessage: callbacks.BoundMessage(err.Error()), Usage: c.used(c.acc.Usage().Max(c.unseen)),
	})
}

func (c *call) cancelled(err error) {
	if !c.running {
		return
	}
	c.running = false
	reason := "interrupt"
	switch {
	case errors.Is(err, schema.ErrRecvAfterClosed):
		reason = "reader_closed"
	case errors.Is(err, checkpointstore.ErrStale):
		reason = "taken_over"
	case c.caller.Err() != nil:
		reason = c.caller.Err().Error()
	}
	c.emit(callbacks.Cancelled{Call: c.source(), ContinuationAttempt: c.budget.number, Reason: reason})
}

// stop ends the call because the caller wants it to. What was ready for the consumer is not wanted any more.
func (c *call) stop(err error) {
	c.out.clear()
	c.cancelled(err)
	c.ends(callbacks.OutcomeCancelled, "")
	c.end(err)
}

// release lets go of an answer that was wanted whole.
func (c *call) release() {
	if c.whole == nil {
		return
	}
	for _, m := range c.whole.chunks {
		c.push(m)
	}
	c.whole = new(stash)
}

// fail ends the call with an error that is not an interruption. Text that waits behind a tool call leaves before it.
func (c *call) fail(class Class, err error) {
	c.gate.releaseText(c.deliver)
	c.failed(Class{}, err)
	c.ends(callbacks.OutcomeFailed, class.cause())
	if len(compose.GetCurrentAddress(c.caller)) > 0 {
		err = storable(err)
	}
	c.end(err)
}

// exhaust ends the call with what has arrived, and why no more is tried.
func (c *call) exhaust(class Class, err error, reason string) {
	if c.first == nil {
		c.first = err
	}
	c.broken = false
	c.ends(callbacks.OutcomeExhausted, class.cause())
	c.emit(callbacks.Exhausted{Call: c.source(), Attempts: c.budget.number, FinalReason: reason, Billed: c.billed})
	c.end(&ExhaustedError{Partial: c.partial(), Attempts: c.budget.number, First: c.first, Last: err, Reason: reason})
}

func (c *call) partial() *schema.Message {
	s := c.acc.Snapshot()

	return &schema.Message{Role: schema.Assistant, Content: s.Text, ReasoningContent: s.Reasoning}
}

// overflow ends the call because a tool call is larger than may be held.
func (c *call) overflow() {
	err := &BufferError{Limit: c.cfg.maxBuffered}
	if t := c.acc.Touched(); len(t) > 0 {
		call := c.acc.Call(t[len(t)-1], false)
		err.Tool, err.ID = call.Name, call.ID
	} else if x := c.gate.lastRemote(); x != nil {
		err.Tool, err.ID = x.name, x.id
	}
	c.gate.releaseText(c.deliver)
	c.failed(Class{}, err)
	c.exhaust(Class{}, err, ReasonMaxBufferedBytes)
}

// end is the only way into phaseEnded. It lets go of everything the call holds but the queue.
func (c *call) end(err error) {
	c.err = err
	c.keep(err)
	c.tether.leave()
	c.outcome(notCounted(err))
	c.settleDoubt(notCounted(err))
	c.watch.stop()
	if c.seam != nil {
		c.seam.drop()
	}
	c.epilogue.ended()
	c.transition(phaseEnded)
}
