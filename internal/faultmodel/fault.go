package faultmodel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// errNilReader is how an opening step asks for a nil reader without an error.
var errNilReader = errors.New("faultmodel: nil reader")

// Fail makes Recv return err, once.
func Fail(err error) Step {
	return Step{run: func(ctx context.Context, a *attempt) error { return a.send(ctx, item{err: err}) }}
}

// Reset is Fail with what Go's net package returns for a connection that the peer has reset.
func Reset() Step {
	return Fail(ResetError())
}

// ResetError returns a new *net.OpError that wraps syscall.ECONNRESET.
func ResetError() error {
	return &net.OpError{
		Op:     "read",
		Net:    "tcp",
		Source: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 10), Port: 50412},
		Addr:   &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 443},
		Err:    os.NewSyscallError("read", syscall.ECONNRESET),
	}
}

// UnexpectedEOF is Fail with a wrapped io.ErrUnexpectedEOF: a chunked body that was cut.
func UnexpectedEOF() Step {
	return Fail(fmt.Errorf("failed to receive stream chunk: %w", io.ErrUnexpectedEOF))
}

// EOF makes Recv return io.EOF itself. The end of a script implies it.
func EOF() Step {
	return Fail(io.EOF)
}

// ThenMore plays steps; it marks in a script that what follows an error or an end is meant.
func ThenMore(steps ...Step) Step {
	return Step{more: steps}
}

// Nil sends a nil chunk without an error.
func Nil() Step {
	return Step{run: func(ctx context.Context, a *attempt) error { return a.send(ctx, item{}) }}
}

// Panic makes Recv panic with v, in the goroutine that called it. v must not be nil.
func Panic(v any) Step {
	return Step{run: func(ctx context.Context, a *attempt) error { return a.send(ctx, item{panics: v}) }}
}

// Stall is silent until the context ends; Recv then returns the context's cause, as net/http does, and the script
// is over. A Close does not end the silence: a client that reads a body does not see it either.
func Stall() Step {
	return Step{run: func(ctx context.Context, _ *attempt) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
}

// StallIgnoringContext is silent until release is closed or gives a value, whatever the context does. The rest of
// the script ignores the context too, so what stands there is a late chunk: it reaches a Recv that is still waiting.
func StallIgnoringContext(release <-chan struct{}) Step {
	return Step{run: func(_ context.Context, a *attempt) error {
		a.deaf = true
		<-release
		return nil
	}}
}

// Idle is silent for d, or until the context ends as in Stall.
func Idle(d time.Duration) Step {
	return Step{run: func(ctx context.Context, a *attempt) error { return a.idle(ctx, d) }}
}

// Gate tells reached that the script has come here, then waits for release. Both honour the context as Stall does;
// a nil channel is passed over. In a synctest bubble the channels must come from the same bubble, here as elsewhere.
func Gate(reached chan<- struct{}, release <-chan struct{}) Step {
	return Step{run: func(ctx context.Context, _ *attempt) error {
		if reached != nil {
			select {
			case reached <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if release == nil {
			return nil
		}
		select {
		case <-release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}}
}

// OpenFail makes Stream itself return err. Opening steps are done in order before anything else, wherever they stand.
func OpenFail(err error) Step {
	return Step{open: func(context.Context) error { return err }}
}

// OpenStall keeps Stream from returning until the context ends; Stream then returns the context's cause.
func OpenStall() Step {
	return Step{open: func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}}
}

// OpenStallIgnoringContext keeps Stream from returning until release is closed or gives a value.
func OpenStallIgnoringContext(release <-chan struct{}) Step {
	return Step{open: func(context.Context) error {
		<-release
		return nil
	}}
}

// OpenIdle keeps Stream from returning for d, or until the context ends as in OpenStall.
func OpenIdle(d time.Duration) Step {
	return Step{open: func(ctx context.Context) error { return sleep(ctx, d) }}
}

// OpenPanic makes Stream panic with v.
func OpenPanic(v any) Step {
	return Step{open: func(context.Context) error { panic(v) }}
}

// NilReader makes Stream return neither a reader nor an error.
func NilReader() Step {
	return Step{open: func(context.Context) error { return errNilReader }}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
