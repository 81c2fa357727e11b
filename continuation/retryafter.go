package continuation

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// parseRetryAfter returns the wait that h asks for, counted from now: retry-after-ms (milliseconds, also fractional)
// before Retry-After (seconds, also fractional, or an HTTP date). A date that has passed is 0; a number too large for
// a duration is the largest one. Anything else, a negative number included, is as good as no header.
func parseRetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if d, ok := parseNumber(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}

	value := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := parseNumber(value, time.Second); ok {
		return d, true
	}

	date, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}

	return max(date.Sub(now), 0), true
}

// parseNumber reads a plain decimal number of units. Signs, exponents, hexadecimal and words such as "inf", which
// strconv would take, are not numbers here.
func parseNumber(value string, unit time.Duration) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" || strings.Trim(value, "0123456789.") != "" {
		return 0, false
	}

	number, err := strconv.ParseFloat(value, 64)
	if err != nil && !math.IsInf(number, 1) {
		return 0, false
	}

	if number >= float64(math.MaxInt64)/float64(unit) {
		return math.MaxInt64, true
	}

	return time.Duration(number * float64(unit)), true
}

// parseRetryInfo returns the retryDelay of a google.rpc.RetryInfo among the details of an error.
func parseRetryInfo(details []map[string]any) (time.Duration, bool) {
	for _, detail := range details {
		kind, _ := detail["@type"].(string)
		if !strings.HasSuffix(kind, "google.rpc.RetryInfo") {
			continue
		}

		delay, _ := detail["retryDelay"].(string)
		if seconds, found := strings.CutSuffix(delay, "s"); found {
			return parseNumber(seconds, time.Second)
		}
	}

	return 0, false
}
