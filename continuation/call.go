package continuation

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// call is one Stream of the caller: the loop that reads attempt after attempt until the answer is whole. Everything runs
// in the consumer's Recv, one step at a time, so that what was gathered is what was delivered.
type call struct {
	engine  *engine
	cfg     *config
	profile *profile // never changed; shared
	dialect Dialect
	asked   *request // by the caller
	events  *emitter // nil until the first event

	epilogue *epilogue // nil if nobody hears of the end

	run    *run            // for Eino's callback handlers
	caller context.Context //nolint:containedctx // Recv has no context: the stream lives under the one Stream was given
	ctx    context.Context //nolint:containedctx // of the wait or the request under way, made from caller
	tether tether

	mu    sync.Mutex // one Recv at a time; closed joins in
	phase phase
	trace func(phase) // for tests
	err   error       // what follows the queue when the call has ended

	request  *request // what is asked, or asked next
	seam     *seam    // where its text is joined; nil if it needs no join
	replayed int      // where in the text the latest continuation began to repeat it, until it went on otherwise; 0: it did not
	probe    *stash   // its chunks, if it is a probe
	watch    watchdog
	underway

	// What its chunks go through.
	acc      snapshot.Accumulator
	carry    carry
	gate     gate
	progress progress
	whole    *stash // the answer, until it is whole, if that is wanted
	out      queue

	recovery
	saver *saver // of checkpoints; nil if none are kept
}

// underway is the attempt that runs. It is set as a whole when one begins, so that nothing of an earlier one stays.
type underway struct {
	attempt   attempt
	record    *record
	slot      *slot          // of the circuit breaker
	idle      time.Duration  // how long it may be silent between two pieces of content
	fresh     bool           // no content has come
	soft      error          // an error that the client reported inside a chunk
	disguised string         // a finish reason that means an interruption
	unseen    snapshot.Usage // of chunks that nobody got
	reported  bool           // it has reported all that it used so far, or is counted
	paid      bool           // it is in the sum of what was billed
}

func newCall(ctx context.Context, e *engine, asked *request) *call {
	c := &call{engine: e, cfg: e.cfg, asked: asked}
	c.caller, c.run = beginRun(ctx, e, asked)
	c.recovery = recovery{
		base:    e.baseRequest(asked),
		stretch: 1,
		budget:  budget{cfg: e.cfg, started: time.Now()},
	}
	if e.cfg.wholeOutput {
		c.whole = new(stash)
	}
	c.ctx = c.tether.next(c.caller)
	c.carry.layout = e.speech.layout()
	c.setProfile(e.knownProfile())
	c.gate.acc = &c.acc
	if e.cfg.liveToolCalls {
		c.gate.live = new(live)
	}
	c.request = c.base
	c.listen()

	return c
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
	ok := false
	defer func() {
		if !ok { // also if a callback handler panics
			c.tether.close()
			c.settleLeft()
			c.tellEnd()
		}
	}()
	if !c.takenUp() {
		c.beginFirst()
	}
	for c.phase == phaseOpening {
		c.step()
		if c.phase == phaseOpening && c.caller.Err() != nil {
			c.stop(control(c.caller, false, nil))
		}
	}
	if c.phase == phaseEnded && c.out.empty() && !isEOF(c.err) {
		c.run.failed(c.err)

		return c.err
	}
	c.run.streams()
	ok = true

	return nil
}

// next returns the next chunk for the consumer, or the call's end.
func (c *call) next() (chunk, error) {
	m, s, d, err := c.receive()
	c.watchOver(s, d)

	return m, err
}

// receive is next under the lock. It also returns what is still to be written, and when.
func (c *call) receive() (m chunk, s *saver, d time.Duration, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		if err := c.saver.takenOver(); err != nil && c.phase != phaseEnded {
			c.stop(err)
		}
		if c.phase != phaseEnded && c.ctx.Err() != nil {
			if end := control(c.caller, c.tether.closed(), nil); end != nil {
				c.stop(end)
			}
		}
		if m, ok := c.out.pop(); ok {
			s, d = c.unsaved()

			return m, s, d, nil
		}
		if c.phase == phaseEnded {
			err := c.endRead(c.err)
			if c.saver == nil { // else closed tells it
				c.tellEnd()
			}
			c.run.end(err)
			c.err = io.EOF

			return chunk{}, nil, 0, err
		}
		c.step()
	}
}

// closed is called when the reader was closed, also after the end. A Recv in flight ends the call itself; if there is
// none, nobody else does.
func (c *call) closed() {
	c.tether.close()
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { _ = recover() }() // of a breaker that is the caller's; nobody is above to hear of it
	switch {
	case c.phase != phaseEnded:
		c.stop(control(c.caller, true, nil))
	case !c.out.empty(): // an end that was not read to its end is none
		c.out.clear()
		c.err = schema.ErrRecvAfterClosed
	}
	c.run.end(schema.ErrRecvAfterClosed) // unless Recv has told of another
	c.settleLeft()
	c.tellEnd()
}

// step does what the phase asks for. It returns when there may be something for the consumer. A panic of a function that
// was given as an option becomes an error of the stream.
func (c *call) step() {
	defer c.recovered()
	switch c.phase {
	case phaseOpening, phaseStreaming, phaseJoining, phaseProbing:
		c.read()
	case phaseWaiting:
		c.wait()
	case phaseEnded:
	}
}

func (c *call) beginFirst() {
	defer c.recovered()
	c.begin()
}

// recovered is deferred around all that may call a function of the options.
func (c *call) recovered() {
	if p := recover(); p != nil {
		c.panicked(&PanicError{Value: p, Stack: debug.Stack()})
	}
}

// begin makes the request that is due, if somebody still waits for the answer and the circuit breaker lets it.
func (c *call) begin() {
	if end := control(c.caller, c.tether.closed(), nil); end != nil { // at the very moment at which it was due
		c.stop(end)

		return
	}
	slot, ok := c.admit()
	if !ok {
		return
	}
	if c.ctx.Err() != nil { // the one before was left
		c.ctx = c.tether.next(c.caller)
	}
	ctx, rec := withRecord(c.run.attempt(c.ctx, c.engine, c.sent))
	c.watch.reset(stretched(c.cfg.firstContent, c.stretch))
	c.sent++
	c.underway = underway{
		attempt: startAttempt(ctx, c.engine.opener(c.request, c.run)),
		record:  rec, slot: slot, idle: c.idleLimit(), fresh: true,
	}
	c.transition(phaseOpening)
}

// read takes the next item of the attempt, or does what time asks for.
func (c *call) read() {
	var it item
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
		case <-c.saver.deadline():
			c.save(false)

			return
		case <-c.ctx.Done():
			return // next sees it
		}
	}

	switch {
	case same(it.err, errOpened):
		c.watch.waited()
		c.opened()
	case it.err != nil:
		c.ended(it.err)
	case it.Message == nil: // some clients do that between frames; it says nothing
		c.watch.waited()
	default:
		c.arrivedAll(it.chunk)
	}
}

// opened says that the attempt has a reader.
func (c *call) opened() {
	switch {
	case c.probe != nil:
		c.transition(phaseProbing)
	case c.seam != nil:
		c.transition(phaseJoining)
	default:
		c.transition(phaseStreaming)
	}
}

// wait waits for the next request's time.
func (c *call) wait() {
	c.ctx = c.tether.next(c.caller)
	t := time.NewTimer(c.due)
	defer t.Stop()
	select {
	case <-t.C:
		c.begin()
	case <-c.ctx.Done(): // next sees it
	}
}
