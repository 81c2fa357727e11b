package continuation

import (
	"errors"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

func TestTexts(t *testing.T) {
	t.Parallel()

	reset := transport(callbacks.CauseConnectionReset)
	goaway := transport(callbacks.CauseGoAway)
	timeout := transport(callbacks.CauseTimeout)
	body := bodyDecode(callbacks.CauseMalformedFrame)
	inStream := told(Transient, callbacks.CauseProviderError, 0)
	overloaded := told(Overloaded, callbacks.CauseOverloaded, 0)
	limited := told(RateLimited, callbacks.CauseRateLimited, 0)

	tests := []struct {
		text string
		want Class
	}{
		{"stream error: stream ID 1; INTERNAL_ERROR; received from peer", reset},
		{"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\"", goaway},
		{"http2: Transport received GOAWAY from server ErrCode:INTERNAL_ERROR", goaway},
		{"http2: Transport received Server's graceful shutdown GOAWAY", goaway},
		{"http2: client connection lost", reset},
		{"http2: client connection force closed via ClientConn.Close", reset},
		{"http2: client conn is closed", reset},
		{"http2: client conn not usable", reset},
		{"http2: client conn could not be established", reset},
		{"http2: response body closed", reset},
		{"http2: connection error: PROTOCOL_ERROR: bad", reset},
		{"connection error: PROTOCOL_ERROR", reset},
		{"connection error: FLOW_CONTROL_ERROR", reset},
		{"panic error: nil dereference, \nstack: goaway overloaded_error", Class{
			Kind: Transient, Cause: callbacks.CauseUnknown, ErrorKind: callbacks.KindUnknown,
		}},
		{"stream has sent too many empty messages", malformedFrame()},
		{"iterateResponseStream: invalid stream chunk: : keepalive", malformedFrame()},
		{"unexpected end of JSON input", malformedFrame()},
		{`"Syntax error at index 3: invalid char`, malformedFrame()},
		{`"Mismatch type string with value number "at index 8"`, malformedFrame()},
		{"gemini result is empty", inStream},
		{"an error was encountered while running the model: unexpected EOF", inStream},
		{"malformed chunked encoding", body},
		{"invalid byte in chunk length", body},
		{"http chunk length too large", body},
		{"http: unexpected EOF reading trailer", body},
		{`net/http: HTTP/1.x transport connection broken: malformed HTTP response "x"`, body},
		{"reading the body: unexpected EOF", bodyDecode(callbacks.CauseConnectionReset)},
		{`Post "https://example.com": EOF`, reset},
		{"read tcp 192.0.2.1:1->192.0.2.2:2: connection reset by peer", reset},
		{"write: broken pipe", reset},
		{"http: server closed idle connection", reset},
		{"read: i/o timeout", timeout},
		{"net/http: TLS handshake timeout", timeout},
		{"net/http: request canceled (Client.Timeout exceeded while awaiting headers)", timeout},
		{"net/http: request canceled", reset},
		{`received error while streaming: {"type":"error","error":{"type":"overloaded_error"}}`, overloaded},
		{"throttlingException: slow down", limited},
		{"operation error: internalServerException: 400", inStream},
		{`{"type":"invalid_request_error","code":"context_length_exceeded"}`, final(ContextOverflow, 0)},
		{`{"type":"invalid_request_error"}`, final(InvalidRequest, 0)},
		{"status code: 503, body: busy", told(Overloaded, callbacks.CauseOverloaded, 0)},
		{"unexpected status 502", told(Transient, callbacks.CauseProvider5xx, 0)},
		{"error, status code: 429, status: 429 Too Many Requests, message: later", limited},
		{`POST "https://example.com": 500 Internal Server Error`, told(Transient, callbacks.CauseProvider5xx, 0)},
		{"status code: 401", final(Unauthorized, 0)},
	}

	for _, test := range tests {
		if got := DefaultClassifier(errors.New(test.text)); got.Kind != test.want.Kind ||
			got.Cause != test.want.Cause || got.ErrorKind != test.want.ErrorKind {
			t.Errorf("%q:\n got %+v\nwant %+v", test.text, got, test.want)
		}
	}
}

func TestTextsThatSayNothing(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "boom", "failed to generate the answer", "connection aborted", "the operation was aborted",
		"moderate load", "temperature 429", "used 503 tokens", "status codes 503", "status code: 200",
		"timeouts are set", "goaway", "Exception", "an internal error", "brokenbroken pipeline", "résumécontext canceledé",
		"server sent goaways", "rate", "quota", "overloaded", strings.Repeat("x", maxText) + " context canceled",
	} {
		if got := DefaultClassifier(errors.New(text)); got != unknown() {
			t.Errorf("%.40q: got %+v", text, got)
		}
	}
}

func TestHasPhrase(t *testing.T) {
	t.Parallel()

	tests := []struct {
		text, phrase string
		want         bool
	}{
		{"generate", "rate", false},
		{"the rate is", "rate", true},
		{"generate at a rate", "rate", true},
		{"rate", "rate", true},
		{"rate_limit", "rate", false},
		{"é rate", "rate", true},
		{"érate", "rate", false},
		{"a panic error: b", "panic error:", true},
		{"a panic error:b", "panic error:", true},
		{"", "rate", false},
	}

	for _, test := range tests {
		if got := hasPhrase(test.text, test.phrase); got != test.want {
			t.Errorf("hasPhrase(%q, %q) = %v", test.text, test.phrase, got)
		}
	}
}

func TestSpeaksOf(t *testing.T) {
	t.Parallel()

	err := &deepSeekError{StatusCode: 400, Message: "Bad Request", ResponseBody: "must end with a User message"}

	if !speaksOf(err, "prefill", "must end with a user") {
		t.Error("the body was not read")
	}

	if speaksOf(err, "prefill") || speaksOf(nil, "prefill") {
		t.Error("a phrase that is not there was found")
	}
}

func FuzzTextClass(f *testing.F) {
	f.Add("status code: 503")
	f.Add("http2: server sent GOAWAY")
	f.Add("a_b.c#d:e \xff\xfe throttlingException")

	f.Fuzz(func(t *testing.T, text string) {
		if c, found := textClass(text); found != (c != Class{}) {
			t.Errorf("%q: %+v, %v", text, c, found)
		}
	})
}
