package continuation_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exCause is a way in which an answer breaks, and what has to be said of it.
type exCause struct {
	name  string
	steps []faultmodel.Step
	cause callbacks.Cause
	kind  callbacks.ErrorKind
	eof   bool // a clean end
	fatal bool // before any content it goes to the caller as it is
}

// exProviderError looks like the error inside a stream that clients hand on.
type exProviderError struct{ Type, Message string }

func (e *exProviderError) Error() string { return e.Message }

// exStatusError looks like the error of a client for a response that is none.
type exStatusError struct {
	HTTPStatusCode int
	Message        string
}

func (e *exStatusError) Error() string { return e.Message }

// exTimeout looks like the error of net/http when a client's time limit ends a body.
type exTimeout struct{}

func (exTimeout) Error() string {
	return "net/http: request canceled (Client.Timeout or context cancellation while reading body)"
}
func (exTimeout) Timeout() bool { return true }

func exSyntaxError() error {
	var v any

	return fmt.Errorf("decode the frame: %w", json.Unmarshal([]byte(`{"a":]`), &v))
}

func exCauses() []exCause {
	return slices.Concat(exTransportCauses(), exOtherCauses())
}

func exTransportCauses() []exCause {
	return []exCause{
		{
			name: "reset", steps: []faultmodel.Step{faultmodel.Reset()},
			cause: callbacks.CauseConnectionReset, kind: callbacks.KindSSETransport,
		},
		{
			name: "unexpected EOF", steps: []faultmodel.Step{faultmodel.UnexpectedEOF()},
			cause: callbacks.CauseConnectionReset, kind: callbacks.KindBodyDecode,
		},
		{
			name:  "wrapped EOF",
			steps: []faultmodel.Step{faultmodel.Fail(fmt.Errorf("read the stream: %w", io.EOF))},
			cause: callbacks.CauseConnectionReset, kind: callbacks.KindSSETransport,
		},
		{
			name:  "HTTP/2 stream error",
			steps: []faultmodel.Step{faultmodel.Fail(errors.New("stream error: stream ID 7; INTERNAL_ERROR; received from peer"))},
			cause: callbacks.CauseConnectionReset, kind: callbacks.KindSSETransport,
		},
		{
			name: "GOAWAY",
			steps: []faultmodel.Step{faultmodel.Fail(errors.New(
				`http2: server sent GOAWAY and closed the connection; LastStreamID=7, ErrCode=NO_ERROR, debug=""`))},
			cause: callbacks.CauseGoAway, kind: callbacks.KindSSETransport,
		},
		{
			name: "client timeout", steps: []faultmodel.Step{faultmodel.Fail(exTimeout{})},
			cause: callbacks.CauseTimeout, kind: callbacks.KindSSETransport,
		},
	}
}

func exOtherCauses() []exCause {
	return []exCause{
		{name: "clean EOF", cause: callbacks.CauseTruncated, kind: callbacks.KindTruncated, eof: true},
		{
			name: "stall", steps: []faultmodel.Step{faultmodel.Stall()},
			cause: callbacks.CauseIdleStall, kind: callbacks.KindIdleStall,
		},
		{
			name: "error of the provider",
			steps: []faultmodel.Step{faultmodel.Fail(
				fmt.Errorf("receive: %w", &exProviderError{Type: "overloaded_error", Message: "Overloaded"}))},
			cause: callbacks.CauseOverloaded, kind: callbacks.KindProviderError,
		},
		{
			name:  "502",
			steps: []faultmodel.Step{faultmodel.Fail(&exStatusError{HTTPStatusCode: 502, Message: "bad gateway"})},
			cause: callbacks.CauseProvider5xx, kind: callbacks.KindProviderError,
		},
		{
			name: "malformed JSON", steps: []faultmodel.Step{faultmodel.Fail(exSyntaxError())},
			cause: callbacks.CauseMalformedFrame, kind: callbacks.KindSSEParse,
		},
		{
			name: "unknown error", steps: []faultmodel.Step{faultmodel.Fail(errors.New("the oracle has left the temple"))},
			cause: callbacks.CauseUnknown, kind: callbacks.KindUnknown, fatal: true,
		},
		{
			name: "panic", steps: []faultmodel.Step{faultmodel.Panic("index out of range in the client")},
			cause: callbacks.CauseUnknown, kind: callbacks.KindUnknown, fatal: true,
		},
	}
}
