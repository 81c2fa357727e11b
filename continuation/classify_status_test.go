package continuation

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
)

func openAI(status int, code any, typ string) error {
	return &openAIError{HTTPStatusCode: status, Code: code, Type: typ, Message: "boom"}
}

type classTest struct {
	name string
	err  error
	want Class
}

func runClassTests(t *testing.T, tests []classTest) {
	t.Helper()

	for _, test := range tests {
		for form, err := range map[string]error{
			"bare":    test.err,
			"wrapped": fmt.Errorf("failed to receive: %w", test.err),
			"joined":  errors.Join(errors.New("first"), fmt.Errorf("second: %w", test.err)),
		} {
			if got := DefaultClassifier(err); got != test.want {
				t.Errorf("%s, %s:\n got %+v\nwant %+v", test.name, form, got, test.want)
			}
		}
	}
}

func told(kind Kind, cause callbacks.Cause, status int) Class {
	return Class{Kind: kind, Cause: cause, ErrorKind: callbacks.KindProviderError, Status: status}
}

func final(kind Kind, status int) Class { return told(kind, callbacks.CausePermanent, status) }

func TestStatuses(t *testing.T) {
	t.Parallel()

	want := map[int]Class{
		400: final(InvalidRequest, 400),
		401: final(Unauthorized, 401),
		402: final(QuotaExhausted, 402),
		403: final(Unauthorized, 403),
		404: final(ModelNotFound, 404),
		405: final(InvalidRequest, 405),
		408: told(Transient, callbacks.CauseTimeout, 408),
		409: told(Transient, callbacks.CauseProviderError, 409),
		410: final(ModelNotFound, 410),
		413: final(InvalidRequest, 413),
		422: final(InvalidRequest, 422),
		424: told(Transient, callbacks.CauseProviderError, 424),
		425: told(Transient, callbacks.CauseProviderError, 425),
		429: told(RateLimited, callbacks.CauseRateLimited, 429),
		499: told(Transient, callbacks.CauseProviderError, 499),
		500: told(Transient, callbacks.CauseProvider5xx, 500),
		502: told(Transient, callbacks.CauseProvider5xx, 502),
		503: told(Overloaded, callbacks.CauseOverloaded, 503),
		504: told(Transient, callbacks.CauseProvider5xx, 504),
		524: told(Transient, callbacks.CauseProvider5xx, 524),
		529: told(Overloaded, callbacks.CauseOverloaded, 529),
		599: told(Transient, callbacks.CauseProvider5xx, 599),
	}

	for status, class := range want {
		runClassTests(t, []classTest{
			{fmt.Sprint("HTTPStatusCode ", status), openAI(status, nil, ""), class},
			{fmt.Sprint("StatusCode, pointer ", status), &deepSeekError{StatusCode: status}, class},
			{fmt.Sprint("StatusCode, value ", status), ollamaError{StatusCode: status}, class},
			{fmt.Sprint("Code ", status), geminiError{Code: status}, class},
			{fmt.Sprint("Code as any ", status), openAI(0, float64(status), ""), class},
			{fmt.Sprint("Code as text ", status), openAI(200, fmt.Sprint(status), ""), class},
			{fmt.Sprint("method ", status), methodError{status}, class},
		})
	}
}

