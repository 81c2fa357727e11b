package continuation

import (
	"encoding/gob"
	"errors"
	"io"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// agentError carries an error of a provider's client out of a model call in an agent. That keeps the error that ended a
// stream in its checkpoint, and gob refuses types that it was not told of: the checkpoint would be lost. It says what
// its cause says, and errors.Is and errors.As find the cause; from a checkpoint its text and class come back.
type agentError struct{ cause error }

// Error returns the cause's text.
func (e *agentError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *agentError) Unwrap() error { return e.cause }

// GobEncode implements gob.GobEncoder.
func (e *agentError) GobEncode() ([]byte, error) { return encodeGob(storedError(e.cause)) }

// GobDecode implements gob.GobDecoder.
func (e *agentError) GobDecode(p []byte) error {
	var s StoredError
	if err := decodeGob(p, &s); err != nil {
		return err
	}
	e.cause = &s

	return nil
}

// storable returns err, or one that an agent's checkpoint can hold.
func storable(err error) error {
	if gob.NewEncoder(io.Discard).Encode(&struct{ E error }{err}) == nil {
		return err
	}

	return &agentError{err}
}

// storedTakenOver is the form of a TakenOverError in gob.
type storedTakenOver struct {
	RunID string
	Err   *StoredError
}

// GobEncode implements gob.GobEncoder.
func (e *TakenOverError) GobEncode() ([]byte, error) {
	return encodeGob(storedTakenOver{RunID: e.RunID, Err: storedError(e.Err)})
}

// GobDecode implements gob.GobDecoder. The error is still checkpointstore.ErrStale.
func (e *TakenOverError) GobDecode(p []byte) error {
	var s storedTakenOver
	if err := decodeGob(p, &s); err != nil {
		return err
	}
	*e = TakenOverError{RunID: s.RunID, Err: checkpointstore.ErrStale}
	if s.Err != nil {
		e.Err = errors.Join(s.Err, checkpointstore.ErrStale)
	}

	return nil
}
