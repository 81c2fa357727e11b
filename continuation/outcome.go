package continuation

import (
	"errors"
	"io"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// prepare builds the request of the continuation that is due, and the seam that its text will pass.
func (c *call) prepare() {
	s := c.acc.Snapshot()
	c.seam = nil
	if c.budget.number == 0 || c.plan == snapshot.WholeRestart {
		c.request = c.base
		if s.Text != "" { // white space, which the restarted answer may begin with as well
			c.seam = newSeam(newJoiner(&c.acc, s.Text, true))
		}

		return
	}
	d := c.dialect
	if d.exact() && c.model.learned.refusesPrefill.Load() {
		d = UserTurn()
	}
	base := c.base
	base.opts = limitTokens(base.opts, c.answer, len(s.Text)+len(s.Reasoning))
	c.request = continueRequest(base, s, d, *c.profile, c.promptText(s))
	c.seam = newSeam(newJoiner(&c.acc, c.request.trimmed, c.request.exact))
}

func (c *call) promptText(s snapshot.Snapshot) string {
	p := c.cfg.prompt
	if p == nil {
		p = builtinPrompt
	}

	return p(Interruption{
		Plan: c.plan, Cause: c.class.cause(), Err: c.last, Continuation: c.budget.number,
		Text: s.Text, DroppedCalls: c.dropped, Restarted: c.again,
	})
}

// started tells of the continuation that is due.
func (c *call) started(b blocks, text int) {
	c.running = true
	e := callbacks.Started{
		Call: c.events.source(), ContinuationAttempt: c.budget.number, Backoff: c.due, Plan: c.plan,
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
			e.PromptText = c.request.messages[len(c.request.messages)-1].Content
		}
	}
	c.emit(e)
}

// runTools ends the answer with the calls that arrived whole. The gate has let them go.
func (c *call) runTools(b blocks) {
	const reason = "tool_calls"
	requests := c.budget.number
	c.budget.number++
	c.due, c.plan = 0, snapshot.SynthesizeToolUse
	c.started(b, c.acc.TextLen())
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
	c.emit(callbacks.Completed{
		Call: c.events.source(), ContinuationAttempt: c.budget.number, CompletionReason: reason,
		Usage: usage, Answer: c.answer, Billed: c.billed,
	})
}

func (c *call) failed(class Class, err error) {
	if !c.running {
		return
	}
	c.running = false
	c.emit(callbacks.Failed{
		Call: c.events.source(), ContinuationAttempt: c.budget.number, ErrorKind: class.errorKind(), Cause: class.cause(),
		ErrorMessage: callbacks.BoundMessage(err.Error()), Usage: c.acc.Usage(),
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
	case c.caller.Err() != nil:
		reason = c.caller.Err().Error()
	}
	c.emit(callbacks.Cancelled{Call: c.events.source(), ContinuationAttempt: c.budget.number, Reason: reason})
}

// stop ends the call because the caller wants it to. What was ready for the consumer is not wanted any more.
func (c *call) stop(err error) {
	c.out.clear()
	c.cancelled(err)
	c.end(err)
}

// fail ends the call with an error that is not an interruption.
func (c *call) fail(err error) {
	c.failed(Class{}, err)
	c.end(err)
}

// exhaust ends the call with what has arrived, and why no more is tried.
func (c *call) exhaust(err error, reason string) {
	if c.first == nil {
		c.first = err
	}
	c.emit(callbacks.Exhausted{Call: c.events.source(), Attempts: c.budget.number, FinalReason: reason, Billed: c.billed})
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
	}
	c.failed(Class{}, err)
	c.exhaust(err, ReasonMaxBufferedBytes)
}

// end is the only way into phaseEnded. It lets go of everything the call holds but the queue.
func (c *call) end(err error) {
	c.err = err
	if c.attempt != nil {
		c.attempt.leave()
	}
	c.watch.stop()
	if c.seam != nil {
		c.seam.drop()
	}
	c.cancel()
	c.transition(phaseEnded)
}
