package continuation

import (
	"net/http"
	"time"
)

// The types below look like those of the providers' clients.

type openAIError struct {
	Code           any
	Message        string
	Type           string
	HTTPStatus     string
	HTTPStatusCode int
}

func (e *openAIError) Error() string { return e.Message }

type requestError struct {
	HTTPStatusCode int
	Err            error
	Body           []byte
}

func (e *requestError) Error() string { return "request failed" }
func (e *requestError) Unwrap() error { return e.Err }

type claudeType string

type claudeError struct {
	StatusCode int
	Request    *http.Request
	Response   *http.Response
	errorType  claudeType
	raw        string
}

func (e *claudeError) Type() claudeType { return e.errorType }
func (e *claudeError) RawJSON() string  { return e.raw }

// Error panics without a request, as the original does.
func (e *claudeError) Error() string { return e.Request.Method + " " + e.raw }

type geminiError struct {
	Code    int
	Message string
	Status  string
	Details []map[string]any
}

func (e geminiError) Error() string { return e.Message }

type ollamaError struct {
	StatusCode   int
	Status       string
	ErrorMessage string
}

func (e ollamaError) Error() string { return e.ErrorMessage }

type deepSeekError struct {
	StatusCode   int
	APICode      int
	Message      string
	ResponseBody string
}

func (e *deepSeekError) Error() string { return e.Message }

type pointerError struct {
	Code *string
	Type *string
}

func (e pointerError) Error() string { return "pointers" }

type ThrottlingException struct{ Message *string }

func (e *ThrottlingException) Error() string { return "slow down" }

type namedError struct{ code string }

func (e *namedError) Error() string     { return "named" }
func (e *namedError) ErrorCode() string { return e.code }

type methodError struct{ status int }

func (e methodError) Error() string       { return "method" }
func (e methodError) HTTPStatusCode() int { return e.status }

type waitError struct {
	StatusCode int
	RetryAfter time.Duration
}

func (e waitError) Error() string { return "wait" }
