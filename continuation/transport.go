package continuation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// TransportOption changes what a [NewTransport] does. Options are values and may be shared.
type TransportOption func(*recordingTransport)

// WithoutClientRetries keeps the wrapped client from making requests again on its own, for as long as it asks the server
// before it does: then the budgets and events of the decorator are all there is, and a Retry-After is waited for where
// closing the reader ends the wait. Default: clients retry as they like.
//
// It is for clients built on Stainless, such as Claude's, whose number of retries cannot be configured. A response of 400
// and above gets the header X-Should-Retry: false, which they heed. A request that failed without a response would be
// repeated all the same; so it is answered with an empty status 200 whose Body fails with that very error as soon as it is
// read. The error is returned by the reader's Recv then, and no longer by the client's Stream. Ark's client heeds no
// header: set RetryTimes to 0 in its configuration.
func WithoutClientRetries() TransportOption {
	return func(t *recordingTransport) { t.noRetries = true }
}

// NewTransport returns a RoundTripper for the wrapped model's http.Client that tells the decorator what most clients
// keep to themselves: the status and Retry-After of a response, and the error that ended its body. It hands every
// request to base unchanged, and every response back with a Body that reads and closes as before; see
// [WithoutClientRetries] for the exception. A nil base is [http.DefaultTransport]. Requests that no decorated model made
// pass through as they are.
//
// It is safe for concurrent use if base is, and belongs to no model: one can serve many. It never closes anything;
// CloseIdleConnections is passed on.
func NewTransport(base http.RoundTripper, opts ...TransportOption) http.RoundTripper {
	if base == nil {
		base = http.DefaultTransport
	}

	t := &recordingTransport{base: base}
	for _, opt := range opts {
		opt(t)
	}

	return t
}

type recordingTransport struct {
	base      http.RoundTripper
	noRetries bool
}

// RoundTrip implements [http.RoundTripper].
func (t *recordingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	r, found := request.Context().Value(recordKey{}).(*record)
	if !found {
		return t.base.RoundTrip(request)
	}

	ordinal := r.begin()

	response, err := t.base.RoundTrip(request)
	if err != nil && t.noRetries && request.Context().Err() == nil {
		response, err = unanswered(request, err), nil
	}

	if err != nil || response == nil {
		return response, err
	}

	r.answer(ordinal, response.StatusCode, response.Header)

	if t.noRetries && isStatus(int64(response.StatusCode)) {
		header := make(http.Header, len(response.Header)+1)
		maps.Copy(header, response.Header)
		header.Set(shouldRetry, "false")
		response.Header = header
	}

	// The body of a switched protocol is also written to.
	if response.Body != nil && response.StatusCode != http.StatusSwitchingProtocols {
		response.Body = &recordedBody{ReadCloser: response.Body, request: request, record: r, ordinal: ordinal}
	}

	return response, nil
}

// shouldRetry is the header with which a server tells a client of Stainless's whether to make a request again.
const shouldRetry = "X-Should-Retry"

// unanswered stands for the response of a request that failed without one.
func unanswered(request *http.Request, err error) *http.Response {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{shouldRetry: {"false"}},
		Body:          io.NopCloser(failingReader{err}),
		ContentLength: -1,
		Request:       request,
	}
}

type failingReader struct{ err error }

// Read implements [io.Reader].
func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// CloseIdleConnections lets http.Client reach the method of the base.
func (t *recordingTransport) CloseIdleConnections() {
	if closer, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

type recordKey struct{}

// record is what the requests of one attempt left behind. The last request wins: clients repeat requests on their own.
// It is safe for concurrent use.
type record struct {
	mu            sync.Mutex
	ordinal       int // of the last request, from 1
	status        int
	retryAfter    time.Duration
	hasRetryAfter bool
	err           error
}

// withRecord returns the context for one attempt and the record that its requests fill.
func withRecord(ctx context.Context) (context.Context, *record) {
	r := &record{}

	return context.WithValue(ctx, recordKey{}, r), r
}

// begin forgets the request before and returns the ordinal of the new one.
func (r *record) begin() int {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.ordinal++
	r.status, r.retryAfter, r.hasRetryAfter, r.err = 0, 0, false, nil

	return r.ordinal
}

func (r *record) answer(ordinal, status int, header http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if ordinal != r.ordinal {
		return
	}

	r.status = status
	r.retryAfter, r.hasRetryAfter = parseRetryAfter(header, time.Now())
}

// fail keeps the first error of the body of the last request.
func (r *record) fail(ordinal int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if ordinal == r.ordinal && r.err == nil {
		r.err = err
	}
}

// readErr returns the error that ended the last body, or that its status is; nil if the response was a good one and its
// body ended well, was closed, or is still open. A nil record has none.
func (r *record) readErr() error {
	if r == nil {
		return nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if r.err == nil && isStatus(int64(r.status)) {
		return &statusError{StatusCode: r.status}
	}

	return r.err
}

// statusError is an error status that a client took for the status of an empty stream. [DefaultClassifier] knows it.
type statusError struct{ StatusCode int }

// Error tells the status.
func (e *statusError) Error() string {
	return fmt.Sprintf("continuation: the provider answered with status %d and nothing else", e.StatusCode)
}

// class adds to c what the error did not say. A response with an error status was no stream, so its status explains
// whatever the client made of it, unless the provider was already understood. A nil record adds nothing.
func (r *record) class(c Class) Class {
	if r == nil {
		return c
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if !isStatus(int64(r.status)) {
		return c
	}

	switch {
	case c.Status != 0:
	case isProviderWord(c):
		c.Status = r.status
	default:
		wait, has := c.RetryAfter, c.HasRetryAfter
		c = statusClass(r.status)
		c.RetryAfter, c.HasRetryAfter = wait, has
	}

	if !c.HasRetryAfter {
		c.RetryAfter, c.HasRetryAfter = r.retryAfter, r.hasRetryAfter
	}

	return c
}

// isProviderWord says whether c rests on what the provider said.
func isProviderWord(c Class) bool {
	return c.ErrorKind == callbacks.KindProviderError && c.Kind != Unknown
}

// recordedBody reports the error that ends a body.
type recordedBody struct {
	io.ReadCloser

	request *http.Request
	record  *record
	ordinal int
	closed  atomic.Bool
}

// Read implements [io.Reader].
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !b.closed.Load() {
		b.record.fail(b.ordinal, b.limit(err))
	}

	return n, err
}

// limit names the time limit that ended the body. http.Client puts its Timeout into the request's context, but cancels
// the request in a way of its own too, and whichever of the two comes first is what the body fails with.
func (b *recordedBody) limit(err error) error {
	deadline, limited := b.request.Context().Deadline()
	if !limited || time.Now().Before(deadline) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}

	return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
}

// Close implements [io.Closer]. What reads report afterwards is of no interest.
func (b *recordedBody) Close() error {
	b.closed.Store(true)

	return b.ReadCloser.Close()
}