func TestStatusesThatSayNothing(t *testing.T) {
	t.Parallel()

	inBand := told(Unknown, callbacks.CauseProviderError, 0)

	for _, status := range []int{-1, 0, 100, 200, 302, 600, 1006} {
		bare := inBand
		if status == 0 || status == 200 { // what an error inside a stream has
			bare = told(Transient, callbacks.CauseProviderError, 0)
		}

		runClassTests(t, []classTest{
			{fmt.Sprint(status), openAI(status, nil, ""), bare},
			{fmt.Sprint("unknown type ", status), openAI(status, "odd", "odd_error"), inBand},
			{
				fmt.Sprint("known type ", status), openAI(status, nil, "overloaded_error"),
				told(Overloaded, callbacks.CauseOverloaded, 0),
			},
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()

	name := "invalid_api_key"

	runClassTests(t, []classTest{
		{"code before type", openAI(400, "context_length_exceeded", "invalid_request_error"), final(ContextOverflow, 400)},
		{"quota before 429", openAI(429, "insufficient_quota", "insufficient_quota"), final(QuotaExhausted, 429)},
		{"quota inside the stream", openAI(0, "insufficient_quota", ""), final(QuotaExhausted, 0)},
		{"rate limit", openAI(429, "rate_limit_exceeded", "tokens"), told(RateLimited, callbacks.CauseRateLimited, 429)},
		{"unknown model", openAI(404, "model_not_found", "invalid_request_error"), final(ModelNotFound, 404)},
		{"filter", openAI(400, "content_filter", ""), final(ContentFiltered, 400)},
		{"refused prompt", openAI(0, "invalid_prompt", ""), final(InvalidRequest, 0)},
		{"server error inside the stream", openAI(0, nil, "server_error"), told(Transient, callbacks.CauseProviderError, 0)},
		{"server error", openAI(500, nil, "server_error"), told(Transient, callbacks.CauseProvider5xx, 500)},
		{
			"exception before number", openAI(400, "internalServerException", ""),
			told(Transient, callbacks.CauseProviderError, 400),
		},
		{
			"number before a general name", openAI(429, nil, "invalid_request_error"),
			told(RateLimited, callbacks.CauseRateLimited, 429),
		},
		{"number before api_error", openAI(400, nil, "api_error"), final(InvalidRequest, 400)},
		{"general name alone", openAI(0, nil, "invalid_request_error"), final(InvalidRequest, 0)},
		{"api_error alone", openAI(0, nil, "api_error"), told(Transient, callbacks.CauseProviderError, 0)},
		{"pointers", pointerError{Code: &name}, final(Unauthorized, 0)},
		{"type name", &ThrottlingException{}, told(RateLimited, callbacks.CauseRateLimited, 0)},
		{"namespace", &namedError{"com.example#ValidationException:https://example.com/x"}, final(InvalidRequest, 0)},
		{"dotted", &namedError{"Throttling.RateQuota"}, told(RateLimited, callbacks.CauseRateLimited, 0)},
		{"suffix", &namedError{"OutputTextSensitiveContentDetected"}, final(ContentFiltered, 0)},
		{"model stream", &namedError{"modelStreamErrorException"}, told(Transient, callbacks.CauseProviderError, 0)},
		{"model timeout", &namedError{"modelTimeoutException"}, told(Transient, callbacks.CauseTimeout, 0)},
		{"connection", &namedError{"APIConnectionError"}, transport(callbacks.CauseConnectionReset)},
		{
			"cancelled by the provider",
			geminiError{Code: 499, Status: "CANCELLED"},
			told(Transient, callbacks.CauseProviderError, 499),
		},
		{"unavailable", geminiError{Code: 503, Status: "UNAVAILABLE"}, told(Overloaded, callbacks.CauseOverloaded, 503)},
		{
			"exhausted",
			geminiError{Code: 429, Status: "RESOURCE_EXHAUSTED"},
			told(RateLimited, callbacks.CauseRateLimited, 429),
		},
		{"internal", geminiError{Code: 500, Status: "INTERNAL"}, told(Transient, callbacks.CauseProvider5xx, 500)},
		{
			"status text is no name",
			ollamaError{StatusCode: 502, Status: "502 Bad Gateway"},
			told(Transient, callbacks.CauseProvider5xx, 502),
		},
		{
			"claude inside the stream", &claudeError{StatusCode: 200, errorType: "overloaded_error"},
			told(Overloaded, callbacks.CauseOverloaded, 0),
		},
		{
			"claude rate limit", &claudeError{StatusCode: 429, errorType: "rate_limit_error"},
			told(RateLimited, callbacks.CauseRateLimited, 429),
		},
	})
}

func TestContextOverflow(t *testing.T) {
	t.Parallel()

	request := &http.Request{Method: http.MethodPost}

	runClassTests(t, []classTest{
		{
			"message", &openAIError{HTTPStatusCode: 400, Message: "This model's maximum context length is 8 tokens."},
			final(ContextOverflow, 400),
		},
		{
			"body", &deepSeekError{StatusCode: 400, Message: "Bad Request", ResponseBody: `{"m":"maximum context length"}`},
			final(ContextOverflow, 400),
		},
		{"bytes", &requestError{HTTPStatusCode: 413, Body: []byte("Prompt is too long")}, final(ContextOverflow, 413)},
		{
			"raw JSON", &claudeError{StatusCode: 400, Request: request, raw: `"prompt is too long: 9 tokens > 8 maximum"`},
			final(ContextOverflow, 400),
		},
		{
			"raw JSON of a half error", &claudeError{StatusCode: 400, raw: `"prompt is too long"`},
			final(ContextOverflow, 400),
		},
		{
			"gemini",
			geminiError{Code: 400, Message: "The input token count (9) exceeds the maximum number of tokens allowed (8)"},
			final(ContextOverflow, 400),
		},
		{"part of a word", &openAIError{HTTPStatusCode: 400, Message: "context windows"}, final(InvalidRequest, 400)},
		{
			"another status", &openAIError{HTTPStatusCode: 500, Message: "prompt is too long"},
			told(Transient, callbacks.CauseProvider5xx, 500),
		},
	})
}

func TestInventedStatus(t *testing.T) {
	t.Parallel()

	closed := &url.Error{Op: "Post", URL: "https://example.com", Err: io.EOF}

	runClassTests(t, []classTest{
		{"no response", &requestError{HTTPStatusCode: 500, Err: closed}, transport(callbacks.CauseConnectionReset)},
		{"empty body", &requestError{HTTPStatusCode: 401, Err: io.EOF}, final(Unauthorized, 401)},
		{"beside another error", errors.Join(openAI(401, nil, ""), closed), final(Unauthorized, 401)},
	})
}

func TestRetryAfterOfErrors(t *testing.T) {
	t.Parallel()

	response := &http.Response{Header: http.Header{"Retry-After": {"30"}}}
	limited := told(RateLimited, callbacks.CauseRateLimited, 429)
	limited.HasRetryAfter = true

	wait := func(d time.Duration) Class {
		c := limited
		c.RetryAfter = d

		return c
	}

	runClassTests(t, []classTest{
		{"field", waitError{429, 3 * time.Second}, wait(3 * time.Second)},
		{"no wait", waitError{429, 0}, told(RateLimited, callbacks.CauseRateLimited, 429)},
		{"response", &claudeError{StatusCode: 429, Response: response}, wait(30 * time.Second)},
		{"no response", &claudeError{StatusCode: 429}, told(RateLimited, callbacks.CauseRateLimited, 429)},
		{"details", geminiError{Code: 429, Details: []map[string]any{
			{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
		}}, wait(34 * time.Second)},
	})
}
