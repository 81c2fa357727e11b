package faultllm

import (
	"fmt"
	"net/http"
	"strings"
)

// Vendor is a provider whose wire format the server speaks. All of them are served at once, each at its own paths.
type Vendor int

// The vendors. The zero value is OpenAI.
const (
	OpenAI       Vendor = iota // POST /v1/chat/completions
	Anthropic                  // POST /v1/messages
	Gemini                     // POST /v1beta/models/{model}:streamGenerateContent?alt=sse and :generateContent
	Ollama                     // POST /api/chat
	DeepSeek                   // POST /chat/completions and /beta/chat/completions
	Qwen                       // POST /compatible-mode/v1/chat/completions
	OpenRouter                 // POST /api/v1/chat/completions
	Ark                        // POST /api/v3/chat/completions
	ArkResponses               // POST /api/v3/responses
)

// Vendors returns all vendors.
func Vendors() []Vendor {
	return []Vendor{OpenAI, Anthropic, Gemini, Ollama, DeepSeek, Qwen, OpenRouter, Ark, ArkResponses}
}

// String returns the vendor's name, which is also the type name of its Eino component.
func (v Vendor) String() string {
	names := [...]string{"OpenAI", "Claude", "Gemini", "Ollama", "DeepSeek", "Qwen", "OpenRouter", "Ark", "ResponsesAPI"}
	if v < 0 || int(v) >= len(names) {
		return fmt.Sprintf("Vendor(%d)", int(v))
	}
	return names[v]
}

// Error returns the body with which the vendor refuses a request with this status code.
func (v Vendor) Error(code int) string {
	w := v.wire(rules{})
	return w.refusalBody(w.problem(code))
}

// VendorError is [Vendor.Error] of [OpenAI].
func VendorError(code int) string { return OpenAI.Error(code) }

// BaseURL returns what the vendor's client takes for its base URL. That of [DeepSeek] serves its beta features behind
// another "/beta".
func (s *Server) BaseURL(v Vendor) string {
	root := strings.TrimSuffix(s.url, "/v1")
	switch v {
	case OpenAI:
		return root + "/v1"
	case Qwen:
		return root + "/compatible-mode/v1"
	case OpenRouter:
		return root + "/api/v1"
	case Ark, ArkResponses:
		return root + "/api/v3"
	case Anthropic, Gemini, Ollama, DeepSeek:
	}
	return root
}

// route says whose path a request is for.
func route(r *http.Request) (Vendor, *refusal) {
	v, known := pathVendor(r.URL.Path)
	switch {
	case !known:
		return OpenAI, &refusal{
			status: http.StatusNotFound, errType: invalidRequest, code: "unknown_url",
			message: fmt.Sprintf("Unknown request URL: %s %s.", r.Method, r.URL.Path),
		}
	case r.Method != http.MethodPost:
		return v, &refusal{
			status: http.StatusMethodNotAllowed, errType: invalidRequest, code: "method_not_supported",
			message: fmt.Sprintf("Not allowed to %s on %s.", r.Method, r.URL.Path),
		}
	}
	return v, nil
}

func pathVendor(path string) (Vendor, bool) {
	switch path {
	case "/v1/chat/completions":
		return OpenAI, true
	case "/v1/messages":
		return Anthropic, true
	case "/api/chat":
		return Ollama, true
	case "/chat/completions", deepseekBeta:
		return DeepSeek, true
	case "/compatible-mode/v1/chat/completions":
		return Qwen, true
	case "/api/v1/chat/completions":
		return OpenRouter, true
	case "/api/v3/chat/completions":
		return Ark, true
	case "/api/v3/responses":
		return ArkResponses, true
	}
	_, _, known := geminiModel(path)
	return Gemini, known
}

func (v Vendor) wire(r rules) wire {
	switch v {
	case Anthropic:
		return anthropic{rules: r}
	case Gemini:
		return gemini{rules: r}
	case Ollama:
		return ollama{rules: r}
	case ArkResponses:
		return responses{rules: r}
	case OpenAI, DeepSeek, Qwen, OpenRouter, Ark:
	}
	return openai{vendor: v, rules: r}
}

// bearer returns the key of a request that carries it as a bearer token.
func bearer(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return key
}
