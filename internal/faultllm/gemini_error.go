package faultllm

import (
	"fmt"
	"net/http"
)

type geminiFailure struct {
	Error geminiError `json:"error"`
}

type geminiError struct {
	Code    int               `json:"code"`
	Message string            `json:"message"`
	Status  string            `json:"status"`
	Details []geminiRetryInfo `json:"details,omitempty"`
}

type geminiRetryInfo struct {
	Type  string `json:"@type"`
	Delay string `json:"retryDelay"`
}

func (gemini) refusalBody(r refusal) string {
	e := geminiError{Code: r.status, Message: r.message, Status: r.errType}
	if r.delay != "" {
		e.Details = []geminiRetryInfo{{Type: "type.googleapis.com/google.rpc.RetryInfo", Delay: r.delay}}
	}
	return string(indent(marshal(geminiFailure{Error: e})))
}

// problem follows "Troubleshooting" in the Gemini docs, and the codes of google.rpc.Code.
func (gemini) problem(code int) refusal {
	r := refusal{status: code, errType: "INTERNAL", message: "An internal error has occurred."}
	if code < http.StatusInternalServerError {
		r.errType, r.message = "INVALID_ARGUMENT", "Request contains an invalid argument."
	}
	switch code {
	case http.StatusUnauthorized:
		r.errType, r.message = "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."
	case http.StatusForbidden:
		r.errType, r.message = "PERMISSION_DENIED", "The caller does not have permission"
	case http.StatusNotFound:
		r.errType, r.message = "NOT_FOUND", "The model is not found for API version v1beta."
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		r.errType, r.message = "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."
	case http.StatusTooManyRequests:
		r.errType, r.message = "RESOURCE_EXHAUSTED", "You exceeded your current quota."
	case http.StatusServiceUnavailable, statusOverloaded:
		r.errType, r.message = "UNAVAILABLE", "The model is overloaded. Please try again later."
	}
	return r
}

func (w gemini) invalid(format string, args ...any) *refusal {
	r := w.problem(http.StatusBadRequest)
	r.message = fmt.Sprintf(format, args...)
	return &r
}

func geminiCode(status string) int {
	switch status {
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION":
		return http.StatusBadRequest
	case "PERMISSION_DENIED":
		return http.StatusForbidden
	case "RESOURCE_EXHAUSTED":
		return http.StatusTooManyRequests
	case "CANCELLED":
		return 499
	case "UNAVAILABLE":
		return http.StatusServiceUnavailable
	case "DEADLINE_EXCEEDED":
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

func (e *geminiEncoder) failure(f failure) []byte {
	if f.errType == "" {
		f.errType = "UNAVAILABLE"
	}
	doc := marshal(geminiFailure{Error: geminiError{Code: geminiCode(f.errType), Message: f.message, Status: f.errType}})
	switch f.form {
	case FormMultiLine:
		return append(indent(doc), "\r\n\r\n"...)
	case FormUntyped:
		return append(untyped(f.message), "\r\n\r\n"...)
	case FormData:
		return geminiSSE(doc)
	case FormBlocked:
		return geminiSSE(marshal(geminiResponse{
			Feedback: &geminiFeedback{BlockReason: "OTHER"}, Usage: e.usageSoFar(), Model: e.model, ID: e.id,
		}))
	case FormUsageOnly:
		return geminiSSE(marshal(geminiResponse{Usage: e.usageSoFar(), Model: e.model, ID: e.id}))
	default:
		return append(doc, "\r\n\r\n"...)
	}
}
