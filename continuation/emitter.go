package continuation

import (
	"context"
	"crypto/rand"
	"strconv"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// handlerLimit is how long a handler may take before it is left behind.
const handlerLimit = time.Second

// emitter hands the events of one call to the handlers, one after the other.
type emitter struct {
	handlers []callbacks.Handler
	stalled  []bool
	of       callbacks.Call
	engine   *engine
	asked    *request // of the call; its answers are only counted if there is an event
}

// source returns the call's names for an event.
func (e *emitter) source() callbacks.Call {
	if e.of.CallID == "" {
		e.of.CallID = rand.Text()
		e.of.TurnID = strconv.Itoa(e.engine.speech.answers(e.asked) + 1)
	}

	return e.of
}

func (c *call) emit(e callbacks.Event) {
	c.emitter().emit(c.caller, e)
}

// source returns the call's names for an event.
func (c *call) source() callbacks.Call { return c.emitter().source() }

func (c *call) emitter() *emitter {
	if c.events == nil {
		c.events = c.engine.newEmitter(c.caller, c.asked, c.run)
	}
	if c.events.of.Provider == unknownName && c.profile.typ != "" {
		c.events.of.Provider = c.profile.typ // a chunk has told it
	}

	return c.events
}

// emit hands ev to the handlers. The others hear of one that stalled after ev itself.
func (e *emitter) emit(ctx context.Context, ev callbacks.Event) {
	var late []int
	for i, h := range e.handlers {
		if e.stalled != nil && e.stalled[i] {
			continue
		}
		if !handle(ctx, h, ev) {
			late = append(late, i)
		}
	}
	for _, i := range late {
		if e.stalled == nil {
			e.stalled = make([]bool, len(e.handlers))
		}
		e.stalled[i] = true
	}
	for _, i := range late {
		e.emit(ctx, callbacks.HandlerStalled{Call: e.source(), Handler: i, Event: ev.Name(), Limit: handlerLimit})
	}
}

// handle reports whether h was done with ev in time. A panic of the handler is its own affair.
func handle(ctx context.Context, h callbacks.Handler, ev callbacks.Event) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		h.Handle(ctx, ev)
	}()
	limit := time.NewTimer(handlerLimit)
	defer limit.Stop()
	select {
	case <-done:
		return true
	case <-limit.C:
		return false
	}
}

// countAnswers returns how many assistant messages in has.
func countAnswers(in []*schema.Message) int {
	n := 0
	for _, m := range in {
		if m != nil && m.Role == schema.Assistant {
			n++
		}
	}

	return n
}
