package faultllm

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
)

// The types and codes follow the vendors' pages on errors: "Error codes" of OpenAI and of DeepSeek, "Error messages" of
// Alibaba Cloud Model Studio, "Errors and debugging" of OpenRouter, and "Error codes" of Volcengine Ark.

const invalidRequest = "invalid_request_error"

func badRequest(param, code, format string, args ...any) *refusal {
	return &refusal{
		status: http.StatusBadRequest, errType: invalidRequest, code: code, param: param,
		message: fmt.Sprintf(format, args...),
	}
}

func (w openai) problem(code int) refusal {
	r := refusal{status: code, errType: "server_error", message: "The server had an error while processing your request."}
	if code < http.StatusInternalServerError {
		r.errType, r.message = invalidRequest, "The request is invalid."
	}
	switch code {
	case http.StatusUnauthorized:
		r.code, r.message = "invalid_api_key", "Incorrect API key provided."
	case http.StatusPaymentRequired:
		r.errType, r.code, r.message = "insufficient_quota", "insufficient_quota", "Insufficient Balance"
	case http.StatusForbidden:
		r.errType, r.code = "request_forbidden", "unsupported_country_region_territory"
		r.message = "Country, region, or territory not supported."
	case http.StatusNotFound:
		r.code, r.message = "model_not_found", "The model does not exist."
	case http.StatusRequestTimeout:
		r.errType, r.message = "timeout", "Request timed out."
	case http.StatusRequestEntityTooLarge:
		r.code, r.message = "request_too_large", "The request body is too large."
	case http.StatusUnprocessableEntity:
		r.code, r.message = "unprocessable_entity", "The request has invalid parameters."
	case http.StatusTooManyRequests:
		r.errType, r.code, r.message = "requests", "rate_limit_exceeded", "Rate limit reached."
	case http.StatusServiceUnavailable, statusOverloaded:
		r.message = "The engine is currently overloaded, please try again later."
	}
	return r
}

// statusOverloaded is what Anthropic, and those in front of it, send when they are overloaded.
const statusOverloaded = 529

func (w openai) refusalBody(r refusal) string {
	e := openaiError{Message: r.message, Type: r.errType, Param: optional(r.param)}
	if r.code != "" {
		e.Code = r.code
	}
	switch w.vendor {
	case DeepSeek:
		e.Code = e.Type
	case Qwen:
		return string(marshal(struct {
			Error     openaiError `json:"error"`
			RequestID string      `json:"request_id"`
		}{qwenError(r), "test-request"}))
	case OpenRouter:
		return string(marshal(openrouterFailure{
			Error: openrouterError{Message: r.message, Code: r.status}, UserID: "user_test",
		}))
	case Ark:
		e = arkError(r)
	case OpenAI, Anthropic, Gemini, Ollama, ArkResponses:
	}
	return string(marshal(openaiFailure{Error: e}))
}

type openrouterFailure struct {
	Error  openrouterError `json:"error"`
	UserID string          `json:"user_id"`
}

type openrouterError struct {
	Message string `json:"message"`
	Code    int    `json:"code"`
}

func qwenError(r refusal) openaiError {
	code := map[int]string{
		http.StatusBadRequest: "invalid_parameter_error", http.StatusUnauthorized: "invalid_api_key",
		http.StatusForbidden: "access_denied", http.StatusNotFound: "model_not_found",
		http.StatusTooManyRequests: "limit_requests", http.StatusInternalServerError: "internal_error",
		http.StatusServiceUnavailable: "ModelServingError",
	}[r.status]
	e := openaiError{Message: r.message, Type: r.errType, Code: code}
	if r.status == http.StatusBadRequest {
		e.Message = "<400> InternalError.Algo.InvalidParameter: " + r.message
	}
	return e
}

func arkError(r refusal) openaiError {
	names := map[int][2]string{
		http.StatusBadRequest:          {"InvalidParameter", "BadRequest"},
		http.StatusUnauthorized:        {"AuthenticationError", "Unauthorized"},
		http.StatusForbidden:           {"AccessDenied", "Forbidden"},
		http.StatusNotFound:            {"InvalidEndpointOrModel.NotFound", "NotFound"},
		http.StatusTooManyRequests:     {"RateLimitExceeded.EndpointRPMExceeded", "TooManyRequests"},
		http.StatusInternalServerError: {"InternalServiceError", "InternalServerError"},
		http.StatusServiceUnavailable:  {"ServerOverloaded", "InternalServerError"},
	}
	name, known := names[r.status]
	if !known {
		name = [2]string{"InternalServiceError", "InternalServerError"}
		if r.status < http.StatusInternalServerError {
			name = names[http.StatusBadRequest]
		}
	}
	return openaiError{Message: r.message + " Request id: test-request", Type: name[1], Param: new(r.param), Code: name[0]}
}

func (e *openaiEncoder) keepAlive() []byte {
	if e.vendor == OpenRouter {
		return []byte(": OPENROUTER PROCESSING\n\n")
	}
	return []byte(": keep-alive\n\n")
}

func (e *openaiEncoder) failure(f failure) []byte {
	body := e.failureBody(f)
	if e.finishes(f.form) {
		return e.finishing(body, f)
	}
	doc := marshal(openaiFailure{Error: body})
	switch f.form {
	case FormAfterComment:
		return slices.Concat(e.keepAlive(), sse(doc))
	case FormSpaced:
		return sse(append([]byte("{ "), doc[1:]...))
	case FormUntyped:
		return sse(untyped(f.message))
	case FormString:
		return sse(marshal(map[string]string{"error": f.message}))
	case FormBare:
		return append(doc, '\n')
	case FormBareOpen:
		return doc
	case FormNamed:
		return named("error", doc)
	case FormUnended:
		return bytes.TrimSuffix(sse(doc), []byte("\n"))
	default:
		return sse(doc)
	}
}

// untyped is an error object that says nothing but its message.
func untyped(message string) []byte {
	return marshal(map[string]map[string]string{"error": {"message": message}})
}

func (e *openaiEncoder) failureBody(f failure) openaiError {
	body := openaiError{Message: f.message, Type: f.errType}
	if body.Type == "" {
		body.Type = "server_error"
	}
	switch {
	case e.vendor == Ark && f.errType != "":
		body.Code, body.Param = f.errType, new("")
	case e.vendor == Ark:
		body.Code, body.Param = "InternalServiceError", new("")
	case e.vendor == DeepSeek, e.finishes(f.form):
		body.Code = body.Type
	}
	if f.form == FormNumericCode || f.form == FormFinishNumeric {
		body.Code = http.StatusBadGateway
	}
	return body
}

// finishes says whether the error comes as a chunk that ends the answer.
func (e *openaiEncoder) finishes(form ErrorForm) bool {
	return form == FormFinish || form == FormFinishText || form == FormFinishNumeric ||
		form == FormVendor && e.vendor == OpenRouter
}

func (e *openaiEncoder) finishing(body openaiError, f failure) []byte {
	c := e.chunk(event{kind: eventFinish, finish: "error"})
	c.Error = &body
	c.Choices[0].Delta.Content = new("")
	if f.form == FormFinishText || f.form == FormFinishNumeric {
		c.Choices[0].Delta.Content = new(f.text)
	}
	return sse(marshal(c))
}
