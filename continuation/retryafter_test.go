package continuation

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func testNow() time.Time { return time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC) }

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()

	date := func(d time.Duration) string { return testNow().Add(d).Format(http.TimeFormat) }

	tests := []struct {
		name, millis, seconds string
		want                  time.Duration
		found                 bool
	}{
		{name: "none"},
		{name: "seconds", seconds: "20", want: 20 * time.Second, found: true},
		{name: "zero", seconds: "0", found: true},
		{name: "space", seconds: " 7 ", want: 7 * time.Second, found: true},
		{name: "fraction", seconds: "1.5", want: 1500 * time.Millisecond, found: true},
		{name: "milliseconds", millis: "250", want: 250 * time.Millisecond, found: true},
		{name: "fraction of milliseconds", millis: "0.5", want: 500 * time.Microsecond, found: true},
		{name: "milliseconds first", millis: "10", seconds: "20", want: 10 * time.Millisecond, found: true},
		{name: "bad milliseconds", millis: "soon", seconds: "20", want: 20 * time.Second, found: true},
		{name: "date", seconds: date(30 * time.Second), want: 30 * time.Second, found: true},
		{name: "past date", seconds: "Wed, 21 Oct 2015 07:28:00 GMT", found: true},
		{name: "RFC 850 date", seconds: "Wednesday, 02-Jan-30 03:04:15 GMT", want: 10 * time.Second, found: true},
		{name: "far date", seconds: "Fri, 31 Dec 9999 23:59:59 GMT", want: math.MaxInt64, found: true},
		{name: "huge", seconds: "99999999999999999999", want: math.MaxInt64, found: true},
		{name: "just too large", seconds: "9223372036.854775808", want: math.MaxInt64, found: true},
		{name: "beyond a float", seconds: "9" + string(make400Zeros()), want: math.MaxInt64, found: true},
		{name: "negative", seconds: "-5"},
		{name: "negative milliseconds", millis: "-5"},
		{name: "plus", seconds: "+5"},
		{name: "word", seconds: "soon"},
		{name: "NaN", seconds: "NaN"},
		{name: "infinite", seconds: "Inf"},
		{name: "hexadecimal", seconds: "0x10"},
		{name: "exponent", seconds: "1e3"},
		{name: "unit", seconds: "5s"},
		{name: "two dots", seconds: "1.2.3"},
		{name: "dot", seconds: "."},
	}

	for _, test := range tests {
		h := http.Header{}
		if test.millis != "" {
			h.Set("retry-after-ms", test.millis)
		}

		if test.seconds != "" {
			h.Set("Retry-After", test.seconds)
		}

		got, found := parseRetryAfter(h, testNow())
		if got != test.want || found != test.found {
			t.Errorf("%s: got %v, %v, want %v, %v", test.name, got, found, test.want, test.found)
		}
	}

	if _, found := parseRetryAfter(nil, testNow()); found {
		t.Error("a nil header has a wait")
	}
}

func make400Zeros() []byte {
	zeros := make([]byte, 400)
	for i := range zeros {
		zeros[i] = '0'
	}

	return zeros
}

func TestParseRetryInfo(t *testing.T) {
	t.Parallel()

	info := func(delay any) []map[string]any {
		return []map[string]any{
			{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "retryDelay": "99s"},
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay},
		}
	}

	tests := []struct {
		details []map[string]any
		want    time.Duration
		found   bool
	}{
		{nil, 0, false},
		{info("34s"), 34 * time.Second, true},
		{info("34.5s"), 34500 * time.Millisecond, true},
		{info("-1s"), 0, false},
		{info("34"), 0, false},
		{info(34), 0, false},
	}

	for _, test := range tests {
		if got, found := parseRetryInfo(test.details); got != test.want || found != test.found {
			t.Errorf("%v: got %v, %v", test.details, got, found)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, seed := range []string{
		"", "20", "1.5", "-1", "soon", "NaN", "1e999", "Wed, 21 Oct 2015 07:28:00 GMT", "99999999999999999999",
	} {
		f.Add(seed, "")
		f.Add("", seed)
	}

	f.Fuzz(func(t *testing.T, millis, seconds string) {
		h := http.Header{"Retry-After-Ms": {millis}, "Retry-After": {seconds}}

		got, found := parseRetryAfter(h, testNow())
		if got < 0 || !found && got != 0 {
			t.Errorf("parseRetryAfter(%q, %q) = %v, %v", millis, seconds, got, found)
		}
	})
}
