package faultmodel

import (
	"context"
	"sync"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Request is one request that reached the model, and what has become of it so far. It is a copy and does not change;
// its messages are deep copies made when the request came and are shared by all copies of it: do not change them.
type Request struct {
	Number   int               // from 0, over all models that share the recorder
	At       time.Time         // when it came
	Generate bool              // it came through Generate
	Messages []*schema.Message // the input
	Options  model.Options     // the common options, resolved; bound tools are in Tools if no option gave any
	Raw      []model.Option    // the options as they came, for GetImplSpecificOptions

	Opened   bool      // a reader was handed out
	OpenErr  error     // what Stream returned instead
	Running  bool      // the script is still being played
	Finished bool      // the script was played to its end
	Closed   bool      // the reader's Close was seen
	ClosedAt time.Time // when
	Sent     int       // chunks that Recv has returned, nil chunks not counted

	Cancelled bool  // the request's context has ended
	Cause     error // the cause of that

	PromptTokens     int // billed: one token a byte of text, reasoning, tool name and arguments of the input
	CompletionTokens int // billed: one token a byte of text, reasoning and arguments sent

	ctxDone  <-chan struct{}
	ctxCause func() error
}

// now returns r with the state of its context.
func (r Request) now() Request {
	select {
	case <-r.ctxDone:
		r.Cancelled, r.Cause = true, r.ctxCause()
	default:
	}
	return r
}

// recorder holds the requests of a model and of those made from it by WithTools.
type recorder struct {
	mu       sync.Mutex
	requests []*Request
	changed  chan struct{} // made by a waiter, closed at the next change
	answer   answerer
}

// answerer chooses the script of request n. It is called under the recorder's lock.
type answerer func(n int, input []*schema.Message) (Script, error)

// add records a request and chooses its script.
func (c *recorder) add(ctx context.Context, r *Request) (Script, error) {
	r.At = time.Now()
	r.ctxDone, r.ctxCause = ctx.Done(), func() error { return context.Cause(ctx) }
	for _, msg := range r.Messages {
		r.PromptTokens += promptBytes(msg)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Number = len(c.requests)
	c.requests = append(c.requests, r)
	c.wake()
	script, err := c.answer(r.Number, r.Messages)
	return script.flat(), err
}

func (c *recorder) update(r *Request, change func(*Request)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(r)
	c.wake()
}

func (c *recorder) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// snapshot returns the requests, and a channel that closes when they change.
func (c *recorder) snapshot() ([]Request, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]Request, len(c.requests))
	for i, r := range c.requests {
		out[i] = r.now()
	}
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return out, c.changed
}

// Requests returns all requests so far, in the order in which they came.
func (m *Model) Requests() []Request {
	requests, _ := m.rec.snapshot()
	return requests
}

// Open returns the number of scripts that are still being played.
func (m *Model) Open() int {
	return m.count(func(r Request) bool { return r.Running })
}

// Unclosed returns the number of readers that were handed out and whose Close was not seen.
func (m *Model) Unclosed() int {
	return m.count(func(r Request) bool { return r.Opened && !r.Closed })
}

func (m *Model) count(is func(Request) bool) int {
	n := 0
	for _, r := range m.Requests() {
		if is(r) {
			n++
		}
	}
	return n
}

// Billed returns the tokens of all requests together.
func (m *Model) Billed() (prompt, completion int) {
	for _, r := range m.Requests() {
		prompt += r.PromptTokens
		completion += r.CompletionTokens
	}
	return prompt, completion
}

// Wait blocks until the requests fulfil until, which is asked after each change. If ctx ends first it returns the
// cause.
func (m *Model) Wait(ctx context.Context, until func([]Request) bool) error {
	for {
		requests, changed := m.rec.snapshot()
		if until(requests) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// WaitRequests blocks until n requests have come.
func (m *Model) WaitRequests(ctx context.Context, n int) error {
	return m.Wait(ctx, func(requests []Request) bool { return len(requests) >= n })
}

// WaitIdle blocks until no script is being played and every reader is closed.
func (m *Model) WaitIdle(ctx context.Context) error {
	return m.Wait(ctx, func(requests []Request) bool {
		for _, r := range requests {
			if r.Running || r.Opened && !r.Closed {
				return false
			}
		}
		return true
	})
}
