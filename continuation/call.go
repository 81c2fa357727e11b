package continuation

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// call is one Stream of the caller: the loop that reads attempt after attempt until the answer is whole. Everything runs
// in the consumer's Recv, one step at a time, so that what was gathered is what was delivered.
type call struct {
	model   *Model
	cfg     *config
	profile *profile // never changed; shared
	dialect Dialect
	events  emitter

	caller context.Context    //nolint:containedctx // Recv has no context: the stream lives under the one Stream was given
	ctx    context.Context    //nolint:containedctx // ends with caller, with the reader's Close, and with the call
	cancel context.CancelFunc // ends ctx

	mu    sync.Mutex // one Recv at a time; closed joins in
	phase phase
	trace func(phase) // for tests
	err   error       // what follows the queue when the call has ended

	// The attempt under way.
	request request
	attempt *attempt[*schema.Message]
	record  *record
	watch   watchdog
	idle    time.Duration // how long it may be silent between two pieces of content
	seam    *seam         // nil if it needs no join
	probe   probe

	// What its chunks go through.
	acc      snapshot.Accumulator
	carry    carry
	gate     gate
	progress progress
	out      queue

	recovery
}

func newCall(ctx context.Context, m *Model, in []*schema.Message, opts []model.Option) *call {
	inner, cancel := context.WithCancel(ctx)
	c := &call{
		model: m, cfg: m.cfg,
		caller: ctx, ctx: inner, cancel: cancel,
		events: m.newEmitter(ctx, in, opts),
	}
	c.recovery = recovery{
		base:    m.baseRequest(in, opts),
		stretch: 1,
		budget:  budget{cfg: m.cfg, started: time.Now()},
	}
	c.setProfile(m.profile)
	c.gate.acc = &c.acc
	c.request = c.base

	return c
}

func (c *call) setProfile(p *profile) {
	c.profile = p
	c.acc.ReasoningKeys, c.carry.keys = p.reasoningKeys, p.reasoningKeys
	c.dialect = c.cfg.dialect.resolve(*p)
	c.idle = c.idleLimit()
}

func (c *call) transition(p phase) {
	c.phase = p
	if c.trace != nil {
		c.trace(p)
	}
}

// open makes the first request and returns when it is open, has failed for good, or will be made again by next.
func (c *call) open() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin()
	for c.phase == phaseOpening {
		if c.ctx.Err() != nil {
			c.stop(control(c.caller, c.ctx, nil))

			break
		}
		c.step()
	}
	if c.phase == phaseEnded && c.out.empty() {
		return c.err
	}

	return nil
}

// next returns the next chunk for the consumer, or the call's end.
func (c *call) next() (*schema.Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if c.phase != phaseEnded && c.ctx.Err() != nil {
			c.stop(control(c.caller, c.ctx, nil))
		}
		if m := c.out.pop(); m != nil {
			return m, nil
		}
		if c.phase == phaseEnded {
			err := c.err
			c.err = io.EOF

			return nil, err
		}
		c.step()
	}
}

// closed is called when the reader was closed, also after the end. A Recv in flight ends the call itself; if there is
// none, nobody else does.
func (c *call) closed() {
	c.cancel()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != phaseEnded {
		c.stop(control(c.caller, c.ctx, nil))
	}
}

// step does what the phase asks for. It returns when there may be something for the consumer. A panic of a function that
// was given as an option becomes an error of the stream.
func (c *call) step() {
	defer func() {
		if p := recover(); p != nil {
			c.fail(&PanicError{Value: p, Stack: debug.Stack()})
		}
	}()
	switch c.phase {
	case phaseOpening, phaseStreaming, phaseJoining, phaseProbing:
		c.read()
	case phaseWaiting:
		c.wait()
	case phaseEnded:
	}
}

// begin makes the request that is due.
func (c *call) begin() {
	ctx, rec := withRecord(c.ctx)
	messages, opts := c.request.messages, c.request.opts
	c.record, c.fresh, c.soft, c.idle = rec, true, nil, c.idleLimit()
	c.sent++
	c.watch.reset(stretched(c.cfg.firstContent, c.stretch))
	c.attempt = startAttempt(ctx, func(ctx context.Context) (*schema.StreamReader[*schema.Message], error) {
		return c.model.inner.Stream(ctx, messages, opts...)
	})
	c.transition(phaseOpening)
}

// read takes the next item of the attempt, or does what time asks for.
func (c *call) read() {
	var it item[*schema.Message]
	select {
	case it = <-c.attempt.items:
	default:
		select {
		case it = <-c.attempt.items:
		case <-c.watch.wait():
			it.err = fmt.Errorf("%w (%v)", ErrIdleStall, c.watch.limit)
		case <-c.seam.deadline():
			c.watch.waited()
			c.joined(c.seam.expire())

			return
		case <-c.ctx.Done():
			return // next sees it
		}
	}

	switch {
	case it.err == errOpened:
		c.watch.waited()
		c.opened()
	case it.err != nil:
		c.ended(it.err)
	case it.msg == nil: // some clients do that between frames; it says nothing
		c.watch.waited()
	default:
		c.arrived(it.msg)
	}
}

// opened says that the attempt has a reader.
func (c *call) opened() {
	switch {
	case c.probe.on:
		c.transition(phaseProbing)
	case c.seam != nil:
		c.transition(phaseJoining)
	default:
		c.transition(phaseStreaming)
	}
}

