package interop

import (
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// refuse is a refusal that says nothing but its status.
func refuse(code int) faultllm.Fault {
	return faultllm.Status(code, faultllm.RetryAfter{}, `{"error":{"message":"refused"}}`)
}

// TestAPermanentRefusalMakesOneRequest gives the client's own error at once.
func TestAPermanentRefusalMakesOneRequest(t *testing.T) {
	for _, code := range []int{400, 401, 402, 403, 404, 413, 422} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, recordingTransport, faultllm.Config{Script: faultllm.Reply(faultllm.Say("no")), Plan: faultllm.Every(refuse(code))})
			_, want := r.bare.Stream(t.Context(), question())
			require.Error(t, want)
			reader, err := r.wrap().Stream(t.Context(), question())
			assert.Nil(t, reader)
			assert.Equal(t, want, err, "the client's error, as it is")
			assert.Equal(t, 2, r.ledger(t).Requests, "one of the bare client, one of the decorated one")
			assert.Empty(t, r.events.names())
		})
	}
}

// TestARefusalForTheMomentIsAskedAgain opens the stream at the second or third try.
func TestARefusalForTheMomentIsAskedAgain(t *testing.T) {
	causes := map[int]callbacks.Cause{
		408: callbacks.CauseTimeout, 429: callbacks.CauseRateLimited, 500: callbacks.CauseProvider5xx,
		502: callbacks.CauseProvider5xx, 503: callbacks.CauseOverloaded, 504: callbacks.CauseProvider5xx, 529: callbacks.CauseOverloaded,
	}
	for code, cause := range causes {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			a := textAnswer().answer
			r := newRig(t, plainTransport, faultllm.Config{
				Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(refuse(code), refuse(code)),
			})
			chunks, err := stream(t.Context(), r.wrap())
			require.NoError(t, err)
			assert.Equal(t, a.Text(), concat(t, chunks).Content)
			retried := eventsOf[callbacks.OpenRetried](r.events)
			require.Len(t, retried, 2)
			assert.Equal(t, cause, retried[1].Cause)
			assert.Equal(t, code, retried[1].Status)
			l := r.ledger(t)
			assert.Equal(t, faultllm.Needed(a), l.Completion, "a refusal bills nothing")
			assert.Equal(t, 3, l.Requests)
		})
	}
}

// TestAnEmptyBodyIsNoAnswer is a status 200 with nothing behind it.
func TestAnEmptyBodyIsNoAnswer(t *testing.T) {
	a := textAnswer().answer
	r := newRig(t, plainTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(faultllm.EmptyBody())})
	chunks, err := stream(t.Context(), r.wrap())
	require.NoError(t, err)
	assert.Equal(t, a.Text(), concat(t, chunks).Content)
	require.Len(t, eventsOf[callbacks.OpenRetried](r.events), 1)

	r = newRig(t, plainTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}, Plan: faultllm.Every(faultllm.EmptyBody())})
	chunks, err = stream(t.Context(), r.wrap())
	require.ErrorIs(t, err, continuation.ErrTruncated)
	assert.Empty(t, chunks)
	assert.Equal(t, 3, r.ledger(t).Requests)
}

// TestOpenRetriesEnd gives the client's last error, unwrapped, when the budget is used up.
func TestOpenRetriesEnd(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Reply(faultllm.Say("never")), Plan: faultllm.Every(faultllm.Reset(faultllm.BeforeHeaders())),
	})
	_, err := stream(t.Context(), r.wrap())
	require.ErrorIs(t, err, syscall.ECONNRESET)
	assert.NotErrorIs(t, err, continuation.ErrExhausted)
	assert.Equal(t, 3, r.ledger(t).Requests)
}

// TestAPermanentErrorInTheStreamIsNotContinued returns it after the text that came.
func TestAPermanentErrorInTheStreamIsNotContinued(t *testing.T) {
	for _, errType := range []string{"invalid_request_error", "authentication_error", "insufficient_quota"} {
		t.Run(errType, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, plainTransport, faultllm.Config{
				Script: faultllm.Script{{Answer: textAnswer().answer}},
				Plan:   faultllm.Every(faultllm.InBandError(faultllm.InText(2), errType, "no")),
			})
			chunks, err := stream(t.Context(), r.wrap())
			require.Error(t, err)
			assert.NotErrorIs(t, err, continuation.ErrExhausted)
			assert.Equal(t, "The tide turns at ", concat(t, chunks).Content)
			assert.Equal(t, 1, r.ledger(t).Requests)
		})
	}
}

