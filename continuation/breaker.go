package continuation

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/eino-carryon/carryon/callbacks"
)

// Breaker is a two-step circuit breaker, as gobreaker.TwoStepCircuitBreaker is one: it is asked before each attempt, and
// told the outcome when the stream has ended. It must be safe for concurrent use. One that keeps its state elsewhere fits
// as well; Allow is called from inside Stream and Recv and should not block for long. gobreaker's DistributedCircuitBreaker
// locks its store while it runs a function, so that no stream may run in one: let Allow ask for its State, and done tell it
// the outcome with an Execute that does nothing but return it.
type Breaker interface {
	Allow() (done func(error), err error)
}

// OpenBehaviour says what happens while the circuit breaker lets no attempt through.
type OpenBehaviour int

const (
	// FailWhenOpen ends the call at once: before any content with the breaker's error, later with an [ExhaustedError]
	// that holds it and what has arrived. Either holds what the request before it failed with, too. The default.
	FailWhenOpen OpenBehaviour = iota
	// WaitWhenOpen waits and asks the breaker again, as long as the caller's context and [WithMaxElapsed] allow. Waiting
	// uses up no continuation. The waits are those of [WithBackoff].
	WaitWhenOpen
)

// ErrNotCounted is in the chain of what a breaker's done is given for an attempt that says nothing about the provider:
// the caller ended it, or its error is permanent. See [NotCounted].
var ErrNotCounted = errors.New("continuation: the outcome does not count")

// NotCounted reports whether an outcome says nothing about the provider's health. It is made for the IsExcluded setting
// of a breaker given to [WithBreaker]: without it such an outcome counts as a failure there. [WithCircuitBreaker] sets it
// itself.
func NotCounted(err error) bool { return errors.Is(err, ErrNotCounted) }

// WithCircuitBreaker puts a gobreaker with these settings before the wrapped model. All calls of the decorator, and of
// those that WithTools derives from it, share it. IsExcluded is extended by [NotCounted].
func WithCircuitBreaker(s gobreaker.Settings, open ...OpenBehaviour) Option {
	return func(c *config) {
		excluded := s.IsExcluded
		s.IsExcluded = func(err error) bool { return NotCounted(err) || excluded != nil && excluded(err) }
		c.setBreaker("WithCircuitBreaker", gobreaker.NewTwoStepCircuitBreaker[any](s), open)
	}
}

// WithBreaker puts any two-step breaker before the wrapped model, for one that several decorators or processes share.
// Give it [NotCounted] as IsExcluded. Nil is an error.
func WithBreaker(b Breaker, open ...OpenBehaviour) Option {
	return func(c *config) {
		if b == nil {
			c.reject("WithBreaker", "the breaker is nil")

			return
		}
		c.setBreaker("WithBreaker", b, open)
	}
}

func (c *config) setBreaker(option string, b Breaker, open []OpenBehaviour) {
	behaviour := FailWhenOpen
	for _, o := range open {
		if o != FailWhenOpen && o != WaitWhenOpen {
			c.reject(option, "%d is no OpenBehaviour", int(o))
		}
		behaviour = o
	}
	c.breaker = &fuse{breaker: b, open: behaviour}
}

// fuse is the breaker of a decorator, and the last state that was seen of it.
type fuse struct {
	breaker Breaker
	open    OpenBehaviour

	mu   sync.Mutex
	last string
}

