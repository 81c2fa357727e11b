package continuation

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// errLeft is the cancellation cause of an attempt that the decorator left.
var errLeft = errors.New("continuation: attempt left")

// errNilReader is what a model gets that returns neither a reader nor an error.
var errNilReader = errors.New("continuation: the model returned neither a reader nor an error")

// errGone is what a model gets that ends the goroutine it was called on, as runtime.Goexit does.
var errGone = errors.New("continuation: the model ended its goroutine")

// prefetch is how many chunks an attempt may be ahead of the consumer. A few spare the goroutines a switch for every
// chunk; many would let a slow consumer pile up what it may never read.
const prefetch = 12

// item is one result of an attempt: first how the open went, then chunks, then one error.
type item struct {
	chunk
	err error
}

// errOpened is the first item of an attempt that has a reader.
var errOpened = errors.New("continuation: opened")

// attempt is one request to the wrapped model. Its goroutine opens the stream and reads it, so that the decorator can
// stop waiting for a model that does not heed its context. It ends when the stream does, or when its context has ended and
// the model's pending Recv has returned; it alone touches the model's reader, and closes it.
type attempt struct{ items chan item }

// source is the stream of an attempt.
type source interface {
	Recv() (chunk, error)
	Close()
}

type opener func(context.Context) (source, error)

// startAttempt makes a request. It is left by ending ctx.
func startAttempt(ctx context.Context, open opener) attempt {
	a := attempt{items: make(chan item, prefetch)}
	go a.run(ctx, open)

	return a
}

func (a attempt) run(ctx context.Context, open opener) {
	told := false // how it ended
	defer func() {
		if p := recover(); p != nil {
			a.send(ctx, item{err: &PanicError{Value: p, Stack: debug.Stack()}})
		} else if !told {
			a.send(ctx, item{err: errGone})
		}
	}()

	r, err := open(ctx)
	if err == nil && r == nil {
		err = errNilReader
	}
	if err != nil {
		a.send(ctx, item{err: err})
		told = true

		return
	}
	defer r.Close()

	a.send(ctx, item{err: errOpened})
	for ctx.Err() == nil {
		m, err := r.Recv()
		a.send(ctx, item{chunk: m, err: err})
		if err != nil {
			break
		}
	}
	told = true
}

func (a attempt) send(ctx context.Context, it item) {
	select {
	case a.items <- it: // the common case needs no look at the context
		return
	default:
	}
	select {
	case a.items <- it:
	case <-ctx.Done():
	}
}

// PanicError is a panic of the wrapped model, or of a function given as an option, as an error of the stream.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // where it happened
}

// Error tells the value; the stack is left to those who ask for it.
func (e *PanicError) Error() string {
	return "continuation: panic: " + middleCut(fmt.Sprint(e.Value))
}

// Unwrap returns the panic's value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)

	return err
}
