package continuation

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWithoutClientRetriesTellsTheClient(t *testing.T) {
	t.Parallel()

	for status, want := range map[int]string{200: "", 204: "", 302: "", 400: "false", 429: "false", 503: "false", 529: "false"} {
		for name, header := range map[string]http.Header{"no header": nil, "another wish": {"X-Should-Retry": {"true"}}} {
			base := tripper(func(*http.Request) (*http.Response, error) {
				return answerOf(status, header, io.NopCloser(strings.NewReader("body"))), nil
			})
			ctx, _ := withRecord(t.Context())

			response, err := NewTransport(base, WithoutClientRetries()).RoundTrip(newRequest(ctx, t))
			if err != nil {
				t.Fatal(err)
			}

			expect := header.Get("X-Should-Retry")
			if want != "" {
				expect = want
			}

			if got := response.Header.Get("X-Should-Retry"); got != expect {
				t.Errorf("status %d, %s: got %q, want %q", status, name, got, expect)
			}

			if header != nil && header.Get("X-Should-Retry") != "true" {
				t.Error("the header of the base was changed")
			}

			// Without a decorated model, and without the option, nothing is told.
			for _, pass := range []*http.Response{
				mustTrip(t, NewTransport(base, WithoutClientRetries()), newRequest(t.Context(), t)),
				mustTrip(t, NewTransport(base), newRequest(ctx, t)),
			} {
				if got := pass.Header.Get("X-Should-Retry"); got != header.Get("X-Should-Retry") {
					t.Errorf("status %d, %s: passed through as %q", status, name, got)
				}
			}
		}
	}
}

func mustTrip(t *testing.T, transport http.RoundTripper, request *http.Request) *http.Response {
	t.Helper()

	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}

	return response
}

func TestWithoutClientRetriesHandsOverAFailedConnection(t *testing.T) {
	t.Parallel()

	base := tripper(func(*http.Request) (*http.Response, error) { return nil, syscall.ECONNREFUSED })
	ctx, record := withRecord(t.Context())

	response, err := NewTransport(base, WithoutClientRetries()).RoundTrip(newRequest(ctx, t))
	if err != nil {
		t.Fatal(err)
	}

	if response.StatusCode != 200 || response.Header.Get("X-Should-Retry") != "false" || response.Request == nil {
		t.Errorf("got %+v", response)
	}

	_, err = io.ReadAll(response.Body)
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(record.readErr(), syscall.ECONNREFUSED) {
		t.Errorf("read %v, recorded %v", err, record.readErr())
	}

	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}

	// A caller that has left is not lied to, and neither is one that did not ask for it.
	if _, err := NewTransport(base).RoundTrip(newRequest(ctx, t)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("without the option: %v", err)
	}

	left, cancel := context.WithCancel(ctx)
	cancel()

	if _, err := NewTransport(base, WithoutClientRetries()).RoundTrip(newRequest(left, t)); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("after the end: %v", err)
	}
}

// TestAHiddenStatusIsAnError is for clients that take an empty response of any status for an empty stream.
func TestAHiddenStatusIsAnError(t *testing.T) {
	t.Parallel()

	for status, kind := range map[int]Kind{200: Unknown, 401: Unauthorized, 503: Overloaded} {
		_, record := withRecord(t.Context())
		record.answer(record.begin(), status, nil)

		err := record.readErr()
		if (err == nil) != (status == 200) {
			t.Fatalf("status %d: %v", status, err)
		}

		if c := DefaultClassifier(err); c.Kind != kind {
			t.Errorf("status %d: got %+v", status, c)
		}
	}
}

// TestATimeLimitIsNamed is for http.Client.Timeout, which cancels a request in two ways at once.
func TestATimeLimitIsNamed(t *testing.T) {
	t.Parallel()

	errCanceled := errors.New("net/http: request canceled")
	base := tripper(func(*http.Request) (*http.Response, error) {
		return answerOf(200, nil, &failingBody{Reader: strings.NewReader("text"), err: errCanceled}), nil
	})

	for limit, late := range map[time.Duration]bool{0: true, time.Hour: false} {
		ctx, record := withRecord(t.Context())
		limited, cancel := context.WithTimeout(ctx, limit)

		response, err := NewTransport(base).RoundTrip(newRequest(limited, t))
		if err != nil {
			t.Fatal(err)
		}

		_, err = io.ReadAll(response.Body)
		if err != errCanceled { //nolint:errorlint // the client gets the very error
			t.Errorf("read %v", err)
		}

		if got := record.readErr(); !errors.Is(got, errCanceled) || errors.Is(got, context.DeadlineExceeded) != late {
			t.Errorf("limit %v: recorded %v", limit, got)
		}

		cancel()
	}
}
