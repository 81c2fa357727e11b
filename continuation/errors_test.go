package continuation_test

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func ctExhaustedError() *continuation.ExhaustedError {
	return &continuation.ExhaustedError{
		Partial:  &schema.Message{Role: schema.Assistant, Content: "Hello ", ReasoningContent: "Hm."},
		Attempts: 5,
		First:    fmt.Errorf("reading: %w", fm.ResetError()),
		Last:     fmt.Errorf("%w (2m0s)", continuation.ErrIdleStall),
		Reason:   continuation.ReasonMaxContinuations,
	}
}

func TestExhaustedErrorChain(t *testing.T) {
	t.Parallel()
	e := ctExhaustedError()
	err := fmt.Errorf("the model: %w", e)
	for _, want := range []error{continuation.ErrExhausted, e, e.First, e.Last, continuation.ErrIdleStall, syscall.ECONNRESET} {
		assert.ErrorIs(t, err, want)
	}
	assert.NotErrorIs(t, err, continuation.ErrTruncated)
	network := (*net.OpError)(nil)
	assert.ErrorAs(t, err, &network)

	empty := &continuation.ExhaustedError{}
	assert.ErrorIs(t, empty, continuation.ErrExhausted)
	assert.NotEmpty(t, empty.Error())
	for _, in := range empty.Unwrap() {
		assert.NotNil(t, in)
	}
}

func TestExhaustedErrorText(t *testing.T) {
	t.Parallel()
	e := ctExhaustedError()
	e.First, e.Last = errors.New("reset"), errors.New("stalled")
	text := e.Error()
	for _, want := range []string{"exhausted", "5 continuations", "max_continuations", "first: reset", "last: stalled"} {
		assert.Contains(t, text, want)
	}
	assert.NotContains(t, text, "Hello", "the answer does not belong into logs")
	e.Last = e.First
	assert.NotContains(t, e.Error(), "last:", "the same is said once")
}

// ctStored is how an agent stores the error that ended a stream: in a field of type error, among others.
type ctStored struct {
	ID        string
	StreamErr error
}

func ctGob(t *testing.T, err error) error {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gob.NewEncoder(&b).Encode(ctStored{ID: "a", StreamErr: err}))
	var out ctStored
	require.NoError(t, gob.NewDecoder(&b).Decode(&out))
	assert.Equal(t, "a", out.ID)

	return out.StreamErr
}

func TestExhaustedErrorThroughGob(t *testing.T) {
	t.Parallel()
	e := ctExhaustedError()
	got := ctGob(t, e)
	for range 2 { // once more: what was stored can be stored again
		assert.Equal(t, e.Error(), got.Error())
		assert.ErrorIs(t, got, continuation.ErrExhausted)
		assert.ErrorIs(t, got, continuation.ErrIdleStall)
		assert.NotErrorIs(t, got, continuation.ErrTruncated)
		out := (*continuation.ExhaustedError)(nil)
		require.ErrorAs(t, got, &out)
		assert.Equal(t, 5, out.Attempts)
		assert.Equal(t, continuation.ReasonMaxContinuations, out.Reason)
		assert.Equal(t, "Hello ", out.Partial.Content)
		assert.Equal(t, e.First.Error(), out.First.Error())
		got = ctGob(t, got)
	}
	assert.NotEmpty(t, ctGob(t, &continuation.ExhaustedError{}).Error())
}

func TestStoredCausesKeepTheirClass(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{fm.ResetError(), continuation.ErrIdleStall, continuation.ErrTruncated, ctStatus(429), ctStatus(503), ctStatus(401)} {
		out := (*continuation.ExhaustedError)(nil)
		require.ErrorAs(t, ctGob(t, &continuation.ExhaustedError{First: cause, Last: cause}), &out)
		want, got := continuation.DefaultClassifier(cause), continuation.DefaultClassifier(out.Last)
		assert.Equal(t, want.Kind, got.Kind, "%v", cause)
		assert.Equal(t, want.Cause, got.Cause, "%v", cause)
	}
}

// TestOtherTerminalErrorsThroughGob: an agent that cannot store an error cannot store its checkpoint.
func TestOtherTerminalErrorsThroughGob(t *testing.T) {
	t.Parallel()
	buffer := &continuation.BufferError{Tool: "paint", ID: "c1", Limit: 7}
	panicked := &continuation.PanicError{Value: errors.New("boom"), Stack: []byte("stack")}
	for _, err := range []error{buffer, panicked, &continuation.PanicError{Value: struct{ A func() }{}}} {
		assert.Equal(t, err.Error(), ctGob(t, err).Error())
	}
	got := ctGob(t, &continuation.ExhaustedError{First: panicked, Last: buffer, Reason: continuation.ReasonMaxBufferedBytes})
	assert.ErrorContains(t, got, panicked.Error())
	assert.ErrorContains(t, got, buffer.Error())
}

func TestPanicErrorText(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	e := &continuation.PanicError{Value: boom, Stack: []byte("goroutine 1")}
	assert.ErrorIs(t, e, boom)
	assert.ErrorContains(t, e, "boom")
	assert.NotContains(t, e.Error(), "goroutine")
	assert.NoError(t, (&continuation.PanicError{Value: "boom"}).Unwrap())
}

func TestPartialHoldsWhatWasDelivered(t *testing.T) {
	t.Parallel()
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Reasoning("A thought."), fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("wor"), fm.Call(0, "c1", "add", `{"a":`), fm.Reset()},
	), continuation.WithMaxContinuations(1))
	exhausted := ctExhausted(t, r, events)
	assert.Equal(t, "Hello wor", exhausted.Partial.Content)
	assert.Equal(t, "A thought.", exhausted.Partial.ReasoningContent)
	assert.Equal(t, schema.Assistant, exhausted.Partial.Role)
	assert.Empty(t, exhausted.Partial.ToolCalls)
	assert.Equal(t, "Hello wor", r.message(t).Content, "what was delivered adds up")
}
