package continuation_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// seHolder is how an agent's checkpoint holds an error.
type seHolder struct{ E error }

func seThroughGob(t *testing.T, err error) error {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, gob.NewEncoder(&b).Encode(&seHolder{err}))
	var back seHolder
	require.NoError(t, gob.NewDecoder(&b).Decode(&back))

	return back.E
}

func TestTakenOverErrorSurvivesACheckpoint(t *testing.T) {
	t.Parallel()
	err := seThroughGob(t, &continuation.TakenOverError{RunID: "run-7", Err: checkpointstore.ErrStale})
	var taken *continuation.TakenOverError
	require.ErrorAs(t, err, &taken)
	assert.Equal(t, "run-7", taken.RunID)
	require.ErrorIs(t, err, checkpointstore.ErrStale)
}

// seUnknown is an error type that gob was not told of.
type seUnknown struct{ Why string }

func (e *seUnknown) Error() string { return e.Why }

// TestAgentsErrorsSurviveACheckpoint: also those of a client that gob does not know, which ended a stream for good behind
// its first content.
func TestAgentsErrorsSurviveACheckpoint(t *testing.T) {
	t.Parallel()
	cause := &seUnknown{"the key was revoked"}
	m, err := continuation.NewMiddleware(ctNow(), continuation.WithClassifier(func(error) continuation.Class {
		return continuation.Class{Kind: continuation.Unauthorized}
	}))
	require.NoError(t, err)
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "agent", Description: "an agent",
		Model:    fm.New(fm.Script{fm.Text("Hello "), fm.Fail(cause)}),
		Handlers: []adk.ChatModelAgentMiddleware{m},
	})
	require.NoError(t, err)
	events := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true}).Query(t.Context(), "hi")
	e, ok := events.Next()
	require.True(t, ok)
	_, err = e.Output.MessageOutput.GetMessage()
	var known *seUnknown
	require.ErrorAs(t, err, &known)
	assert.Same(t, cause, known)
	back := seThroughGob(t, err)
	require.EqualError(t, back, "the key was revoked")
}

// TestNotExhausted: Eino's retry asks again where that can help.
func TestNotExhausted(t *testing.T) {
	t.Parallel()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context //nolint:containedctx // a table
		err  error
		want bool
	}{
		"no error":               {t.Context(), nil, false},
		"a reset":                {t.Context(), fm.ResetError(), true},
		"an unknown error":       {t.Context(), errors.New("boom"), true},
		"exhausted":              {t.Context(), &continuation.ExhaustedError{}, false},
		"taken over":             {t.Context(), &continuation.TakenOverError{Err: checkpointstore.ErrStale}, false},
		"a call that is too big": {t.Context(), &continuation.BufferError{}, false},
		"a panic":                {t.Context(), &continuation.PanicError{}, false},
		"the caller is gone":     {over, fm.ResetError(), false},
	} {
		assert.Equal(t, tt.want, continuation.NotExhausted(tt.ctx, tt.err), name)
	}
}