// changed returns the breaker's states before and now, if they differ. Breakers that do not tell their state never do.
func (f *fuse) changed() (from, to string, ok bool) {
	b, tells := f.breaker.(interface{ State() gobreaker.State })
	if !tells {
		return "", "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	from, to = f.last, b.State().String()
	f.last = to
	if from == "" {
		from = gobreaker.StateClosed.String()
	}

	return from, to, from != to
}

// slot is what an attempt holds of the breaker. A nil slot holds nothing.
type slot struct {
	fuse *fuse
	done func(error)
	once sync.Once
	stop func() bool // gives up the wait for the end of the caller's context
}

// refusalError is the breaker's own error, and what the request that it refuses to repeat had failed with.
type refusalError struct{ cause, before error }

func (e *refusalError) Error() string {
	s := "continuation: circuit breaker: " + causeText(e.cause)
	if e.before != nil {
		s += "; before it: " + causeText(e.before)
	}

	return s
}

func (e *refusalError) Unwrap() []error {
	if e.before == nil {
		return []error{e.cause}
	}

	return []error{e.cause, e.before}
}

// refusedAfter adds to a breaker's refusal what went before it; any other error, and nothing before, leaves err as it is.
func refusedAfter(err, before error) error {
	r, ok := err.(*refusalError) //nolint:errorlint // it is of this package, and nobody has wrapped it
	if !ok || before == nil {
		return err
	}

	return &refusalError{cause: r.cause, before: before}
}

func isRefusal(err error) bool { return has[*refusalError](err) }

// take asks the breaker for a slot.
func (f *fuse) take() (*slot, error) {
	done, err := f.breaker.Allow()
	if err != nil {
		return nil, &refusalError{cause: err}
	}

	return &slot{fuse: f, done: done}, nil
}

// give returns the slot with the attempt's outcome; a second time it does nothing.
func (s *slot) give(err error) {
	if s == nil {
		return
	}
	s.once.Do(func() {
		if s.done != nil {
			s.done(err)
		}
	})
}

// giveWithContext returns the slot when ctx ends, also if nobody reads or closes the stream any more: a half-open
// breaker would let nobody else through.
func (s *slot) giveWithContext(ctx context.Context) {
	s.stop = context.AfterFunc(ctx, func() {
		defer func() { _ = recover() }() // of a breaker that is the caller's; nobody is above to hear of it
		s.give(notCounted(context.Cause(ctx)))
	})
}

// notCounted is the outcome of an attempt that says nothing about the provider.
func notCounted(err error) error {
	if err == nil {
		return ErrNotCounted
	}

	return fmt.Errorf("%w: %w", ErrNotCounted, err)
}

// admit asks the breaker, if there is one, for the attempt that is due, and reports whether it may begin.
func (c *call) admit() (*slot, bool) {
	f := c.cfg.breaker
	if f == nil {
		return nil, true
	}
	s, err := f.take()
	if err != nil && c.yieldDoubt() {
		s, err = f.take()
	}
	c.tellBreaker()
	if err != nil {
		c.refuseByBreaker(err)

		return nil, false
	}
	c.refusals = 0
	s.giveWithContext(c.caller)

	return s, true
}

// refuseByBreaker does what is wanted while the breaker is open.
func (c *call) refuseByBreaker(err error) {
	f := c.cfg.breaker
	if f.open == WaitWhenOpen {
		c.refusals++
		d, reason := c.budget.wait(c.refusals, Class{}, time.Now())
		if reason == "" {
			c.due = d
			c.transition(phaseWaiting)

			return
		}
	}
	class := Class{Kind: Overloaded}
	switch {
	case c.probe != nil:
		c.probe = nil
		c.failed(class, err)
		c.endUnproven("whether the answer is whole could not be found out: " + ReasonBreakerOpen)
	case !c.content:
		c.fail(class, refusedAfter(err, c.before))
	default:
		err = refusedAfter(err, c.before)
		c.failed(class, err)
		c.exhaust(class, err, ReasonBreakerOpen)
	}
}

// outcome tells the breaker how the attempt ended.
func (c *call) outcome(err error) {
	if c.slot == nil {
		return
	}
	s := c.slot
	c.slot = nil // before it is called: it may panic
	c.giveBack(s, err)
}

// giveBack returns a slot and tells of what that changes.
func (c *call) giveBack(s *slot, err error) {
	s.stop()
	s.give(err)
	c.tellBreaker()
}

// outcomeOf returns what the end of an attempt says about the provider.
func outcomeOf(err error, class Class) error {
	switch {
	case class.Permanent(), class.Cause == callbacks.CauseRestarted:
		return notCounted(err)
	default:
		return err
	}
}

// tellBreaker tells of a changed state.
func (c *call) tellBreaker() {
	if from, to, ok := c.cfg.breaker.changed(); ok {
		c.emit(callbacks.BreakerChanged{Call: c.source(), From: from, To: to})
	}
}
