package continuation

import (
	"errors"
	"io"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

// DefaultClassifier is the [Classifier] that is used if no other is given. It is safe for concurrent use, never panics
// and imports no provider's client: it follows Unwrap in both its forms and takes the first of these rows that fits.
//
//	what is found in the error                               | class
//	---------------------------------------------------------|-------------------------------------------------
//	ErrIdleStall, ErrTruncated, io.EOF itself                | Transient: idle_stall, truncated
//	a name in Code, Type, Status or ErrorCode, as exported   | by the name: overloaded_error is Overloaded even
//	field or method, or a type name that ends in Exception   | at status 400 or 200
//	a status of 400 and above in HTTPStatusCode, StatusCode  | 401, 403 Unauthorized; 402 QuotaExhausted; 404, 410
//	or Code                                                  | ModelNotFound; 408, 409, 424, 425, 499 Transient;
//	                                                         | 429 RateLimited; 503, 529 Overloaded; other 5xx
//	                                                         | Transient: provider_5xx; other 4xx InvalidRequest
//	a general name, such as invalid_request_error            | by the name
//	a certificate that is not trusted                        | Unauthorized
//	HTTP/2 stream errors; resets, refusals, DNS and TLS      | Transient: connection_reset; goaway for GOAWAY
//	failures, a connection closed before the response        |
//	time limits                                              | Transient: timeout
//	io.ErrUnexpectedEOF, bad chunked coding or compression   | Transient, error kind body_decode
//	JSON that cannot be decoded, a line that is too long     | Transient: malformed_frame
//	texts of net/http and of the clients, as whole phrases   | as if they had a type; a rule for values without one
//	a provider's error, by the phrases of its message        | by the phrase: "rate limit", "is overloaded"
//	a provider's error with neither name nor code nor phrase | Transient: provider_error
//	anything else                                            | Unknown
//
// A request that is invalid becomes ContextOverflow if its error speaks of the context's length. A status that a
// client made up for a connection that gave no response (it wraps a *url.Error) is not looked at. The end of a context
// is a limit of the client or the provider: the caller's own was looked at before.
func DefaultClassifier(err error) (c Class) {
	if err == nil {
		return Class{}
	}

	// Errors of other packages are asked for their texts and fields, and some panic when they are half filled.
	defer func() {
		if recover() != nil {
			c = unknown()
		}
	}()

	if c, found := ownClass(err); found {
		return c
	}

	r := readError(err, time.Now())
	c = r.class(err)

	if c.Kind == InvalidRequest && speaksOf(err, contextPhrases()...) {
		c.Kind = ContextOverflow
	}

	c.Status, c.RetryAfter, c.HasRetryAfter = r.status, r.retryAfter, r.hasRetryAfter

	return c
}

// ownClass classifies what this package found out itself.
func ownClass(err error) (Class, bool) {
	if s := (*StoredError)(nil); errors.As(err, &s) && s.Class != (Class{}) {
		return s.Class, true
	}
	switch {
	case errors.Is(err, ErrIdleStall):
		return Class{Kind: Transient, Cause: callbacks.CauseIdleStall, ErrorKind: callbacks.KindIdleStall}, true
	case errors.Is(err, ErrTruncated),
		err == io.EOF: //nolint:errorlint // A wrapped EOF is another thing: a connection that was closed.
		return Class{Kind: Transient, Cause: callbacks.CauseTruncated, ErrorKind: callbacks.KindTruncated}, true
	default:
		return Class{}, false
	}
}

// class chooses between what the error says of itself and what its types and its text say.
func (r reading) class(err error) Class {
	switch {
	case r.strong != nil:
		return r.strong.withStatus(r.status)
	case r.status != 0:
		return statusClass(r.status)
	case r.weak != nil:
		return *r.weak
	}

	if c, found := transportClass(err); found {
		return c
	}

	if c, found := textClass(err.Error()); found {
		return c
	}

	return r.toldClass(err)
}

// withStatus makes the cause of a plain provider error more exact.
func (c Class) withStatus(status int) Class {
	if c.Cause == callbacks.CauseProviderError && status >= 500 {
		c.Cause = callbacks.CauseProvider5xx
	}

	return c
}

// nodes returns err and everything that it wraps, outer before inner.
func nodes(err error) []error {
	if err == nil {
		return nil
	}

	all := []error{err}

	switch wrapper := any(err).(type) {
	case interface{ Unwrap() error }:
		all = append(all, nodes(wrapper.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			all = append(all, nodes(inner)...)
		}
	}

	return all
}
