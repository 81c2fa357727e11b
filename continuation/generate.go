package continuation

import (
	"context"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// generation is one Generate of the caller that passes through, with open retries.
type generation[M any] struct {
	engine   *engine
	ask      func(context.Context, *request) (M, error)
	asked    *request
	request  *request
	events   *emitter
	run      *run // for Eino's callback handlers
	sent     int  // requests made
	budget   budget
	refusals int   // by the circuit breaker, in a row
	class    Class // of the latest error
	refusal  error // of the request with reasoning, if it was made once more without
}

func generate[M any](ctx context.Context, e *engine, asked *request, ask func(context.Context, *request) (M, error)) (M, error) {
	ctx, told := beginRun(ctx, e, asked)
	g := &generation[M]{
		engine: e, ask: ask, asked: asked, run: told,
		request: e.baseRequest(asked),
		events:  e.newEmitter(ctx, asked, told),
		budget:  budget{cfg: e.cfg, started: time.Now()},
	}
	defer told.panicked()
	msg, err := g.answer(ctx)
	if err != nil {
		told.failed(err)

		return msg, err
	}
	told.answered(e, msg)

	return msg, nil
}

// answer gets the answer and tells that the call is over.
func (g *generation[M]) answer(ctx context.Context) (msg M, err error) {
	err = errGone // unless the model returns
	defer func() { g.tellEnd(ctx, msg, err) }()

	return g.tries(ctx)
}

// tries asks until there is an answer, or none is to be had.
func (g *generation[M]) tries(ctx context.Context) (none M, _ error) {
	var before error // of the latest request that was made
	for {
		if err := control(ctx, false, nil); err != nil {
			return none, err
		}
		msg, class, err := g.try(ctx)
		if err == nil {
			return msg, nil
		}
		g.class = class
		d, ok := g.again(ctx, class, err)
		if !ok {
			if g.refusal != nil && class.Kind == InvalidRequest {
				err = g.refusal
			}

			return none, refusedAfter(err, before)
		}
		if !isRefusal(err) {
			before = err
		}
		if err := sleep(ctx, d); err != nil {
			return none, err
		}
	}
}

// try makes one request under the circuit breaker.
func (g *generation[M]) try(ctx context.Context) (msg M, class Class, err error) {
	var s *slot
	if f := g.engine.cfg.breaker; f != nil {
		s, err = f.take()
		g.tellBreaker(ctx)
		if err != nil {
			return msg, Class{Kind: Overloaded}, err
		}
		g.refusals = 0
		defer g.tellBreaker(ctx)
		defer s.give(notCounted(nil)) // a panic, too, returns the slot
	}
	actx, rec := withRecord(g.run.attempt(ctx, g.engine, g.sent))
	g.sent++
	ask := func(ctx context.Context) (M, error) { return g.ask(ctx, g.request) }
	if g.run == nil {
		msg, err = ask(actx)
	} else {
		msg, err = passAnswer(actx, g.engine, g.request, ask)
	}
	switch {
	case err == nil:
		s.give(nil)
	case ctx.Err() != nil || isInterrupt(err):
		s.give(notCounted(err))
	default:
		class = rec.class(g.engine.cfg.classifier(err))
		s.give(outcomeOf(err, class))
	}

	return msg, class, err
}

// again reports whether the request is made again, and after what wait.
func (g *generation[M]) again(ctx context.Context, class Class, err error) (time.Duration, bool) {
	cfg := g.engine.cfg
	switch {
	case ctx.Err() != nil || isInterrupt(err):
		return 0, false
	case isRefusal(err):
		g.refusals++
		d, reason := g.budget.wait(g.refusals, Class{}, time.Now())

		return d, cfg.breaker.open == WaitWhenOpen && reason == ""
	case class.Kind == InvalidRequest && g.unthink(ctx, err):
		return 0, true
	case g.request.hinted && class.Kind == InvalidRequest:
		g.engine.refuseHint(ctx, g.events, err)
		g.request = g.engine.baseRequest(g.asked)
		if g.refusal != nil {
			g.request, _ = g.engine.speech.thoughtless(g.request)
		}

		return 0, true
	case class.Permanent() || class.Kind == Unknown || g.budget.opens >= cfg.openRetries:
		return 0, false
	}
	d, reason := g.budget.wait(g.budget.opens+1, class, time.Now())
	if reason != "" {
		return 0, false
	}
	g.budget.opens++
	g.events.emit(ctx, openRetried(g.events.source(), g.budget.opens, d, class, err))

	return d, true
}

// unthink leaves all reasoning out of the request, once, if the provider has refused it for that and it is not the
// caller's alone.
func (g *generation[M]) unthink(ctx context.Context, err error) bool {
	if g.refusal != nil || !g.engine.speech.recovered(g.asked) || !refusesThought(err) {
		return false
	}
	bare, some := g.engine.speech.thoughtless(g.request)
	if !some {
		return false
	}
	g.request, g.refusal = bare, err
	g.engine.tellThought(ctx, g.events, err)

	return true
}

// tellEnd sends the last event. The answer came in one piece, so that it has no first content.
func (g *generation[M]) tellEnd(ctx context.Context, answer M, err error) {
	if len(g.engine.cfg.handlers) == 0 {
		return
	}
	e := &epilogue{end: time.Now()}
	switch {
	case err == nil:
	case ctx.Err() != nil || isInterrupt(err):
		e.ends(callbacks.OutcomeCancelled, "")
	default:
		e.ends(callbacks.OutcomeFailed, g.class.cause())
	}
	finish, usage := g.engine.speech.ending(answer)
	g.events.emit(ctx, e.event(callbacks.Ended{
		Call: g.events.source(), Requests: g.sent, FinishReason: finish, Answer: usage, Billed: usage,
	}, g.budget.started))
}

func (g *generation[M]) tellBreaker(ctx context.Context) {
	if from, to, ok := g.engine.cfg.breaker.changed(); ok {
		g.events.emit(ctx, callbacks.BreakerChanged{Call: g.events.source(), From: from, To: to})
	}
}

// sleep waits for d, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return contextError(ctx)
	}
}
