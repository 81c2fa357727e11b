package continuation

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

// TestErrorsInsideAStreamWithoutAType are classified by their words, in each shape in which clients return them.
func TestErrorsInsideAStreamWithoutAType(t *testing.T) {
	t.Parallel()

	shapes := map[string]func(string) error{
		"typed, wrapped": func(s string) error { return fmt.Errorf("stream: %w", &openAIError{Message: s}) },
		"raw only": func(s string) error {
			return &claudeError{StatusCode: http.StatusOK, Request: &http.Request{Method: http.MethodPost}, raw: s}
		},
		"text only": func(s string) error { return errors.New("received error: " + s) },
	}

	for said, want := range map[string]Class{
		"This model's maximum context length is 8 tokens": final(ContextOverflow, 0),
		"You exceeded your current quota.":                final(QuotaExhausted, 0),
		"The input may contain sensitive information.":    final(ContentFiltered, 0),
		"Incorrect API key provided":                      final(Unauthorized, 0),
		"Rate limit reached for requests":                 told(RateLimited, callbacks.CauseRateLimited, 0),
		"Too many requests":                               told(RateLimited, callbacks.CauseRateLimited, 0),
		"The model is overloaded, try again later":        told(Overloaded, callbacks.CauseOverloaded, 0),
		"The service is temporarily unavailable":          told(Overloaded, callbacks.CauseOverloaded, 0),
		"The request timed out":                           told(Transient, callbacks.CauseTimeout, 0),
		"it broke":                                        told(Transient, callbacks.CauseProviderError, 0),
		"we could not generate it":                        told(Transient, callbacks.CauseProviderError, 0),
	} {
		for name, shape := range shapes {
			if got := DefaultClassifier(shape(said)); got != want {
				t.Errorf("%s, %q:\n got %+v\nwant %+v", name, said, got, want)
			}
		}
	}
}

// TestANameNobodyKnowsStaysUnknown is an error that the provider named, unless its words say what it is.
func TestANameNobodyKnowsStaysUnknown(t *testing.T) {
	t.Parallel()

	for _, err := range []error{
		&openAIError{Type: "unheard_of", Message: "it broke"}, &openAIError{Code: 7, Message: "it broke"},
		&openAIError{Code: "unheard_of", Message: "it broke"},
	} {
		if got, want := DefaultClassifier(err), told(Unknown, callbacks.CauseProviderError, 0); got != want {
			t.Errorf("%#v: got %+v, want %+v", err, got, want)
		}
	}

	err := &openAIError{Type: "unheard_of", Message: "The model is overloaded"}
	if got := DefaultClassifier(err); got.Kind != Overloaded {
		t.Errorf("%#v: got %+v", err, got)
	}
}
