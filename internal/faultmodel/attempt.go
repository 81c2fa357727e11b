package faultmodel

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/cloudwego/eino/schema"
)

var errReaderClosed = errors.New("faultmodel: the reader was closed")

// item is what one Recv returns.
type item struct {
	msg    *schema.Message
	err    error
	panics any
}

// attempt is one open stream. Its items are made by produce and taken by recv, which runs in the goroutine of the
// reader's owner. Recv of Eino's own pipe cannot be watched for Close; a Send that is waiting can, so a pipe of
// tokens stands in front of the items and each Recv takes a token first.
type attempt struct {
	items  chan item
	closed chan struct{} // closed when the reader is
	end    error         // why the script ended early; written before items is closed
	deaf   bool          // the context is ignored; the producer's own
	record func(func(*Request))
}

// start opens the stream and returns its reader.
func start(ctx context.Context, script Script, capacity int, record func(func(*Request))) *schema.StreamReader[*schema.Message] {
	a := &attempt{items: make(chan item, capacity), closed: make(chan struct{}), record: record}
	tokens, feeder := schema.Pipe[struct{}](0)
	record(func(r *Request) { r.Opened, r.Running = true, true })
	go a.watch(feeder)
	go a.produce(ctx, script)
	return schema.StreamReaderWithConvert(tokens, func(struct{}) (*schema.Message, error) { return a.recv() })
}

// watch feeds tokens until the reader is closed. It then ends the feed: a Recv after Close must not wait for ever.
func (a *attempt) watch(feeder *schema.StreamWriter[struct{}]) {
	closed := false
	for !closed {
		closed = feeder.Send(struct{}{}, nil)
	}
	a.record(func(r *Request) { r.Closed, r.ClosedAt = true, time.Now() })
	close(a.closed)
	feeder.Close()
}

func (a *attempt) produce(ctx context.Context, script Script) {
	err := a.play(ctx, script)
	if !errors.Is(err, errReaderClosed) {
		a.end = err
	}
	a.record(func(r *Request) { r.Running, r.Finished = false, err == nil })
	close(a.items)
}

func (a *attempt) play(ctx context.Context, script Script) error {
	for _, step := range script {
		var err error
		switch {
		case step.msg != nil:
			err = a.send(ctx, item{msg: clone(step.msg)})
		case step.run != nil:
			err = step.run(ctx, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// send hands it to the next Recv. A Recv that is already waiting gets it even if the reader was closed meanwhile.
func (a *attempt) send(ctx context.Context, it item) error {
	done := ctx.Done()
	if a.deaf {
		done = nil
	} else if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case a.items <- it:
		return nil
	default:
	}
	select {
	case a.items <- it:
		return nil
	case <-a.closed:
		return errReaderClosed
	case <-done:
		return context.Cause(ctx)
	}
}

func (a *attempt) idle(ctx context.Context, d time.Duration) error {
	if a.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	return sleep(ctx, d)
}

// recv is the reader's Recv. What it takes is what counts as sent and billed.
func (a *attempt) recv() (*schema.Message, error) {
	it, ok := <-a.items
	switch {
	case !ok:
		return nil, a.finalError()
	case it.panics != nil:
		panic(it.panics)
	case it.err != nil:
		return nil, it.err
	case it.msg != nil:
		a.record(func(r *Request) {
			r.Sent++
			r.CompletionTokens += billable(it.msg)
		})
	}
	return it.msg, nil
}

// finalError gives the error that ended the script once, then io.EOF.
func (a *attempt) finalError() error {
	err := io.EOF
	a.record(func(*Request) {
		if a.end != nil {
			err, a.end = a.end, nil
		}
	})
	return err
}
