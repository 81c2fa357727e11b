package continuation

import (
	"net/http"

	"github.com/eino-carryon/carryon/callbacks"
)

// statusClass classifies an HTTP status of 400 and above.
func statusClass(status int) Class {
	c := statusKind(status)
	c.Status = status

	return c
}

func statusKind(status int) Class {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return permanent(Unauthorized)
	case http.StatusPaymentRequired:
		return permanent(QuotaExhausted)
	case http.StatusNotFound, http.StatusGone:
		return permanent(ModelNotFound)
	case http.StatusRequestTimeout:
		return provider(Transient, callbacks.CauseTimeout)
	case http.StatusConflict, http.StatusFailedDependency, http.StatusTooEarly, statusClientClosed:
		return provider(Transient, callbacks.CauseProviderError)
	case http.StatusTooManyRequests:
		return provider(RateLimited, callbacks.CauseRateLimited)
	case http.StatusServiceUnavailable, statusOverloaded:
		return provider(Overloaded, callbacks.CauseOverloaded)
	}

	if status >= http.StatusInternalServerError {
		return provider(Transient, callbacks.CauseProvider5xx)
	}

	return permanent(InvalidRequest)
}

const (
	// statusClientClosed is what proxies say when they gave the request up, and Gemini when it cancelled it.
	statusClientClosed = 499
	// statusOverloaded is Anthropic's.
	statusOverloaded = 529
)

// isStatus says whether number is an HTTP status that says something of an error. 200 does not: it is the status of
// a stream that broke later.
func isStatus(number int64) bool { return number >= 400 && number < 600 }
