package continuation

import (
	"fmt"
	"math"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// chunk is a piece of an answer on its way from an attempt to the consumer. Everything between them looks at it as a
// message; the pieces of a model of another message type keep what they came as.
type chunk struct {
	*schema.Message
	origin *origin // nil for a *schema.Message, and for what the decorator made itself
}

// as returns m of the same origin.
func (c chunk) as(m *schema.Message) chunk { return chunk{Message: m, origin: c.origin} }

// made returns m as a chunk of the decorator's own.
func made(m *schema.Message) chunk { return chunk{Message: m} }

// arrivedAll takes a chunk of the attempt and what came in one with it.
func (c *call) arrivedAll(m chunk) {
	c.arrived(m)
	for o := m.origin; o != nil && o.next != nil && c.phase.reads(); o = o.next {
		c.arrived(o.next.chunk())
	}
}

// arrived takes a chunk of the attempt.
func (c *call) arrived(m chunk) {
	c.count(m)
	if snapshot.HasContent(m.Message) {
		if !c.content {
			c.epilogue.began()
		}
		if c.fresh {
			c.accepted()
		}
		c.fresh, c.content = false, true
		c.watch.reset(c.idle)
	} else {
		c.watch.waited()
	}
	if len(m.Extra) > 0 {
		c.learn(m.Extra)
	}
	if err := m.origin.failure(); err != nil {
		c.soft = err
	}

	switch c.phase {
	case phaseProbing:
		if c.probe.add(m) > c.cfg.maxBuffered {
			c.probeOverflow()
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
	if c.told || c.engine.profile.known || c.cfg.provider != "" || c.carry.layout != nil {
		return
	}
	if p, ok := profileByExtra(extra); ok {
		c.told = true
		c.engine.learned.profile.Store(&p)
		c.setProfile(&p)
	}
}

func (c *call) setProfile(p *profile) {
	c.profile = p
	c.acc.ReasoningKeys, c.carry.keys = p.reasoningKeys, p.reasoningKeys
	c.carry.layout.setType(p.typ)
	c.dialect = c.cfg.dialect.resolve(*p)
	c.idle = c.idleLimit()
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
	return len(c.engine.bound) > 0 || len(model.GetCommonOptions(nil, c.base.opts...).Tools) > 0
}

// stretched returns n times d, or the longest duration there is.
func stretched(d time.Duration, n int) time.Duration {
	if d > math.MaxInt64/time.Duration(n) {
		return math.MaxInt64
	}

	return d * time.Duration(n)
}

// accept gathers a chunk and passes on what the consumer may have of it.
func (c *call) accept(m chunk) {
	if m = c.carry.wholeRunes(m); m.Message == nil {
		return
	}
	came := m
	f := c.profile.finish(snapshot.FinishReason(m.Message))
	if f == finishDisguised { // it ends nothing, so that nobody else must take it for an end
		c.disguised = snapshot.FinishReason(m.Message)
		if m = withoutFinish(m); isEmpty(m.Message) {
			return
		}
		f = finishNone
	} else if f != finishNone {
		c.engine.learned.sendsFinish.Store(true)
	}
	if err := c.acc.Add(m.Message); err != nil {
		c.fail(Class{}, err)

		return
	}
	keep := c.keepFinish(f)
	m = c.carry.adapt(m, keep, c.acc.ReasoningKept(), c.acc.ReasoningDone())
	switch {
	case m.Message == nil:
	case f != finishNone && keep:
		c.pushLast(m)
	default:
		c.gate.pass(m, c.deliver)
		c.tellProgress()
	}
	if c.gate.bytes+c.whole.size() > c.cfg.maxBuffered {
		c.overflow()
	} else {
		c.grew(came)
	}
}

// deliver hands a chunk to the consumer, or keeps it if the answer is wanted whole. A thought alone may be seen before.
func (c *call) deliver(m chunk) {
	if c.whole != nil && (m.ReasoningContent == "" || snapshot.Text(m.Message) != "" || len(m.ToolCalls) > 0) {
		c.whole.add(m)

		return
	}
	if c.whole != nil {
		c.carry.leave(m)
	}
	c.push(m)
}

// push hands a chunk to the consumer.
func (c *call) push(m chunk) {
	if b := c.carry.layout; b != nil {
		placed, ok := b.place(m)
		if !ok {
			return
		}
		m = placed
	}
	c.out.push(m)
}

// withoutFinish returns a copy of m without its finish reason.
func withoutFinish(m chunk) chunk {
	cp, meta := *m.Message, *m.ResponseMeta
	meta.FinishReason = ""
	cp.ResponseMeta = &meta
	if meta == (schema.ResponseMeta{}) {
		cp.ResponseMeta = nil
	}

	return m.as(&cp)
}

// pushLast delivers the chunk that brings the finish reason. What is held leaves before it.
func (c *call) pushLast(m chunk) {
	if len(m.ToolCalls) > 0 || !c.gate.empty() {
		body := *m.Message
		body.ResponseMeta = nil
		if !isEmpty(&body) {
			c.gate.pass(m.as(&body), c.deliver)
		}
		c.flush()
		m = m.as(&schema.Message{Role: m.Role, ResponseMeta: m.ResponseMeta})
	}
	c.finished = true
	c.deliver(m)
}

// keepFinish reports whether a chunk's finish reason goes to the consumer with the chunk. It does not beside a
// call that is still open, when it may turn out to be none; and not after a break, when the last chunk
// carries it together with the answer's usage.
func (c *call) keepFinish(f finish) bool {
	switch {
	case c.carry.later:
		return false
	case f == finishComplete || f == finishTools:
		return !c.hasOpenCall(true)
	default:
		return true
	}
}

func (c *call) hasOpenCall(ended bool) bool { return c.hasCall(snapshot.CallOpen, ended) }

func (c *call) hasWholeCall() bool { return c.hasCall(snapshot.CallWhole, c.acc.FinishReason() != "") }

func (c *call) hasMalformedCall() bool { return c.hasCall(snapshot.CallMalformed, true) }

func (c *call) hasCall(s snapshot.CallState, ended bool) bool {
	for n := range c.acc.Calls() {
		if c.acc.CallState(n, ended) == s {
			return true
		}
	}

	return false
}

// flush lets go of all that is held, as it came, and says so of calls that nobody can run.
func (c *call) flush() {
	for n := range c.acc.Calls() {
		t := c.acc.Call(n, true)
		if c.gate.spoiled(n) {
			t.State = snapshot.CallMalformed
		}
		if t.State != snapshot.CallWhole {
			c.emit(callbacks.Notice{
				Call: c.source(), Kind: callbacks.NoticeToolCallPassed,
				Message: fmt.Sprintf("tool call %q was delivered as it came: %v", t.Name, t.State),
			})
		}
	}
	c.gate.flush(c.deliver)
}

// tellProgress tells how much of the call under way has come.
func (c *call) tellProgress() {
	if len(c.acc.Touched()) == 0 || len(c.emitter().handlers) == 0 {
		return
	}
	n := c.acc.Touched()[len(c.acc.Touched())-1]
	if c.gate.delivered(n) || !c.progress.due(time.Now()) {
		return
	}
	t := c.acc.Call(n, false)
	c.emit(callbacks.ToolCallProgress{
		Call: c.source(), Index: t.Index, ID: t.ID, ToolName: t.Name, Bytes: len(t.Arguments),
	})
}
