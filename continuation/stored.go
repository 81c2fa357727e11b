package continuation

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// StoredError stands for an error that went through encoding/gob: its text, of which the middle is left out if it is longer
// than a KiB, and class are kept, and errors.Is still finds
// this package's sentinel errors. [DefaultClassifier] returns the class.
type StoredError struct {
	Text     string
	Class    Class
	Sentinel string // the text of the sentinel that the original matched; empty if none
}

// Error returns the original's text.
func (e *StoredError) Error() string { return e.Text }

// Is reports whether target is the sentinel that the original matched.
func (e *StoredError) Is(target error) bool {
	return (same(target, ErrIdleStall) || same(target, ErrTruncated)) && target.Error() == e.Sentinel
}

func storedError(err error) *StoredError {
	if err == nil {
		return nil
	}
	if s := (*StoredError)(nil); errors.As(err, &s) && same(s, err) {
		return s
	}
	s := &StoredError{Text: causeText(err), Class: DefaultClassifier(err)}
	for _, sentinel := range []error{ErrIdleStall, ErrTruncated} {
		if errors.Is(err, sentinel) {
			s.Sentinel = sentinel.Error()
		}
	}

	return s
}

// storedExhausted is the form of an ExhaustedError in gob. Of the partial message its text is kept: Extra may hold types
// that gob does not know.
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

	return encodeGob(s)
}

// GobDecode implements gob.GobDecoder.
func (e *ExhaustedError) GobDecode(p []byte) error {
	var s storedExhausted
	if err := decodeGob(p, &s); err != nil {
		return err
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

// storedPanic is the form of a PanicError in gob: the value may be anything, so its text is kept.
type storedPanic struct {
	Value string
	Stack []byte
}

// GobEncode implements gob.GobEncoder.
func (e *PanicError) GobEncode() ([]byte, error) {
	return encodeGob(storedPanic{Value: middleCut(fmt.Sprint(e.Value)), Stack: e.Stack})
}

// GobDecode implements gob.GobDecoder.
func (e *PanicError) GobDecode(p []byte) error {
	var s storedPanic
	if err := decodeGob(p, &s); err != nil {
		return err
	}
	*e = PanicError{Value: s.Value, Stack: s.Stack}

	return nil
}

func encodeGob(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return nil, fmt.Errorf("continuation: encode an error: %w", err)
	}

	return b.Bytes(), nil
}

func decodeGob(p []byte, v any) error {
	if err := gob.NewDecoder(bytes.NewReader(p)).Decode(v); err != nil {
		return fmt.Errorf("continuation: decode an error: %w", err)
	}

	return nil
}

// init registers the errors and events that an agent's checkpoint may have to store. Eino can only encode types it was told of
// before it meets them, and there is no other moment than this.
func init() {
	schema.RegisterName[*ExhaustedError]("carryon_exhausted_error")
	schema.RegisterName[*StoredError]("carryon_stored_error")
	schema.RegisterName[*BufferError]("carryon_buffer_error")
	schema.RegisterName[*PanicError]("carryon_panic_error")
	schema.RegisterName[*TakenOverError]("carryon_taken_over_error")
	schema.RegisterName[*agentError]("carryon_agent_error")
	schema.RegisterName[callbacks.ToolCallCancel]("carryon_tool_call_cancel")
	schema.RegisterName[callbacks.StreamReset]("carryon_stream_reset")
}
