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
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"

	"github.com/eino-carryon/carryon/callbacks"
)

// transportClass classifies by the types and sentinels of the standard library.
func transportClass(err error) (Class, bool) {
	switch {
	case isUntrusted(err):
		c := permanent(Unauthorized)
		c.ErrorKind = callbacks.KindSSETransport

		return c, true
	case errors.Is(err, http.ErrSchemeMismatch):
		return permanent(InvalidRequest), true
	case isGoAway(err):
		return transport(callbacks.CauseGoAway), true
	case isHTTP2Stream(err):
		return transport(callbacks.CauseConnectionReset), true
	case isTimeout(err):
		return transport(callbacks.CauseTimeout), true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return bodyDecode(callbacks.CauseConnectionReset), true
	case isCorrupt(err):
		return bodyDecode(callbacks.CauseMalformedFrame), true
	case isMalformed(err):
		return malformedFrame(), true
	case isDisconnect(err):
		return transport(callbacks.CauseConnectionReset), true
	default:
		return Class{}, false
	}
}

// has says whether a value of type E is in err's tree.
func has[E error](err error) bool {
	_, found := errors.AsType[E](err)

	return found
}

// isAny says whether one of targets is in err's tree.
func isAny(err error, targets ...error) bool {
	for _, target := range targets {
		if errors.Is(err, target) {
			return true
		}
	}

	return false
}

// isUntrusted says whether the server's certificate was refused. No repetition mends that; other TLS failures, alerts
// included, also come from overloaded or restarting servers.
func isUntrusted(err error) bool {
	return has[*tls.CertificateVerificationError](err) || has[x509.UnknownAuthorityError](err) ||
		has[x509.HostnameError](err) || has[x509.CertificateInvalidError](err)
}

// isTimeout says whether a time limit passed. Each node is asked, since an outer one may not know of an inner one.
func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}

	for _, node := range nodes(err) {
		if limit, ok := any(node).(interface{ Timeout() bool }); ok && limit.Timeout() {
			return true
		}
	}

	return false
}

// isDisconnect says whether the connection failed. That a name was not found counts too: most resolvers say so when
// they are offline.
func isDisconnect(err error) bool {
	return has[*net.OpError](err) || has[*net.DNSError](err) ||
		has[tls.RecordHeaderError](err) || has[tls.AlertError](err) ||
		isAny(err, net.ErrClosed, http.ErrBodyReadAfterClose, http.ErrAbortHandler, io.ErrClosedPipe, io.EOF,
			context.Canceled,
			syscall.ECONNRESET, syscall.EPIPE, syscall.ECONNABORTED, syscall.ECONNREFUSED, syscall.ENOTCONN,
			syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ENETDOWN, syscall.ENETRESET, syscall.EHOSTDOWN)
}

// isCorrupt says whether the compression of a body could not be undone.
func isCorrupt(err error) bool {
	return has[flate.CorruptInputError](err) || isAny(err, gzip.ErrHeader, gzip.ErrChecksum)
}

// isMalformed says whether a frame of a stream could not be decoded.
func isMalformed(err error) bool {
	return has[*json.SyntaxError](err) || has[*json.UnmarshalTypeError](err) ||
		has[*json.InvalidUnmarshalError](err) || errors.Is(err, bufio.ErrTooLong)
}

// noResponse says whether a request of net/http ended without a response.
func noResponse(err error) bool { return has[*url.Error](err) }
