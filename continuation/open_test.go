package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctHeaderError is an error response of a client that shows the headers.
type ctHeaderError struct {
	StatusCode int
	Response   *http.Response
}

func (e *ctHeaderError) Error() string { return http.StatusText(e.StatusCode) }

func ctStatus(code int) error {
	return &ctStatusError{HTTPStatusCode: code, Message: http.StatusText(code)}
}

// ctComeBack is a 429 or 503 that says when to come back.
func ctComeBack(code int, key, value string) error {
	return &ctHeaderError{StatusCode: code, Response: &http.Response{StatusCode: code, Header: http.Header{key: {value}}}}
}

// ctBetween checks a wait: never less than nominal, and at most a quarter more.
func ctBetween(t *testing.T, nominal, got time.Duration) {
	t.Helper()
	assert.GreaterOrEqual(t, got, nominal)
	assert.LessOrEqual(t, got, nominal+nominal/4)
}

func TestOpenThatFailsForGood(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		opts []continuation.Option
	}{
		"bad request":    {err: ctStatus(400)},
		"bad key":        {err: ctStatus(401)},
		"no credit":      {err: ctStatus(402)},
		"no such model":  {err: ctStatus(404)},
		"unknown":        {err: errors.New("the moon is in the way")},
		"retries off":    {err: ctStatus(503), opts: []continuation.Option{continuation.WithOpenRetries(0)}},
		"above the cap":  {err: ctComeBack(429, "Retry-After", "61")},
		"too late":       {err: ctStatus(503), opts: []continuation.Option{continuation.WithMaxElapsed(time.Second / 2)}},
		"own classifier": {err: ctStatus(503), opts: []continuation.Option{continuation.WithClassifier(func(error) continuation.Class { return continuation.Class{Kind: continuation.Unauthorized} })}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(fm.Script{fm.OpenFail(c.err)})
				m, events := ctWrap(t, inner, c.opts...)
				began := time.Now()
				reader, err := m.Stream(t.Context(), ctInput())
				assert.Same(t, c.err, err, "the error itself")
				assert.Nil(t, reader)
				assert.Zero(t, time.Since(began))
				assert.Empty(t, events.names())
				ctLetGo(t, inner)
				assert.Len(t, inner.Requests(), 1)
			})
		})
	}
}

func TestOpenIsMadeAgain(t *testing.T) {
	t.Parallel()
	hello := fm.Script{fm.Role(), fm.Text("Hello."), fm.Finish("stop")}
	for name, first := range map[string]fm.Script{
		"Stream fails":      {fm.OpenFail(ctStatus(503))},
		"Recv fails":        {fm.Reset()},
		"role, then fails":  {fm.Role(), fm.Text(""), fm.Reset()},
		"usage, then fails": {fm.Usage(3, 0), fm.Reset()},
		"empty stream":      {fm.EOF()},
		"role, then ends":   {fm.Role()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(first, first, hello).TypeName("OpenAI")
				m, events := ctWrap(t, inner, continuation.WithMaxContinuations(1))
				began := time.Now()
				reader, err := m.Stream(t.Context(), ctInput())
				require.NoError(t, err)
				assert.Zero(t, time.Since(began), "the waits belong to Recv")
				assert.Len(t, inner.Requests(), 1)

				chunks, err := fm.Collect(reader)
				require.NoError(t, err)
				assert.Equal(t, "Hello.", fm.Concat(t, chunks).Content)
				retried := ctOf[callbacks.OpenRetried](events)
				require.Len(t, retried, 2)
				assert.Equal(t, 1, retried[0].Attempt)
				assert.Equal(t, 2, retried[1].Attempt)
				ctBetween(t, time.Second, retried[0].Backoff)
				ctBetween(t, 2*time.Second, retried[1].Backoff)
				assert.Equal(t, retried[0].Backoff+retried[1].Backoff, time.Since(began))
				assert.Len(t, events.names(), 2)
				ctLetGo(t, inner)
				for _, r := range inner.Requests() {
					assert.Equal(t, ctInput(), r.Messages)
				}
			})
		})
	}
}

