package continuation

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// isInterrupt reports whether err is the caller's own control flow coming back from below: an interrupt of a graph or
// an agent, or a cancelled agent stream. Such an error is passed on untouched.
func isInterrupt(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, adk.ErrStreamCanceled) {
		return true
	}
	if canceled := (*adk.StreamCanceledError)(nil); errors.As(err, &canceled) {
		return true
	}
	if _, ok := compose.IsInterruptRerunError(err); ok {
		return true
	}
	_, ok := compose.ExtractInterruptInfo(err)

	return ok
}

// contextError returns why the caller's context ended. A custom cause is kept beside the context's own error, so that
// both can be tested for.
func contextError(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}

	return fmt.Errorf("%w: %w", err, cause)
}

// control returns the error with which explicit control of the caller ends the call: the end of its context, the
// closing of its reader, or an interrupt below. It looks at the contexts, never at the kind of err, which may come from
// a limit of the client.
func control(caller context.Context, closed bool, err error) error {
	switch {
	case caller.Err() != nil && err != nil && errors.Is(err, context.Cause(caller)) && errors.Is(err, caller.Err()):
		return err
	case caller.Err() != nil:
		return contextError(caller)
	case closed:
		return schema.ErrRecvAfterClosed
	case isInterrupt(err):
		return err
	default:
		return nil
	}
}
