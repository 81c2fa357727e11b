package continuation

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

func TestRecordClass(t *testing.T) {
	t.Parallel()

	truncated := DefaultClassifier(ErrTruncated)
	waited := told(RateLimited, callbacks.CauseRateLimited, 429)
	waited.RetryAfter, waited.HasRetryAfter = 5*time.Second, true

	merged := waited
	merged.RetryAfter = 20 * time.Second

	tests := []struct {
		name   string
		status int
		header http.Header
		class  Class
		want   Class
	}{
		{"no response", 0, nil, truncated, truncated},
		{"a good response", 200, http.Header{"Retry-After": {"20"}}, truncated, truncated},
		{"an empty error body", 503, nil, truncated, told(Overloaded, callbacks.CauseOverloaded, 503)},
		{"a page that is no JSON", 401, nil, malformedFrame(), final(Unauthorized, 401)},
		{
			"unknown in the stream", 502, nil, told(Unknown, callbacks.CauseProviderError, 0),
			told(Transient, callbacks.CauseProvider5xx, 502),
		},
		{"an understood error", 400, nil, final(ContextOverflow, 0), final(ContextOverflow, 400)},
		{"the error's own status", 503, nil, final(InvalidRequest, 400), final(InvalidRequest, 400)},
		{"the wait", 429, http.Header{"Retry-After": {"20"}}, told(RateLimited, callbacks.CauseRateLimited, 429), merged},
		{"the error's own wait", 429, http.Header{"Retry-After": {"20"}}, waited, waited},
	}

	for _, test := range tests {
		_, record := withRecord(t.Context())
		record.answer(record.begin(), test.status, test.header)

		if got := record.class(test.class); got != test.want {
			t.Errorf("%s:\n got %+v\nwant %+v", test.name, got, test.want)
		}
	}

	var none *record
	if none.readErr() != nil || none.class(truncated) != truncated {
		t.Error("a nil record says something")
	}
}

func TestRecordIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()

	ctx, record := withRecord(t.Context())
	transport := NewTransport(tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(429, http.Header{"Retry-After": {"1"}}, &failingBody{
			Reader: strings.NewReader("x"), err: io.ErrUnexpectedEOF,
		}), nil
	}))

	var all sync.WaitGroup

	for range 8 {
		request := newRequest(ctx, t)

		all.Go(func() {
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Error(err)

				return
			}

			_, _ = io.ReadAll(response.Body)
			_ = response.Body.Close()
			_, _ = record.readErr(), record.class(unknown())
		})
	}

	all.Wait()

	if record.class(unknown()).Kind != RateLimited {
		t.Error("nothing was recorded")
	}
}
