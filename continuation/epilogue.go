package continuation

import (
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// epilogue is what is remembered of a call for its last event. That of a call whose end nobody hears of is nil, and costs
// nothing.
type epilogue struct {
	outcome callbacks.Outcome
	cause   callbacks.Cause // of the error that the caller gets
	first   time.Time       // when the first content came; zero if none did
	end     time.Time       // when the call ended
	rest    snapshot.Usage  // of the attempt under way, if the call ended without a whole answer
	told    bool
}

// listen readies the last event of the call, if somebody hears of it. The names of the call are taken now: the caller may
// change its messages as soon as it has closed the reader.
func (c *call) listen() {
	if len(c.cfg.handlers) == 0 {
		return
	}
	defer func() { _ = recover() }() // of the function that was given to WithRunID
	c.epilogue = new(epilogue)
	c.emitter().source()
}

// began says that the first content has come.
func (e *epilogue) began() {
	if e != nil {
		e.first = time.Now()
	}
}

// ends says how the call is about to end; nothing need be said before a clean end of the original answer.
func (e *epilogue) ends(o callbacks.Outcome, cause callbacks.Cause) {
	if e != nil {
		e.outcome, e.cause = o, cause
	}
}

// ends says that the call is about to end without a whole answer. What the attempt under way has reported is billed too,
// and was not counted yet; that of chunks which nobody gets is no part of the answer.
func (c *call) ends(o callbacks.Outcome, cause callbacks.Cause) {
	c.epilogue.ends(o, cause)
	if c.err != nil { // a breaker's panic came out of the first end
		return
	}
	if c.epilogue != nil {
		c.epilogue.rest = c.used(c.acc.Usage())
	}
	c.bill()
}

// takenOver says that the caller gets an error in place of the end, for an answer that is another call's. What a continuation
// completed stays so, as it was told.
func (e *epilogue) takenOver() {
	if e != nil && e.outcome == "" {
		e.outcome = callbacks.OutcomeCancelled
	}
}

// ended says that the call has ended now.
func (e *epilogue) ended() {
	if e != nil {
		e.end = time.Now()
	}
}

// tellEnd sends the last event, once. The consumer has everything else by then: what is told of the end being read comes
// before.
func (c *call) tellEnd() {
	e := c.epilogue
	if e == nil || e.told {
		return
	}
	e.told = true
	defer func() { _ = recover() }() // of the function that was given to WithRunID
	if e.end.IsZero() {              // a callback handler's panic goes out through Stream
		e.ends(callbacks.OutcomeFailed, callbacks.CauseUnknown)
		e.ended()
	}
	c.emit(e.event(callbacks.Ended{
		Call: c.source(), Requests: c.sent, FinishReason: c.finishReason(), Answer: c.answer.Then(e.rest), Billed: c.billed,
	}, c.budget.started))
}

// event completes what e tells of a call that began at started.
func (e *epilogue) event(ev callbacks.Ended, started time.Time) callbacks.Ended {
	ev.Outcome, ev.Cause, ev.Duration = e.outcome, e.cause, e.end.Sub(started)
	if ev.Outcome == "" {
		ev.Outcome = callbacks.OutcomeComplete
	}
	if !e.first.IsZero() {
		ev.FirstContent = e.first.Sub(started)
	}

	return ev
}

// finishReason returns the finish reason that the consumer has.
func (c *call) finishReason() string {
	if c.reason == "" && c.finished {
		return c.acc.FinishReason()
	}

	return c.reason
}
