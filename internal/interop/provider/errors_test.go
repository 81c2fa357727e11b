package provider

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// meaning is a class without its status.
type meaning struct {
	kind  continuation.Kind
	cause callbacks.Cause
}

func permanent(k continuation.Kind) meaning { return meaning{k, callbacks.CausePermanent} }

func transient(c callbacks.Cause) meaning { return meaning{continuation.Transient, c} }

// byStatus is what a status means that nothing else is known of.
func byStatus() map[int]meaning {
	return map[int]meaning{
		400: permanent(continuation.InvalidRequest), 401: permanent(continuation.Unauthorized),
		402: permanent(continuation.QuotaExhausted), 403: permanent(continuation.Unauthorized),
		404: permanent(continuation.ModelNotFound), 408: transient(callbacks.CauseTimeout),
		409: transient(callbacks.CauseProviderError), 413: permanent(continuation.InvalidRequest),
		422: permanent(continuation.InvalidRequest), 429: {continuation.RateLimited, callbacks.CauseRateLimited},
		500: transient(callbacks.CauseProvider5xx), 502: transient(callbacks.CauseProvider5xx),
		503: {continuation.Overloaded, callbacks.CauseOverloaded}, 504: transient(callbacks.CauseProvider5xx),
		529: {continuation.Overloaded, callbacks.CauseOverloaded},
	}
}

// named is what the vendor's own name says beside the status: it is the more exact word.
func named(v faultllm.Vendor, code int) (meaning, bool) {
	switch {
	case code == 413 && (v == faultllm.OpenAI || v == faultllm.Anthropic):
		return permanent(continuation.ContextOverflow), true
	case code == 503 && (v == faultllm.OpenAI || v == faultllm.Qwen),
		code == 529 && (v == faultllm.OpenAI || v == faultllm.Qwen || v == faultllm.Ark || v == faultllm.ArkResponses):
		return transient(callbacks.CauseProvider5xx), true
	case code == 504 && (v == faultllm.Gemini || v == faultllm.Anthropic):
		return transient(callbacks.CauseTimeout), true
	}

	return meaning{}, false
}

// TestEveryStatusOfEveryClient refuses with every status, in the vendor's own form, as a proxy's page and without a body.
// Ollama's client hides the status of what is not its own form; the transport tells it.
func TestEveryStatusOfEveryClient(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			for code, status := range byStatus() {
				for body, f := range map[string]faultllm.Fault{
					"vendor": faultllm.Refuse(code, faultllm.RetryAfter{}),
					"page":   faultllm.Status(code, faultllm.RetryAfter{}, "<html><body>Bad day</body></html>"),
					"empty":  faultllm.Status(code, faultllm.RetryAfter{}, ""),
				} {
					name := fmt.Sprintf("%d %s", code, body)
					r, s := breakOnce(t, c, rig.Wiring{}, f)
					want, own := named(c.Vendor, code)
					if !own || body != "vendor" {
						want = status
					}
					checkRefusal(t, name, r, s, want, code)
					shown := code
					if c.Vendor == faultllm.Ollama && body == "page" {
						want, shown = transient(callbacks.CauseMalformedFrame), 0
					}
					assert.Equal(t, want, meaning{s.class.Kind, s.class.Cause}, "%s: %T %v", name, s.err, s.err)
					assert.Equal(t, shown, s.class.Status, name)
					if body == "vendor" {
						assert.Contains(t, chain(s.err), typeOf(c.Vendor, code), name)
					}
				}
			}
		})
	}
}

// typeOf is the type in which the vendor's own form of an error arrives.
func typeOf(v faultllm.Vendor, code int) string {
	switch {
	case v == faultllm.Ollama && code == 401:
		return "api.AuthorizationError"
	case v == faultllm.Ollama:
		return "api.StatusError"
	case v == faultllm.Anthropic:
		return "*apierror.Error"
	case v == faultllm.Gemini:
		return "genai.APIError"
	case v == faultllm.DeepSeek:
		return "*deepseek.APIError"
	case v == faultllm.Ark || v == faultllm.ArkResponses:
		return "*model.APIError"
	default:
		return "*openai.APIError"
	}
}