func TestLastOpenErrorComesOutAsItIs(t *testing.T) {
	t.Parallel()
	last := ctStatus(503)
	for name, scripts := range map[string][]fm.Script{
		"retries used up": {{fm.OpenFail(ctStatus(500))}, {fm.Reset()}, {fm.OpenFail(last)}},
		"then for good":   {{fm.OpenFail(ctStatus(500))}, {fm.OpenFail(ctStatus(429))}, {fm.Fail(last)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(scripts...))
			assert.Same(t, last, r.err)
			assert.Len(t, r.requests, 3)
			assert.Empty(t, ctOf[callbacks.Exhausted](events))
		})
	}
	t.Run("empty answers", func(t *testing.T) {
		t.Parallel()
		r, _, _ := ctRun(t, fm.New(fm.Script{}, fm.Script{}, fm.Script{}))
		assert.ErrorIs(t, r.err, continuation.ErrTruncated)
	})
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	date := func(at time.Time) error { return ctComeBack(429, "Retry-After", at.UTC().Format(http.TimeFormat)) }
	says := func(code int, key, value string) func(time.Time) error {
		return func(time.Time) error { return ctComeBack(code, key, value) }
	}
	for name, c := range map[string]struct {
		err  func(now time.Time) error
		want time.Duration
	}{
		"seconds":         {says(429, "Retry-After", "7"), 7 * time.Second},
		"milliseconds":    {says(429, "Retry-After-Ms", "2500"), 2500 * time.Millisecond},
		"overloaded":      {says(503, "Retry-After", "30"), 30 * time.Second},
		"date":            {func(now time.Time) error { return date(now.Add(40 * time.Second)) }, 40 * time.Second},
		"at the cap":      {says(429, "Retry-After", "60"), 60 * time.Second},
		"past date":       {func(now time.Time) error { return date(now.Add(-time.Hour)) }, time.Second},
		"shorter than us": {says(429, "Retry-After", "0"), time.Second},
		"nonsense":        {says(429, "Retry-After", "soon"), time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
					at := time.Now().Truncate(time.Second).Add(time.Second) // dates have whole seconds
					silence, err := time.Until(at), c.err(at)

					return []fm.Script{
						{fm.OpenIdle(silence), fm.OpenFail(err)}, {fm.Text("Hello "), fm.Idle(silence), fm.Fail(err)}, {fm.Text("world."), fm.Finish("stop")},
					}[n]
				})
				m, events := ctWrap(t, inner)
				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, "Hello world.", r.text())
				ctBetween(t, c.want, ctOnly[callbacks.OpenRetried](t, events).Backoff)
				ctBetween(t, c.want, ctOnly[callbacks.Started](t, events).Backoff)
				assert.Len(t, inner.Requests(), 3)
				ctLetGo(t, inner)
			})
		})
	}
}

func TestRetryAfterAboveTheCapAfterContent(t *testing.T) {
	t.Parallel()
	limited := ctComeBack(429, "Retry-After", "6")
	inner := fm.New(fm.Script{fm.Text("Hello "), fm.Fail(limited)})
	r, events, took := ctRun(t, inner, continuation.WithRetryAfterCap(5*time.Second))
	exhausted := (*continuation.ExhaustedError)(nil)
	require.ErrorAs(t, r.err, &exhausted)
	assert.Equal(t, continuation.ReasonRetryAfter, exhausted.Reason)
	assert.Equal(t, "Hello ", exhausted.Partial.Content)
	assert.Zero(t, exhausted.Attempts)
	assert.ErrorIs(t, r.err, limited)
	assert.Zero(t, took)
	assert.Equal(t, []string{"llm_stream_interrupted", "llm_stream_continuation_exhausted"}, events.names())
	assert.Len(t, r.requests, 1)
}

// ctHTTPModel is a client that keeps what the response said to itself.
type ctHTTPModel struct {
	client *http.Client
	url    string
}

func (m *ctHTTPModel) Stream(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := m.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the request failed: %w", err)
	}

	return schema.StreamReaderFromArray([]*schema.Message{
		{Role: schema.Assistant, Content: string(text), ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}},
	}), nil
}

func (m *ctHTTPModel) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	reader, err := m.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}

	return schema.ConcatMessageStream(reader)
}

func TestTransportTellsRetryAfter(t *testing.T) {
	t.Parallel()
	refuse := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuse {
			w.Header().Set("Retry-After-Ms", "40")
			w.WriteHeader(http.StatusTooManyRequests)
		} else {
			_, _ = io.WriteString(w, "Hello.")
		}
		refuse = !refuse
	}))
	defer server.Close()
	client := &http.Client{Transport: continuation.NewTransport(nil)}
	defer client.CloseIdleConnections()
	m, events := ctWrap(t, &ctHTTPModel{client: client, url: server.URL}, ctNow())

	r := ctStream(t.Context(), m)
	require.NoError(t, r.err)
	assert.Equal(t, "Hello.", r.text())
	msg, err := m.Generate(t.Context(), ctInput())
	require.NoError(t, err)
	assert.Equal(t, "Hello.", msg.Content)
	retried := ctOf[callbacks.OpenRetried](events)
	require.Len(t, retried, 2)
	for _, e := range retried {
		ctBetween(t, 40*time.Millisecond, e.Backoff)
		assert.Equal(t, callbacks.CauseRateLimited, e.Cause)
		assert.Equal(t, http.StatusTooManyRequests, e.Status)
	}
}
