package faultllm_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestErrorForms looks at how an error ends a stream.
func TestErrorForms(t *testing.T) {
	const (
		object  = `{"error":{"message":"boom","type":"server_error","param":null,"code":null}}`
		coded   = `{"error":{"message":"boom","type":"server_error","param":null,"code":"server_error"}}`
		claude  = `{"type":"error","error":{"type":"overloaded_error","message":"boom"}}`
		google  = `{"error":{"code":503,"message":"boom","status":"UNAVAILABLE"}}`
		finish  = `"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n"
		untyped = `{"error":{"message":"boom"}}`
		failed  = `{"type":"error","code":"InternalServiceError","message":"boom","sequence_number":12}`
		inside  = `{"error":{"message":"boom","type":"InternalServiceError","param":"","code":"InternalServiceError"}}`
		ark     = `{"error":{"message":"boom","type":"server_error","param":"","code":"InternalServiceError"}}`
	)
	for _, test := range []struct {
		vendor faultllm.Vendor
		form   faultllm.ErrorForm
		want   string // the end of the body
	}{
		{faultllm.OpenAI, faultllm.FormVendor, "\n\ndata: " + object + "\n\n"},
		{faultllm.OpenAI, faultllm.FormAfterComment, ": keep-alive\n\ndata: " + object + "\n\n"},
		{faultllm.OpenAI, faultllm.FormSpaced, "\n\ndata: { " + object[1:] + "\n\n"},
		{faultllm.OpenAI, faultllm.FormString, "data: {\"error\":\"boom\"}\n\n"},
		{faultllm.OpenAI, faultllm.FormNumericCode, `"param":null,"code":502}}` + "\n\n"},
		{faultllm.OpenAI, faultllm.FormBare, "\n\n" + object + "\n"},
		{faultllm.OpenAI, faultllm.FormBareOpen, "\n\n" + object},
		{faultllm.OpenAI, faultllm.FormUntyped, "\n\ndata: " + untyped + "\n\n"},
		{faultllm.Anthropic, faultllm.FormUntyped, "\n\nevent: error\ndata: " + untyped + "\n\n"},
		{faultllm.Gemini, faultllm.FormUntyped, "\r\n\r\n" + untyped + "\r\n\r\n"},
		{faultllm.ArkResponses, faultllm.FormUntyped, "\n\ndata: " + untyped + "\n\n"},
		{faultllm.OpenAI, faultllm.FormNamed, "\n\nevent: error\ndata: " + object + "\n\n"},
		{faultllm.OpenAI, faultllm.FormUnended, "\n\ndata: " + object + "\n"},
		{faultllm.OpenAI, faultllm.FormFinish, finish},
		{faultllm.OpenAI, faultllm.FormFinishText, strings.Replace(finish, `""`, `"two "`, 1)},
		{faultllm.OpenAI, faultllm.FormFinishNumeric, strings.Replace(finish, `""`, `"two "`, 1)},
		{faultllm.OpenAI, faultllm.FormMultiLine, "\n\ndata: " + object + "\n\n"},
		{faultllm.DeepSeek, faultllm.FormVendor, "data: " + coded + "\n\n"},
		{faultllm.Qwen, faultllm.FormVendor, "data: " + object + "\n\n"},
		{faultllm.Ark, faultllm.FormVendor, "data: " + ark + "\n\n"},
		{faultllm.OpenRouter, faultllm.FormVendor, finish},
		{faultllm.OpenRouter, faultllm.FormData, "data: " + object + "\n\n"},
		{faultllm.Anthropic, faultllm.FormVendor, "\n\nevent: error\ndata: " + claude + "\n\n"},
		{faultllm.Anthropic, faultllm.FormData, "\n\ndata: " + claude + "\n\n"},
		{faultllm.Anthropic, faultllm.FormNotJSON, "event: error\ndata: boom\n\n"},
		{faultllm.Gemini, faultllm.FormVendor, "\r\n\r\n" + google + "\r\n\r\n"},
		{faultllm.Gemini, faultllm.FormMultiLine, "\r\n\r\n{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"boom\",\n" +
			"    \"status\": \"UNAVAILABLE\"\n  }\n}\r\n\r\n"},
		{faultllm.Gemini, faultllm.FormData, "\r\n\r\ndata: " + google + "\r\n\r\n"},
		{faultllm.Gemini, faultllm.FormBlocked, `"modelVersion":"carryon-test-1","responseId":"test000000"}` + "\r\n\r\n"},
		{faultllm.Gemini, faultllm.FormUsageOnly, `"modelVersion":"carryon-test-1","responseId":"test000000"}` + "\r\n\r\n"},
		{faultllm.ArkResponses, faultllm.FormVendor, "\n\nevent: error\ndata: " + failed + "\n\n"},
		{faultllm.ArkResponses, faultllm.FormAfterComment, "\n\n: keep-alive\n\nevent: error\ndata: " + failed + "\n\n"},
		{faultllm.ArkResponses, faultllm.FormUnended, "\n\nevent: error\ndata: " + failed + "\n"},
		{faultllm.ArkResponses, faultllm.FormData, "\n\ndata: " + inside + "\n\n"},
		{faultllm.ArkResponses, faultllm.FormSpaced, "\n\ndata: { " + inside[1:] + "\n\n"},
		{faultllm.ArkResponses, faultllm.FormNumericCode, `"param":"","code":502}}` + "\n\n"},
		{faultllm.ArkResponses, faultllm.FormString, "data: {\"error\":\"boom\"}\n\n"},
		{faultllm.ArkResponses, faultllm.FormBare, "\n\n" + inside + "\n"},
		{
			faultllm.ArkResponses, faultllm.FormFailed,
			`"status":"failed","error":{"code":"InternalServiceError","message":"boom"},"usage":{"input_tokens":2,` +
				`"output_tokens":0,"total_tokens":2,"input_tokens_details":{"cached_tokens":0},` +
				`"output_tokens_details":{"reasoning_tokens":0}}},"sequence_number":12}` + "\n\n",
		},
		{
			faultllm.ArkResponses, faultllm.FormFailedUnbilled,
			`"status":"failed","error":{"code":"InternalServiceError","message":"boom"}},"sequence_number":12}` + "\n\n",
		},
		{
			faultllm.ArkResponses, faultllm.FormIncompleteUnbilled,
			`"status":"incomplete","incomplete_details":{"reason":"length"}},"sequence_number":12}` + "\n\n",
		},
		{faultllm.ArkResponses, faultllm.FormUnknown, "event: response.unheard_of\ndata: " + strings.Replace(failed, `"error"`, `"response.unheard_of"`, 1) + "\n\n"},
		{faultllm.Ollama, faultllm.FormVendor, "\n{\"error\":\"boom\"}\n"},
	} {
		t.Run(test.vendor.String()+" "+test.form.String(), func(t *testing.T) {
			f := faultllm.InBandForm(faultllm.InText(1), test.form, "", "boom")
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
			got := talk(t, client(t), s, test.vendor, speak(test.vendor, true, says("user", "hello")))
			if !strings.HasSuffix(got.raw, test.want) {
				t.Errorf("body ends in %q, want %q", got.raw[max(0, len(got.raw)-200):], test.want)
			}
			equal(t, "error", got.err, nil)
			rec := record(t, s, 0)
			equal(t, "lost", rec.Lost, 0)
			billed := 3 // of the reasoning and "one ".
			if test.form == faultllm.FormFinishText || test.form == faultllm.FormFinishNumeric {
				billed++
			}
			equal(t, "billed", rec.Completion, billed)
		})
	}
}

// TestErrorFormsAreDistinct looks at the forms of every vendor.
func TestErrorFormsAreDistinct(t *testing.T) {
	for _, v := range faultllm.Vendors() {
		seen := map[string]faultllm.ErrorForm{}
		for _, form := range faultllm.ErrorForms(v) {
			f := faultllm.InBandForm(faultllm.InText(1), form, "", "boom")
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
			raw := talk(t, client(t), s, v, speak(v, true, says("user", "hello"))).raw
			if before, known := seen[raw]; known {
				t.Errorf("%v: %v is %v", v, form, before)
			}
			seen[raw] = form
		}
	}
}

// TestInBandStall sends an error and leaves the stream open.
func TestInBandStall(t *testing.T) {
	f := faultllm.InBandStall(faultllm.InText(1), faultllm.FormVendor, "", "boom")
	s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
	res, err := post(t.Context(), client(t), s, request([]msg{user("hello")}, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitFault(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	equal(t, "ended", s.Ledger().Records[0].Ended.IsZero(), true)
	_ = res.Body.Close()
	if _, err := s.WaitDisconnect(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// TestVendorErrors looks at the types that the vendors give to status codes.
func TestVendorErrors(t *testing.T) {
	for _, test := range []struct {
		vendor faultllm.Vendor
		types  map[int]string // as the vendor calls it: a type, a code or a status
	}{
		{faultllm.OpenAI, map[int]string{
			400: `"invalid_request_error"`, 401: `"invalid_api_key"`, 403: `"request_forbidden"`, 404: `"model_not_found"`,
			408: `"timeout"`, 413: `"invalid_request_error"`, 422: `"invalid_request_error"`, 429: `"rate_limit_exceeded"`,
			500: `"server_error"`, 503: `"server_error"`, 529: `"server_error"`,
		}},
		{faultllm.Anthropic, map[int]string{
			400: `"invalid_request_error"`, 401: `"authentication_error"`, 402: `"billing_error"`, 403: `"permission_error"`,
			404: `"not_found_error"`, 413: `"request_too_large"`, 422: `"invalid_request_error"`, 429: `"rate_limit_error"`,
			500: `"api_error"`, 504: `"timeout_error"`, 529: `"overloaded_error"`,
		}},
		{faultllm.Gemini, map[int]string{
			400: `"INVALID_ARGUMENT"`, 401: `"UNAUTHENTICATED"`, 403: `"PERMISSION_DENIED"`, 404: `"NOT_FOUND"`,
			429: `"RESOURCE_EXHAUSTED"`, 500: `"INTERNAL"`, 503: `"UNAVAILABLE"`, 504: `"DEADLINE_EXCEEDED"`,
		}},
		{faultllm.Ollama, map[int]string{404: "try pulling it first", 500: "terminated", 503: "server busy"}},
		{faultllm.DeepSeek, map[int]string{
			400: `"code":"invalid_request_error"`, 402: "Insufficient Balance", 422: `"invalid_request_error"`, 503: "overloaded",
		}},
		{faultllm.Qwen, map[int]string{400: `"invalid_parameter_error"`, 429: `"limit_requests"`, 500: `"internal_error"`}},
		{faultllm.OpenRouter, map[int]string{400: `"code":400`, 402: `"code":402`, 408: `"code":408`, 429: `"code":429`, 503: `"code":503`}},
		{faultllm.Ark, map[int]string{
			400: `"InvalidParameter"`, 401: `"AuthenticationError"`, 408: `"InvalidParameter"`,
			429: `"RateLimitExceeded.EndpointRPMExceeded"`, 500: `"InternalServiceError"`, 502: `"InternalServiceError"`,
		}},
	} {
		for code, want := range test.types {
			body := test.vendor.Error(code)
			if !strings.Contains(body, want) || !json.Valid([]byte(body)) {
				t.Errorf("%v %d: %s, want %s in it", test.vendor, code, body, want)
			}
		}
	}
	equal(t, "VendorError", faultllm.VendorError(http.StatusTooManyRequests), faultllm.OpenAI.Error(http.StatusTooManyRequests))
}

// TestKeys sends the key where each vendor's client puts it.
func TestKeys(t *testing.T) {
	for _, v := range faultllm.Vendors() {
		s := start(t, faultllm.Config{Script: faultllm.Reply(faultllm.Say("x")), APIKey: "invented"})
		header, prefix := "Authorization", "Bearer "
		switch v {
		case faultllm.Anthropic:
			header, prefix = "X-Api-Key", ""
		case faultllm.Gemini:
			header, prefix = "X-Goog-Api-Key", ""
		default:
		}
		words := speak(v, false, says("user", "hi"))
		for key, status := range map[string]int{"invented": http.StatusOK, "another": http.StatusUnauthorized} {
			headers := map[string]string{"Anthropic-Version": "2023-06-01", header: prefix + key}
			got := talk(t, client(t), s, v, speech{path: words.path, header: headers, body: words.body})
			equal(t, v.String()+" "+key, got.status, status)
		}
	}
}