// chain returns the types of err and of all that it wraps.
func chain(err error) []string {
	var types []string
	for ; err != nil; err = errors.Unwrap(err) {
		types = append(types, fmt.Sprintf("%T", err))
	}

	return types
}

// checkRefusal holds what follows from a refusal: a repetition that tells its cause, or the client's error.
func checkRefusal(t *testing.T, name string, r *rig.Rig, s seen, want meaning, code int) {
	t.Helper()
	retried := rig.EventsOf[callbacks.OpenRetried](r)
	if want.cause == callbacks.CausePermanent {
		require.Error(t, s.end, name)
		assert.Empty(t, retried, name)
		assert.Empty(t, s.chunks, name)
		assert.Equal(t, 1, r.Server.Ledger().Requests, name)

		return
	}
	require.NoError(t, s.end, name)
	assert.Equal(t, "We leave at ten, not later.", rig.Concat(t, s.chunks).Content)
	if assert.Len(t, retried, 1, name) {
		assert.Equal(t, want.cause, retried[0].Cause, name)
		assert.Equal(t, code, retried[0].Status, name)
	}
}

// told are the names of errors inside a stream, and what they mean.
func told() map[string]meaning {
	return map[string]meaning{
		"server_error": transient(callbacks.CauseProviderError), "api_error": transient(callbacks.CauseProviderError),
		"overloaded_error":        {continuation.Overloaded, callbacks.CauseOverloaded},
		"rate_limit_error":        {continuation.RateLimited, callbacks.CauseRateLimited},
		"rate_limit_exceeded":     {continuation.RateLimited, callbacks.CauseRateLimited},
		"timeout_error":           transient(callbacks.CauseTimeout),
		"insufficient_quota":      permanent(continuation.QuotaExhausted),
		"context_length_exceeded": permanent(continuation.ContextOverflow),
		"invalid_request_error":   permanent(continuation.InvalidRequest),
		"authentication_error":    permanent(continuation.Unauthorized),
		"content_filter":          permanent(continuation.ContentFiltered),
		"unheard_of":              {continuation.Unknown, callbacks.CauseProviderError},
	}
}

// toldByGoogle are the same in Gemini's words.
func toldByGoogle() map[string]meaning {
	return map[string]meaning{
		"UNAVAILABLE":        {continuation.Overloaded, callbacks.CauseOverloaded},
		"RESOURCE_EXHAUSTED": {continuation.RateLimited, callbacks.CauseRateLimited},
		"INTERNAL":           transient(callbacks.CauseProvider5xx), "DEADLINE_EXCEEDED": transient(callbacks.CauseTimeout),
		"CANCELLED":        transient(callbacks.CauseProviderError),
		"INVALID_ARGUMENT": permanent(continuation.InvalidRequest), "PERMISSION_DENIED": permanent(continuation.Unauthorized),
		"UNHEARD_OF": transient(callbacks.CauseProvider5xx), // its code is 500
	}
}

// tells are the forms of an error whose name the client passes on.
func tells(v faultllm.Vendor) []faultllm.ErrorForm {
	switch v {
	case faultllm.OpenAI, faultllm.Qwen, faultllm.Ark:
		return []faultllm.ErrorForm{faultllm.FormVendor, faultllm.FormBare, faultllm.FormUnended}
	case faultllm.OpenRouter:
		return []faultllm.ErrorForm{faultllm.FormFinishText, faultllm.FormBare, faultllm.FormData, faultllm.FormUnended}
	case faultllm.Anthropic:
		return []faultllm.ErrorForm{faultllm.FormVendor}
	case faultllm.Gemini:
		return []faultllm.ErrorForm{faultllm.FormVendor, faultllm.FormMultiLine}
	case faultllm.ArkResponses:
		return []faultllm.ErrorForm{faultllm.FormData}
	case faultllm.DeepSeek, faultllm.Ollama:
	}

	return nil
}