// TestARefusedContinuationKeepsTheFirstError breaks, and is then refused for good.
func TestARefusedContinuationKeepsTheFirstError(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}},
		Plan:   faultllm.InOrder(faultllm.Reset(faultllm.InText(2)), refuse(http.StatusUnauthorized)),
	})
	chunks, err := stream(t.Context(), r.wrap())
	var exhausted *continuation.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
	require.ErrorIs(t, err, syscall.ECONNRESET, "the first error is kept")
	assert.Equal(t, "The tide turns at ", concat(t, chunks).Content)
	assert.Equal(t, "The tide turns at ", exhausted.Partial.Content)
	assert.Equal(t, 2, r.ledger(t).Requests)
}

// TestRetryAfterReachesTheWait reads the event that tells the wait, and the wait is never served where it is long.
func TestRetryAfterReachesTheWait(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		name     string
		header   faultllm.RetryAfter
		with     wiring
		from, to time.Duration
	}{
		{"milliseconds", faultllm.RetryAfterMillis(40), recordingTransport, 40 * time.Millisecond, 50 * time.Millisecond},
		{"seconds", faultllm.RetryAfterSeconds(2), recordingTransport, 2 * time.Second, 2500 * time.Millisecond},
		{"zero", faultllm.RetryAfterSeconds(0), recordingTransport, time.Millisecond, 1250 * time.Microsecond},
		{"date", faultllm.RetryAfterDate(now.Add(40 * time.Second)), recordingTransport, 20 * time.Second, 50 * time.Second},
		{"past date", faultllm.RetryAfterDate(now.Add(-time.Hour)), recordingTransport, time.Millisecond, 1250 * time.Microsecond},
		{"nonsense", faultllm.RetryAfterText("soon"), recordingTransport, time.Millisecond, 1250 * time.Microsecond},
		{"none", faultllm.RetryAfter{}, recordingTransport, time.Millisecond, 1250 * time.Microsecond},
		{"lost by the client", faultllm.RetryAfterSeconds(2), plainTransport, time.Millisecond, 1250 * time.Microsecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.with, faultllm.Config{
				Script: faultllm.Script{{Answer: textAnswer().answer}},
				Plan:   faultllm.InOrder(faultllm.Status(http.StatusTooManyRequests, c.header, faultllm.VendorError(429))),
			})
			reader, err := r.wrap().Stream(t.Context(), question())
			require.NoError(t, err)
			defer reader.Close()
			retried := eventsOf[callbacks.OpenRetried](r.events)
			require.Len(t, retried, 1)
			assert.GreaterOrEqual(t, retried[0].Backoff, c.from)
			assert.LessOrEqual(t, retried[0].Backoff, c.to)
			assert.Equal(t, callbacks.CauseRateLimited, retried[0].Cause)
			if c.to < time.Second {
				began := time.Now()
				chunks, err := drain(reader)
				require.NoError(t, err)
				assert.GreaterOrEqual(t, time.Since(began), c.from, "the wait was not served")
				assert.Equal(t, textAnswer().answer.Text(), concat(t, chunks).Content)
			}
		})
	}
}

// TestALongRetryAfterEndsTheCall is capped: before content the client's error comes out, after it the partial answer.
func TestALongRetryAfterEndsTheCall(t *testing.T) {
	long := faultllm.Status(http.StatusTooManyRequests, faultllm.RetryAfterSeconds(61), faultllm.VendorError(429))
	script := faultllm.Script{{Answer: textAnswer().answer}}
	r := newRig(t, recordingTransport, faultllm.Config{Script: script, Plan: faultllm.Every(long)})
	_, err := stream(t.Context(), r.wrap())
	require.Error(t, err)
	assert.Equal(t, 1, r.ledger(t).Requests)
	assert.Empty(t, eventsOf[callbacks.OpenRetried](r.events))

	r = newRig(t, recordingTransport, faultllm.Config{Script: script, Plan: faultllm.InOrder(faultllm.CutChunked(faultllm.InText(2)), long)})
	chunks, err := stream(t.Context(), r.wrap())
	var exhausted *continuation.ExhaustedError
	require.True(t, errors.As(err, &exhausted), "got %v", err)
	assert.Equal(t, continuation.ReasonRetryAfter, exhausted.Reason)
	assert.Equal(t, "The tide turns at ", exhausted.Partial.Content)
	assert.Equal(t, "The tide turns at ", concat(t, chunks).Content)
	assert.Equal(t, 2, r.ledger(t).Requests)
}
