package faultllm

import (
	"fmt"
	"net/http"
)

type anthropicFailure struct {
	Type      string         `json:"type"`
	Error     anthropicError `json:"error"`
	RequestID string         `json:"request_id,omitempty"`
}

type anthropicError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

func (anthropic) refusalBody(r refusal) string {
	return string(marshal(anthropicFailure{
		Type: "error", Error: anthropicError{Type: r.errType, Message: r.message}, RequestID: "req_test",
	}))
}

// problem follows "Errors" in the Claude docs.
func (anthropic) problem(code int) refusal {
	r := refusal{status: code, errType: "api_error", message: "Internal server error"}
	if code < http.StatusInternalServerError {
		r.errType, r.message = invalidRequest, "The request is invalid."
	}
	switch code {
	case http.StatusUnauthorized:
		r.errType, r.message = "authentication_error", "invalid x-api-key"
	case http.StatusPaymentRequired:
		r.errType, r.message = "billing_error", "Your credit balance is too low to access the API."
	case http.StatusForbidden:
		r.errType, r.message = "permission_error", "Your API key does not have permission to use the specified resource."
	case http.StatusNotFound:
		r.errType, r.message = "not_found_error", "The requested resource could not be found."
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		r.errType, r.message = "timeout_error", "Request timed out."
	case http.StatusRequestEntityTooLarge:
		r.errType, r.message = "request_too_large", "Request exceeds the maximum allowed number of bytes."
	case http.StatusTooManyRequests:
		r.errType, r.message = "rate_limit_error", "This request would exceed your account's rate limit."
	case http.StatusServiceUnavailable, statusOverloaded:
		r.errType, r.message = "overloaded_error", "Overloaded"
	}
	return r
}

// invalid is a refusal of the request.
func (w anthropic) invalid(format string, args ...any) *refusal {
	r := w.problem(http.StatusBadRequest)
	r.message = fmt.Sprintf(format, args...)
	return &r
}

func (*anthropicEncoder) failure(f failure) []byte {
	if f.errType == "" {
		f.errType = "overloaded_error"
	}
	doc := marshal(anthropicFailure{Type: "error", Error: anthropicError{Type: f.errType, Message: f.message}})
	switch f.form {
	case FormData:
		return sse(doc)
	case FormNotJSON:
		return named("error", []byte(f.message))
	case FormUntyped:
		return named("error", untyped(f.message))
	default:
		return named("error", doc)
	}
}