// TestEveryErrorInsideAStream sends errors in the middle of an answer, in every form that the vendor has.
func TestEveryErrorInsideAStream(t *testing.T) {
	for _, c := range clients.All() {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			names := told()
			if c.Vendor == faultllm.Gemini {
				names = toldByGoogle()
			}
			for _, form := range faultllm.ErrorForms(c.Vendor) {
				for name, want := range names {
					_, s := breakOnce(t, c, rig.Wiring{}, faultllm.InBandForm(faultllm.InText(1), form, name, "it broke"))
					if !slices.Contains(tells(c.Vendor), form) {
						want = untold(c.Vendor, form, want)
					}
					assert.Equal(t, want, meaning{s.class.Kind, s.class.Cause}, "%v %s: %T %v", form, name, s.err, s.err)
					if want.cause == callbacks.CausePermanent {
						require.Error(t, s.end, name)
						assert.Equal(t, s.err, s.end, "the client's error, as it is")
					} else {
						require.NoError(t, s.end, name)
					}
				}
			}
		})
	}
}

// untold is what the other forms of an error look like.
func untold(v faultllm.Vendor, f faultllm.ErrorForm, want meaning) meaning {
	switch v {
	case faultllm.Gemini:
		return transient(callbacks.CauseProviderError) // "gemini result is empty"
	case faultllm.Ollama:
		return meaning{continuation.Unknown, callbacks.CauseUnknown} // the text is all there is
	case faultllm.Anthropic:
		if f == faultllm.FormNotJSON || f == faultllm.FormUntyped {
			return transient(callbacks.CauseProviderError)
		}

		return meaning{} // an error without the event's name is no event
	case faultllm.OpenAI, faultllm.Qwen:
		return untoldByFamily(f, want)
	case faultllm.OpenRouter:
		switch f {
		case faultllm.FormFinishNumeric:
			return transient(callbacks.CauseMalformedFrame)
		case faultllm.FormVendor:
			return transient(callbacks.CauseTruncated) // with the finish reason "error"
		case faultllm.FormSpaced, faultllm.FormBareOpen:
			return transient(callbacks.CauseUnknown) // the client panics at the end of a body without a finish reason
		default:
			return untoldByFamily(f, want)
		}
	case faultllm.ArkResponses:
		return untoldByResponses(f)
	case faultllm.Ark:
		if f == faultllm.FormUntyped {
			return transient(callbacks.CauseProviderError)
		}
	case faultllm.DeepSeek:
	}

	return finished(f)
}

// untoldByResponses is what Ark's client for responses makes of the forms: of most errors it passes the text on.
func untoldByResponses(f faultllm.ErrorForm) meaning {
	switch f {
	case faultllm.FormVendor, faultllm.FormUntyped:
		return transient(callbacks.CauseProviderError)
	case faultllm.FormAfterComment, faultllm.FormSpaced, faultllm.FormUnknown:
		return transient(callbacks.CauseMalformedFrame)
	case faultllm.FormFailed:
		return transient(callbacks.CauseProviderError) // with the error's text for a finish reason
	case faultllm.FormFailedUnbilled, faultllm.FormIncompleteUnbilled:
		return transient(callbacks.CauseUnknown) // the client panics where the usage is missing
	default:
		return meaning{}
	}
}

func untoldByFamily(f faultllm.ErrorForm, want meaning) meaning {
	switch f {
	case faultllm.FormUntyped:
		return transient(callbacks.CauseProviderError)
	case faultllm.FormAfterComment, faultllm.FormNamed, faultllm.FormString:
		return transient(callbacks.CauseMalformedFrame)
	case faultllm.FormNumericCode:
		if want == permanent(continuation.InvalidRequest) || want.cause == callbacks.CauseProviderError {
			return transient(callbacks.CauseProvider5xx) // a general name says less than the number
		}

		return want
	default:
		return finished(f)
	}
}

// finished is an end with the finish reason "error", or no error at all.
func finished(f faultllm.ErrorForm) meaning {
	switch f {
	case faultllm.FormFinish, faultllm.FormFinishText, faultllm.FormFinishNumeric:
		return transient(callbacks.CauseTruncated)
	default:
		return meaning{}
	}
}
