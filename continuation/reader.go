package continuation

import (
	"errors"

	"github.com/cloudwego/eino/schema"
)

// tokens is the capacity of the pipe that newReader reads from. More than one spares the consumer's Recv the wait for
// the watching goroutine.
const tokens = 8

// newReader returns a reader whose Recv calls next in the consumer's goroutine, and calls closed when the reader is
// closed or was dropped unread; closed must bear to be called again.
//
// Eino's readers are closed types: no code of ours runs on Close. What can be seen from outside is that Send on the
// other end of a pipe reports it. So the reader converts a pipe of tokens, and a goroutine parked in Send sees Close
// at once, even while the model is silent. An error of next ends the stream, and with it the goroutine.
func newReader[M any](next func() (M, error), closed func()) *schema.StreamReader[M] {
	r, w := schema.Pipe[struct{}](tokens)
	r.SetAutomaticClose() // Close may come twice, and a reader that is dropped closes itself

	go func() {
		defer closed()
		defer w.Close() // a Recv that begins after Close must not wait for a token for ever
		open := true
		for open {
			open = !w.Send(struct{}{}, nil)
		}
	}()

	return schema.StreamReaderWithConvert(r, func(struct{}) (M, error) {
		m, err := next()
		if err != nil {
			r.Close()
		}
		if errors.Is(err, schema.ErrNoValue) {
			err = &shownError{err} // Eino's reader would skip it, and the stream would end cleanly
		}

		return m, err
	}, schema.WithOnEOF(func() (any, error) { // Close came before this Recv: that is no clean end
		closed()

		return next()
	}))
}

// shownError is an error that does not say that it wraps [schema.ErrNoValue], and is the same in all else.
type shownError struct{ cause error }

func (e *shownError) Error() string { return e.cause.Error() }

// Is implements the interface of [errors.Is].
func (e *shownError) Is(target error) bool {
	return target != schema.ErrNoValue && errors.Is(e.cause, target)
}

// As implements the interface of [errors.As].
func (e *shownError) As(target any) bool { return errors.As(e.cause, target) }
