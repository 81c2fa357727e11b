package continuation

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

func TestNil(t *testing.T) {
	t.Parallel()

	if got := DefaultClassifier(nil); got != (Class{}) {
		t.Errorf("got %+v", got)
	}
}

func TestOwnErrors(t *testing.T) {
	t.Parallel()

	truncated := Class{Kind: Transient, Cause: callbacks.CauseTruncated, ErrorKind: callbacks.KindTruncated}

	runClassTests(t, []classTest{
		{"stall", ErrIdleStall, Class{
			Kind: Transient, Cause: callbacks.CauseIdleStall, ErrorKind: callbacks.KindIdleStall,
		}},
		{"truncated", ErrTruncated, truncated},
		{"stall before all else", errors.Join(openAI(401, nil, ""), ErrTruncated), truncated},
	})

	if got := DefaultClassifier(io.EOF); got != truncated {
		t.Errorf("io.EOF: got %+v", got)
	}
}

type slowError struct{ error }

func (slowError) Timeout() bool { return true }

func TestTypedErrors(t *testing.T) {
	t.Parallel()

	reset := transport(callbacks.CauseConnectionReset)
	timeout := transport(callbacks.CauseTimeout)
	body := bodyDecode(callbacks.CauseMalformedFrame)
	untrusted := Class{Kind: Unauthorized, Cause: callbacks.CausePermanent, ErrorKind: callbacks.KindSSETransport}

	var number int

	syntax := json.Unmarshal([]byte(`{"a":`), &number)
	mismatch := json.Unmarshal([]byte(`"a"`), &number)

	tests := []classTest{
		{"dial", &net.OpError{Op: "dial", Err: errors.New("odd")}, reset},
		{"name", &net.DNSError{Err: "no such host", Name: "llm.example.com", IsNotFound: true}, reset},
		{"slow name", &net.DNSError{Err: "slow", IsTimeout: true}, timeout},
		{"closed", net.ErrClosed, reset},
		{"body closed", http.ErrBodyReadAfterClose, reset},
		{"pipe", io.ErrClosedPipe, reset},
		{"abort", http.ErrAbortHandler, reset},
		{"before headers", &url.Error{Op: "Post", URL: "https://example.com", Err: io.EOF}, reset},
		{"cut", io.ErrUnexpectedEOF, bodyDecode(callbacks.CauseConnectionReset)},
		{"deadline", context.DeadlineExceeded, timeout},
		{"cancel", context.Canceled, reset},
		{"file deadline", os.ErrDeadlineExceeded, timeout},
		{"slow below a deaf node", &url.Error{Op: "Post", Err: fmt.Errorf("x: %w", slowError{io.EOF})}, timeout},
		{"alert", tls.AlertError(80), reset},
		{"remote alert", &net.OpError{Op: "remote error", Err: tls.AlertError(80)}, reset},
		{"record", tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, reset},
		{"certificate", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, untrusted},
		{"host name", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "example.com"}, untrusted},
		{"expired", x509.CertificateInvalidError{Reason: x509.Expired}, untrusted},
		{"scheme", http.ErrSchemeMismatch, final(InvalidRequest, 0)},
		{"syntax", syntax, malformedFrame()},
		{"mismatch", mismatch, malformedFrame()},
		{"long line", bufio.ErrTooLong, malformedFrame()},
		{"gzip", gzip.ErrChecksum, body},
		{"gzip header", gzip.ErrHeader, body},
		{"flate", flate.CorruptInputError(3), body},
	}

	for _, errno := range []syscall.Errno{
		syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.ECONNREFUSED, syscall.EHOSTUNREACH,
		syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET, syscall.EHOSTDOWN, syscall.ENOTCONN,
	} {
		tests = append(tests, classTest{errno.Error(), os.NewSyscallError("read", errno), reset})
	}

	tests = append(tests,
		classTest{"ETIMEDOUT", os.NewSyscallError("read", syscall.ETIMEDOUT), timeout},
		classTest{"ENOENT", syscall.ENOENT, unknown()},
	)

	runClassTests(t, tests)
}

type unreadable struct {
	status     int //nolint:unused // An unexported field is not looked at.
	StatusCode func()
	Code       chan int
	Type       map[string]int
	RetryAfter []byte
	Response   any
	Details    any
}

func (unreadable) Error() string { return "unreadable" }

type embedded struct{ *deepSeekError }

func (embedded) Error() string { return "embedded" }

type panicking struct{ StatusCode int }

func (panicking) Type() string  { panic("type") }
func (panicking) Error() string { panic("error") }

type ring struct{ Code any }

func (*ring) Error() string { return "ring" }

type oddType struct{}

func (oddType) Type(int) string { return "overloaded_error" }
func (oddType) Error() string   { return "odd" }

type nilReceiver struct{ Err error }

func (e *nilReceiver) Error() string { return e.Err.Error() }
func (e *nilReceiver) Unwrap() error { return e.Err }

type textError string

func (e textError) Error() string { return string(e) }

func TestOddErrorsDoNotPanic(t *testing.T) {
	t.Parallel()

	loop := &ring{}
	loop.Code = &loop.Code

	tests := []classTest{
		{"odd kinds", unreadable{Response: 3}, told(Transient, callbacks.CauseProviderError, 0)},
		{"nil embedded", embedded{}, unknown()},
		{"embedded", embedded{&deepSeekError{StatusCode: 401}}, final(Unauthorized, 401)},
		{"panic after the status", panicking{503}, told(Overloaded, callbacks.CauseOverloaded, 503)},
		{"ring", loop, unknown()},
		{"type with an argument", oddType{}, unknown()},
		{"no struct", textError("boom"), unknown()},
		{"nil pointers", pointerError{}, unknown()},
	}

	for _, test := range tests {
		if got := DefaultClassifier(test.err); got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}

	for _, err := range []error{panicking{}, (*nilReceiver)(nil), (*claudeError)(nil), (*openAIError)(nil)} {
		if got := DefaultClassifier(err); got.Kind != Unknown {
			t.Errorf("%T: got %+v", err, got)
		}
	}
}
