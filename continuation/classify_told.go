package continuation

import (
	"fmt"
	"strings"

	"github.com/eino-carryon/carryon/callbacks"
)

// toldClass classifies what a provider said inside a stream and gave no known name. Its words are the provider's, so that
// they are taken at less than those of an unknown error. One that says nothing at all is transient: the request was taken,
// and what is wrong with a request is said before that.
func (r reading) toldClass(err error) Class {
	plain := saidInText(err)
	if !r.inBand && !plain {
		return unknown()
	}

	for _, p := range toldPhrases() {
		if speaksOf(err, p.texts...) {
			return p.class
		}
	}

	if r.named {
		return provider(Unknown, callbacks.CauseProviderError)
	}

	return provider(Transient, callbacks.CauseProviderError)
}

// saidInText says whether a client put the provider's words into a text of its own. Ark's client for responses does so.
func saidInText(err error) bool {
	for _, node := range nodes(err) {
		if strings.HasPrefix(node.Error(), "received error: ") {
			return true
		}
	}

	return false
}

type toldPhrase struct {
	class Class
	texts []string // in lower case
}

// toldPhrases are what providers say of their errors. What is for good comes first: it often speaks of limits too.
func toldPhrases() []toldPhrase {
	return []toldPhrase{
		{permanent(ContextOverflow), contextPhrases()},
		{permanent(QuotaExhausted), []string{
			"insufficient balance", "insufficient quota", "insufficient credits", "exceeded your current quota", "overdue balance",
		}},
		{permanent(ContentFiltered), []string{
			"sensitive information", "sensitive content", "content policy", "content filter", "inappropriate content",
		}},
		{permanent(Unauthorized), []string{"invalid api key", "incorrect api key", "api key is invalid", "permission denied"}},
		{provider(RateLimited, callbacks.CauseRateLimited), []string{
			"rate limit", "rate limits", "rate limited", "too many requests", "requests per minute", "tokens per minute",
		}},
		{provider(Overloaded, callbacks.CauseOverloaded), []string{
			"overloaded", "server is busy", "server busy", "at capacity", "service unavailable", "temporarily unavailable",
			"currently unavailable",
		}},
		{provider(Transient, callbacks.CauseTimeout), []string{"timed out", "timeout"}},
	}
}

// inBandError is an error that a client left in a chunk instead of returning it.
type inBandError struct {
	Code    string
	Message string
}

// disguisedError returns the error that a finish reason is: one of several words is what the provider said.
func disguisedError(reason string) error {
	if strings.ContainsRune(reason, ' ') {
		return &inBandError{Message: reason}
	}

	return fmt.Errorf("%w: finish reason %q", ErrTruncated, callbacks.BoundMessage(reason))
}

// Error returns the code and the message.
func (e *inBandError) Error() string {
	if e.Code == "" {
		return "the provider ended the stream with an error: " + e.Message
	}

	return fmt.Sprintf("the provider ended the stream with an error (code %q): %s", e.Code, e.Message)
}
