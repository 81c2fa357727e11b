package continuation_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// etError is an error of a provider that says very much.
type etError struct {
	StatusCode int
	Message    string
}

func (e *etError) Error() string { return e.Message }

func etHuge(of string) *etError {
	return &etError{StatusCode: 503, Message: "POST failed: " + strings.Repeat(of, 10<<20/len(of)) + " at the end of the page"}
}

// TestErrorTextsAreBounded: what a provider says does not flood a log or a checkpoint, and stays whole for who asks for it.
func TestErrorTextsAreBounded(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{"letters": "page ", "runes of three bytes": "日本語", "no text": "\xff\xfe\x80\x81"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, last := etHuge(piece), etHuge(piece+"!")
			for _, err := range []error{
				&continuation.ExhaustedError{Reason: continuation.ReasonRefused, First: first, Last: last},
				&continuation.ExhaustedError{Reason: continuation.ReasonRefused, Last: last},
				&continuation.PanicError{Value: last},
				&continuation.TakenOverError{RunID: "run", Err: last},
			} {
				text := err.Error()
				assert.Less(t, len(text), 3<<10, "%T", err)
				assert.Contains(t, text, " bytes … ", "%T", err)
				assert.Contains(t, text, "POST failed: ")
				assert.Contains(t, text, " at the end of the page")
				assert.Equal(t, utf8.ValidString(piece), utf8.ValidString(text), "%T is cut in a rune", err)
				require.ErrorIs(t, err, last, "the cause is whole")
				back := seThroughGob(t, err)
				assert.Less(t, len(back.Error()), 3<<10, "%T", err)
				assert.Equal(t, strings.Count(text, " bytes … "), strings.Count(back.Error(), " bytes … "), "%T is cut twice", err)
			}
		})
	}
	assert.NotEmpty(t, (&continuation.TakenOverError{RunID: "run"}).Error())
	long := strings.Repeat("tool", 1<<20)
	assert.Less(t, len((&continuation.BufferError{Tool: long, ID: long}).Error()), 3<<10)
}

// TestErrorTextIsBoundedInGob looks at the bytes that an agent's checkpoint holds.
func TestErrorTextIsBoundedInGob(t *testing.T) {
	t.Parallel()
	huge := etHuge("page ")
	for _, err := range []error{
		&continuation.ExhaustedError{First: huge, Last: huge}, &continuation.TakenOverError{Err: huge}, &continuation.PanicError{Value: huge},
	} {
		var b bytes.Buffer
		require.NoError(t, gob.NewEncoder(&b).Encode(&seHolder{err}))
		assert.Less(t, b.Len(), 6<<10, "%T", err)
	}
}

// TestErrorTextsThatFit are told as they are.
func TestErrorTextsThatFit(t *testing.T) {
	t.Parallel()
	exact := strings.Repeat("x", 1<<10)
	for _, e := range []*continuation.ExhaustedError{{Last: errors.New(exact)}, {First: errors.New(exact)}} {
		assert.Contains(t, e.Error(), exact)
	}
	assert.NotContains(t, (&continuation.ExhaustedError{Last: errors.New(exact + "y")}).Error(), exact)
}

// TestErrorTextOfAStream is that of a call whose provider says very much, first and last, and of a breaker that opens for it.
func TestErrorTextOfAStream(t *testing.T) {
	t.Parallel()
	huge := etHuge("page ")
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Text("a"), fm.Fail(huge)}, fm.Script{fm.OpenFail(huge)},
	), ctNow(), continuation.WithMaxContinuations(1))
	assert.Equal(t, continuation.ReasonMaxContinuations, ctExhausted(t, r, events).Reason)
	assert.Less(t, len(r.err.Error()), 2<<10)
	require.ErrorIs(t, r.err, huge)

	r, _, _ = ctRun(t, fm.New(fm.Script{fm.OpenFail(huge)}), ctNow(), continuation.WithCircuitBreaker(brSettings()))
	assert.Less(t, len(r.err.Error()), 2<<10)
	require.ErrorIs(t, r.err, huge)
}
