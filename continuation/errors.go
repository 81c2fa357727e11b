package continuation

import (
	"errors"
	"fmt"
	"io"

	"github.com/cloudwego/eino/schema"
)

var (
	// ErrExhausted is in the chain of every [ExhaustedError].
	ErrExhausted = errors.New("continuation: exhausted")
	// ErrIdleStall is in the chain of the error of an attempt that brought no content within the limit.
	ErrIdleStall = errors.New("continuation: no content within the limit")
	// ErrTruncated is in the chain of the error of an attempt that ended cleanly, but without a finish reason or inside
	// a tool call.
	ErrTruncated = errors.New("continuation: the stream ended before the answer did")
)

// errRestarted ends an attempt that began the answer anew instead of continuing it.
var errRestarted = errors.New("continuation: the model began the answer, or a long part of it, anew")

// same reports whether err is target itself. Some clients wrap io.EOF in errors that are no end of a stream, so that
// looking into the chain would be wrong.
func same(err, target error) bool { return err == target } //nolint:errorlint // identity is meant

// isEOF reports whether err is the clean end of a stream.
func isEOF(err error) bool { return same(err, io.EOF) }

// The reasons of an [ExhaustedError] and of the llm_stream_continuation_exhausted event.
const (
	ReasonMaxContinuations = "max_continuations"  // as many as are allowed were begun
	ReasonRetryAfter       = "retry_after"        // the provider wants a wait above the cap
	ReasonMaxElapsed       = "max_elapsed"        // the next wait would end after the limit
	ReasonNoProgress       = "no_progress"        // several continuations in a row brought nothing
	ReasonMedia            = "media"              // a media part was delivered, which cannot be continued
	ReasonRefused          = "refused"            // the provider refused the continuation for good
	ReasonBreakerOpen      = "breaker_open"       // the circuit breaker lets no attempt through
	ReasonPanic            = "panic"              // a function given as an option panicked
	ReasonMaxBufferedBytes = "max_buffered_bytes" // a tool call outgrew the buffer
	ReasonMaxTakeovers     = "max_takeovers"      // as many as are allowed have taken the answer over
)

// ExhaustedError ends a stream that could not be brought to its end. All text that it carries was delivered before.
// errors.Is and errors.As find [ErrExhausted], First and Last. It can be encoded with encoding/gob, as checkpoints of
// agents do: the partial text and the texts of First and Last are kept, as far as Error tells them, and those still match this
// package's sentinels.
type ExhaustedError struct {
	Partial  *schema.Message // the answer as far as it came: text, reasoning, no half tool call
	Attempts int             // continuations that were begun
	First    error           // of the first interruption
	Last     error           // of the last one; the same as First if there was one
	Reason   string          // one of the Reason constants
}

// Error tells the reason, the number of continuations, and the first and last cause, of each at most a KiB: of more, the
// middle is left out.
func (e *ExhaustedError) Error() string {
	s := fmt.Sprintf("continuation: exhausted after %d continuations (%s)", e.Attempts, e.Reason)
	first, last := "", ""
	if e.First != nil {
		first = causeText(e.First)
		s += ": first: " + first
	}
	if e.Last != nil {
		last = causeText(e.Last)
	}
	if last != first {
		s += "; last: " + last
	}

	return s
}

// Unwrap returns ErrExhausted, First and Last.
func (e *ExhaustedError) Unwrap() []error {
	errs := []error{ErrExhausted}
	if e.First != nil {
		errs = append(errs, e.First)
	}
	if e.Last != nil {
		errs = append(errs, e.Last)
	}

	return errs
}

// BufferError says that a tool call grew larger than [WithMaxBufferedBytes] allows to hold back.
type BufferError struct {
	Tool  string // the call's name; empty if none came
	ID    string // the call's id; empty if none came
	Limit int    // bytes
}

// Error names the call and the limit.
func (e *BufferError) Error() string {
	return fmt.Sprintf("continuation: tool call %q (id %q) outgrew the buffer of %d bytes",
		middleCut(e.Tool), middleCut(e.ID), e.Limit)
}
