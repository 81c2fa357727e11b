package continuation

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type failingBody struct {
	io.Reader

	err    error
	closed bool
}

func (b *failingBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = b.err
	}

	return n, err
}

func (b *failingBody) Close() error {
	b.closed = true

	return errors.New("closed")
}

func answerOf(status int, header http.Header, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: header, Body: body}
}

func newRequest(ctx context.Context, t *testing.T) *http.Request {
	t.Helper()

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.com", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}

	return request
}

// roundTrip makes one request and leaves the body open.
func roundTrip(ctx context.Context, t *testing.T, transport http.RoundTripper) io.ReadCloser {
	t.Helper()

	response, err := transport.RoundTrip(newRequest(ctx, t))
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = response.Body.Close() })

	return response.Body
}

func TestTransportWithoutRecord(t *testing.T) {
	t.Parallel()

	want := answerOf(200, nil, http.NoBody)
	request := newRequest(t.Context(), t)

	got, err := NewTransport(tripper(func(r *http.Request) (*http.Response, error) {
		if r != request {
			t.Error("another request")
		}

		return want, nil
	})).RoundTrip(request)
	if err != nil || got != want || got.Body != http.NoBody {
		t.Errorf("got %v, %v", got, err)
	}

	_ = got.Body.Close()
}

func TestTransportKeepsTheBody(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	body := &failingBody{Reader: strings.NewReader("hello"), err: boom}
	ctx, record := withRecord(t.Context())

	read := roundTrip(ctx, t, NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(200, nil, body), nil
	})))

	if record.readErr() != nil {
		t.Error("an error before one was read")
	}

	text, err := io.ReadAll(read)
	if string(text) != "hello" || !errors.Is(err, boom) || !errors.Is(record.readErr(), boom) {
		t.Errorf("got %q, %v, recorded %v", text, err, record.readErr())
	}

	if err := read.Close(); err == nil || !body.closed {
		t.Error("Close did not reach the body")
	}
}

func TestTransportRecordsNoEndAndNoClose(t *testing.T) {
	t.Parallel()

	ctx, record := withRecord(t.Context())

	whole := roundTrip(ctx, t, NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(200, nil, io.NopCloser(strings.NewReader("hello"))), nil
	})))

	if _, err := io.ReadAll(whole); err != nil || record.readErr() != nil {
		t.Errorf("a whole body: %v, recorded %v", err, record.readErr())
	}

	left := roundTrip(ctx, t, NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(200, nil, &failingBody{Reader: strings.NewReader(""), err: http.ErrBodyReadAfterClose}), nil
	})))
	_ = left.Close()

	if _, err := io.ReadAll(left); err == nil || record.readErr() != nil {
		t.Errorf("a closed body: %v, recorded %v", err, record.readErr())
	}
}

func TestTransportLastRequestWins(t *testing.T) {
	t.Parallel()

	answers := make(chan *http.Response, 2)
	first := &failingBody{Reader: strings.NewReader(""), err: errors.New("late")}
	answers <- answerOf(429, http.Header{"Retry-After": {"20"}}, first)
	answers <- answerOf(200, nil, http.NoBody)

	transport := NewTransport(tripper(func(*http.Request) (*http.Response, error) { return <-answers, nil }))
	ctx, record := withRecord(t.Context())

	early := roundTrip(ctx, t, transport)

	if c := record.class(unknown()); c.Kind != RateLimited || c.RetryAfter != 20*time.Second {
		t.Errorf("after the first: %+v", c)
	}

	roundTrip(ctx, t, transport)

	if _, err := io.ReadAll(early); err == nil || record.readErr() != nil {
		t.Errorf("a late body: %v, recorded %v", err, record.readErr())
	}

	if c := record.class(unknown()); c != unknown() {
		t.Errorf("after the second: %+v", c)
	}

	record.answer(1, 500, nil)

	if c := record.class(unknown()); c != unknown() {
		t.Errorf("after a late answer to the first: %+v", c)
	}
}

func TestTransportForgetsBeforeAFailedRequest(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	ctx, record := withRecord(t.Context())

	roundTrip(ctx, t, NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(503, nil, http.NoBody), nil
	})))

	response, err := NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return nil, boom
	})).RoundTrip(newRequest(ctx, t))
	if response != nil {
		_ = response.Body.Close()
	}

	if !errors.Is(err, boom) || record.class(unknown()) != unknown() {
		t.Errorf("got %v, recorded %+v", err, record.class(unknown()))
	}
}

func TestTransportLeavesSwitchedProtocols(t *testing.T) {
	t.Parallel()

	body := &failingBody{}
	ctx, _ := withRecord(t.Context())

	got := roundTrip(ctx, t, NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(http.StatusSwitchingProtocols, nil, body), nil
	})))
	if got != body {
		t.Errorf("got a %T", got)
	}
}

func TestTransportDefaults(t *testing.T) {
	t.Parallel()

	transport, ok := NewTransport(nil).(*recordingTransport)
	if !ok || transport.base != http.DefaultTransport {
		t.Errorf("got %#v", transport)
	}

	// A base without idle connections has nothing to close.
	client := http.Client{Transport: NewTransport(tripper(nil))}
	client.CloseIdleConnections()

	closer := &closingTripper{}
	client = http.Client{Transport: NewTransport(closer)}
	client.CloseIdleConnections()

	if closer.calls != 1 {
		t.Errorf("closed %d times", closer.calls)
	}
}

type closingTripper struct {
	tripper

	calls int
}

func (c *closingTripper) CloseIdleConnections() { c.calls++ }

func TestTransportOverHTTP(t *testing.T) {
	t.Parallel()

	url := serveOnce(t, listen(t), send(chunkedHead))
	client := newClient(t, nil)
	client.Transport = NewTransport(client.Transport)

	ctx, record := withRecord(t.Context())

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}

	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}

	defer func() { _ = response.Body.Close() }()

	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read: %v", err)
	}

	if got := DefaultClassifier(record.readErr()); got != bodyDecode(callbacks.CauseConnectionReset) {
		t.Errorf("%v: got %+v", record.readErr(), got)
	}
}