// arrived takes a chunk of the attempt.
func (c *call) arrived(m *schema.Message) {
	if snapshot.HasContent(m) {
		c.fresh, c.content = false, true
		c.watch.reset(c.idle)
	} else {
		c.watch.waited()
	}
	if len(m.Extra) > 0 {
		c.learn(m.Extra)
	}

	switch c.phase {
	case phaseProbing:
		if !c.probe.withhold(m, c.cfg.maxBuffered) {
			c.ended(ErrTruncated) // more than can be withheld: no probe can tell
		}
	case phaseJoining:
		c.joined(c.seam.take(m))
	default:
		c.accept(m)
	}
}

// learn reads from a chunk's Extra what its client says there and nowhere else.
func (c *call) learn(extra map[string]any) {
	if err := terminatedError(extra); err != nil {
		c.soft = err
	}
	if c.profile.known || c.cfg.provider != "" {
		return
	}
	if p, ok := profileByExtra(extra); ok {
		c.setProfile(&p)
	}
}

// idleLimit is how long this attempt may be silent between two pieces of content.
func (c *call) idleLimit() time.Duration {
	limit := c.cfg.idle
	switch {
	case limit > 0:
	case c.profile.wholeCalls, c.profile.typ == "" && c.offersTools():
		limit = defaultIdleWholeCalls
	default:
		limit = defaultIdle
	}

	return stretched(limit, c.stretch)
}

func (c *call) offersTools() bool {
	return c.model.tools || len(model.GetCommonOptions(nil, c.base.opts...).Tools) > 0
}

// stretched returns n times d, or the longest duration there is.
func stretched(d time.Duration, n int) time.Duration {
	if d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}

	return d * time.Duration(n)
}

// accept gathers a chunk and passes on what the consumer may have of it.
func (c *call) accept(m *schema.Message) {
	if m = c.carry.wholeRunes(m); m == nil {
		return
	}
	if err := c.acc.Add(m); err != nil {
		c.fail(err)

		return
	}
	f := finishNone
	if m.ResponseMeta != nil && m.ResponseMeta.FinishReason != "" {
		f = c.profile.finish(m.ResponseMeta.FinishReason)
		if f != finishNone && f != finishDisguised {
			c.model.learned.sendsFinish.Store(true)
		}
	}
	keep := c.keepFinish(f)
	m = c.carry.adapt(m, keep, c.acc.ReasoningKept())
	switch {
	case m == nil:
	case f != finishNone && keep:
		c.pushLast(m)
	default:
		c.gate.pass(m, c.out.push)
		c.tellProgress()
	}
	if c.gate.bytes > c.cfg.maxBuffered {
		c.overflow()
	}
}

// pushLast delivers the chunk that brings the finish reason. What is held leaves before it.
func (c *call) pushLast(m *schema.Message) {
	if len(m.ToolCalls) > 0 || !c.gate.empty() {
		body := *m
		body.ResponseMeta = nil
		if !isEmpty(&body) {
			c.gate.pass(&body, c.out.push)
		}
		c.flush()
		m = &schema.Message{Role: m.Role, ResponseMeta: m.ResponseMeta}
	}
	c.finished = true
	c.out.push(m)
}

// keepFinish reports whether a chunk's finish reason goes to the consumer with the chunk. It does not if it may turn out
// to be none: a reason in disguise, or one beside a call that is still open; and not after a break, when the last chunk
// carries it together with the answer's usage.
func (c *call) keepFinish(f finish) bool {
	switch {
	case c.carry.later:
		return false
	case f == finishDisguised:
		return false
	case f == finishComplete || f == finishTools:
		return !c.hasOpenCall(true)
	default:
		return true
	}
}

func (c *call) hasOpenCall(ended bool) bool {
	for n := range c.acc.Calls() {
		if c.acc.CallState(n, ended) == snapshot.CallOpen {
			return true
		}
	}

	return false
}

func (c *call) hasWholeCall() bool {
	for n := range c.acc.Calls() {
		if c.acc.CallState(n, c.acc.FinishReason() != "") == snapshot.CallWhole {
			return true
		}
	}

	return false
}

// flush lets go of all that is held, as it came, and says so of calls that nobody can run.
func (c *call) flush() {
	for n := range c.acc.Calls() {
		if s := c.acc.CallState(n, true); s != snapshot.CallWhole && !c.gate.delivered(n) {
			c.emit(callbacks.Notice{
				Call: c.events.source(), Kind: callbacks.NoticeToolCallPassed,
				Message: fmt.Sprintf("tool call %q was delivered as it came: %v", c.acc.Call(n, true).Name, s),
			})
		}
	}
	c.gate.flush(c.out.push)
}

// tellProgress tells how much of the call under way has come.
func (c *call) tellProgress() {
	if len(c.events.handlers) == 0 || len(c.acc.Touched()) == 0 {
		return
	}
	n := c.acc.Touched()[len(c.acc.Touched())-1]
	if c.gate.delivered(n) || !c.progress.due(time.Now()) {
		return
	}
	t := c.acc.Call(n, false)
	c.emit(callbacks.ToolCallProgress{
		Call: c.events.source(), Index: t.Index, ID: t.ID, ToolName: t.Name, Bytes: len(t.Arguments),
	})
}

func (c *call) emit(e callbacks.Event) {
	if len(c.events.handlers) > 0 {
		c.events.emit(c.caller, e)
	}
}

// wait waits for the next request's time.
func (c *call) wait() {
	t := time.NewTimer(c.due)
	defer t.Stop()
	select {
	case <-t.C:
		c.begin()
	case <-c.ctx.Done(): // next sees it
	}
}
