package continuation

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"

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
var errRestarted = errors.New("continuation: the model began the answer anew")

// The reasons of an [ExhaustedError] and of the llm_stream_continuation_exhausted event.
const (
	ReasonMaxContinuations = "max_continuations"  // as many as are allowed were begun
	ReasonRetryAfter       = "retry_after"        // the provider wants a wait above the cap
	ReasonMaxElapsed       = "max_elapsed"        // the next wait would end after the limit
	ReasonNoProgress       = "no_progress"        // several continuations in a row brought nothing
	ReasonMedia            = "media"              // a media part was delivered, which cannot be continued
	ReasonRefused          = "refused"            // the provider refused the continuation for good
	ReasonMaxBufferedBytes = "max_buffered_bytes" // a tool call outgrew the buffer
)

// ExhaustedError ends a stream that could not be brought to its end. All text that it carries was delivered before.
// errors.Is and errors.As find [ErrExhausted], First and Last. It can be encoded with encoding/gob, as checkpoints of
// agents do: the partial text and the texts of First and Last are kept, and those still match this package's sentinels.
type ExhaustedError struct {
	Partial  *schema.Message // the answer as far as it came: text, reasoning, no half tool call
	Attempts int             // continuations that were begun
	First    error           // of the first interruption
	Last     error           // of the last one; the same as First if there was one
	Reason   string          // one of the Reason constants
}

// Error tells the reason, the number of continuations, and the first and last cause.
func (e *ExhaustedError) Error() string {
	s := fmt.Sprintf("continuation: exhausted after %d continuations (%s)", e.Attempts, e.Reason)
	if e.First != nil {
		s += ": first: " + e.First.Error()
	}
	if e.Last != nil && e.Last != e.First { //nolint:errorlint // the very same value, not a match in the chain
		s += "; last: " + e.Last.Error()
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
	return fmt.Sprintf("continuation: tool call %q (id %q) outgrew the buffer of %d bytes", e.Tool, e.ID, e.Limit)
}

// StoredError stands for an error that went through encoding/gob: the text is kept, and errors.Is still finds this
// package's sentinel errors.
type StoredError struct {
	Text     string
	Sentinel string // the text of the sentinel that the original matched; empty if none
}

// Error returns the original's text.
func (e *StoredError) Error() string { return e.Text }

// Is reports whether target is the sentinel that the original matched.
func (e *StoredError) Is(target error) bool {
	return e.Sentinel != "" && (target == ErrIdleStall || target == ErrTruncated) && target.Error() == e.Sentinel //nolint:errorlint // identity is meant
}

func storedError(err error) *StoredError {
	if err == nil {
		return nil
	}
	if s := (*StoredError)(nil); errors.As(err, &s) && s == err { //nolint:errorlint // identity is meant
		return s
	}
	s := &StoredError{Text: err.Error()}
	for _, sentinel := range []error{ErrIdleStall, ErrTruncated} {
		if errors.Is(err, sentinel) {
			s.Sentinel = sentinel.Error()
		}
	}

	return s
}

// storedExhausted is the form of an ExhaustedError in gob. Of the partial message its text is kept: Extra may hold
// types that gob does not know.
type storedExhausted struct {
	Text, Reason string
	Attempts     int
	First, Last  *StoredError
}

// GobEncode implements gob.GobEncoder.
func (e *ExhaustedError) GobEncode() ([]byte, error) {
	s := storedExhausted{
		Reason: e.Reason, Attempts: e.Attempts, First: storedError(e.First), Last: storedError(e.Last),
	}
	if e.Partial != nil {
		s.Text = e.Partial.Content
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(s); err != nil {
		return nil, fmt.Errorf("continuation: encode the error: %w", err)
	}

	return b.Bytes(), nil
}

// GobDecode implements gob.GobDecoder.
func (e *ExhaustedError) GobDecode(p []byte) error {
	var s storedExhausted
	if err := gob.NewDecoder(bytes.NewReader(p)).Decode(&s); err != nil {
		return fmt.Errorf("continuation: decode the error: %w", err)
	}
	*e = ExhaustedError{Attempts: s.Attempts, Reason: s.Reason}
	if s.Text != "" {
		e.Partial = &schema.Message{Role: schema.Assistant, Content: s.Text}
	}
	if s.First != nil {
		e.First = s.First
	}
	if s.Last != nil {
		e.Last = s.Last
	}

	return nil
}

// init registers the errors that an agent's checkpoint may have to store. Eino can only encode types it was told of
// before it meets them, and there is no other moment than this.
func init() {
	schema.RegisterName[*ExhaustedError]("carryon_exhausted_error")
	schema.RegisterName[*StoredError]("carryon_stored_error")
}
