package continuation

import (
	"fmt"
	"io"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

// TestADisguisedEndIsJudgedByItsError reads the error that a client leaves beside the finish reason "error", if it leaves
// one.
func TestADisguisedEndIsJudgedByItsError(t *testing.T) {
	t.Parallel()

	mid := fmt.Errorf("%w: finish reason %q", ErrTruncated, "error")
	plainError := Class{Kind: Transient, Cause: callbacks.CauseProviderError, ErrorKind: callbacks.KindProviderError}

	for _, test := range []struct {
		name    string
		err     error
		content bool
		verdict verdict
		want    Class
	}{
		{"nothing told", mid, true, verdictInterrupted, plainError},
		{"nothing told, no content", mid, false, verdictNotOpened, plainError},
		{"a clean end", io.EOF, true, verdictInterrupted, plainError},
		{"unknown", &inBandError{Code: "unheard_of"}, true, verdictInterrupted, plainError},
		{"no credit", &inBandError{Code: "insufficient_quota"}, true, verdictFatal, permanent(QuotaExhausted)},
		{"no credit, no content", &inBandError{Code: "insufficient_quota"}, false, verdictFatal, permanent(QuotaExhausted)},
		{"no credit, in words", disguisedError("You exceeded your current quota."), true, verdictFatal, permanent(QuotaExhausted)},
		{"a bad day, in words", disguisedError("It broke today."), true, verdictInterrupted, plainError},
		{"a bad day, in a word", disguisedError("failed"), true, verdictInterrupted, plainError},
		{
			"overloaded", &inBandError{Code: "overloaded_error"}, true, verdictInterrupted,
			provider(Overloaded, callbacks.CauseOverloaded),
		},
	} {
		e := ending{err: test.err, finish: finishDisguised, content: test.content, class: DefaultClassifier(test.err)}
		if v, class := e.judge(); v != test.verdict || class != test.want {
			t.Errorf("%s: got %v %+v, want %v %+v", test.name, v, class, test.verdict, test.want)
		}
	}
}
