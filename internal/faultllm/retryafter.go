package faultllm

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter is a header that says when to come back. The zero value is none.
type RetryAfter struct{ header, value string }

// RetryAfterSeconds is Retry-After in seconds.
func RetryAfterSeconds(n int) RetryAfter { return RetryAfterText(strconv.Itoa(n)) }

// RetryAfterDate is Retry-After as an HTTP date, which has whole seconds.
func RetryAfterDate(t time.Time) RetryAfter { return RetryAfterText(t.UTC().Format(http.TimeFormat)) }

// RetryAfterMillis is retry-after-ms in milliseconds.
func RetryAfterMillis(n int) RetryAfter {
	return RetryAfter{header: "Retry-After-Ms", value: strconv.Itoa(n)}
}

// RetryAfterText is Retry-After with any text.
func RetryAfterText(s string) RetryAfter { return RetryAfter{header: "Retry-After", value: s} }

func (r RetryAfter) set(h http.Header) {
	if r.header != "" {
		h.Set(r.header, r.value)
	}
}

// delay returns the time as google.rpc.RetryInfo has it; empty if it is no number.
func (r RetryAfter) delay() string {
	n, err := strconv.ParseFloat(r.value, 64)
	switch {
	case err != nil:
		return ""
	case r.header == "Retry-After-Ms":
		n /= 1000
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + "s"
}
