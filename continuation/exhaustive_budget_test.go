package continuation_test

import (
	"cmp"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exFaultError is an error that can be told from its like.
type exFaultError struct{ attempt int }

func (e *exFaultError) Error() string { return fmt.Sprintf("attempt %d met an odd end", e.attempt) }

// The budget ends after five continuations, whether they bring text or not.
func TestExhaustiveBudget(t *testing.T) {
	t.Parallel()
	pieces := []string{"The harbour", " was still", " dark when", " the first", " boat came", " in, and"}
	for _, progress := range []bool{true, false} {
		t.Run(fmt.Sprintf("progress=%v", progress), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var scripts []faultmodel.Script
				partial := ""
				for n, piece := range pieces {
					script := faultmodel.Script{faultmodel.Role()}
					if progress || n == 0 {
						script = append(script, faultmodel.Text(piece))
						partial += piece
					}
					script = append(script, faultmodel.Call(0, "call_1", "search", `{"q":`))
					scripts = append(scripts, append(script, faultmodel.Fail(&exFaultError{attempt: n})))
				}
				exCheckExhausted(t, faultmodel.New(scripts...), partial)
			})
		})
	}
}

func exCheckExhausted(t *testing.T, m *faultmodel.Model, partial string) {
	t.Helper()
	run := exStream(t, m, exInput())
	require.NoError(t, run.streamErr)
	require.Len(t, run.requests, 6)
	var exhausted *continuation.ExhaustedError
	require.ErrorAs(t, run.err, &exhausted)
	require.ErrorIs(t, run.err, continuation.ErrExhausted)
	require.Equal(t, 5, exhausted.Attempts)
	require.Equal(t, continuation.ReasonMaxContinuations, exhausted.Reason)
	require.Equal(t, partial, exhausted.Partial.Content)
	require.Empty(t, exhausted.Partial.ToolCalls)
	require.Equal(t, &exFaultError{attempt: 0}, exhausted.First)
	require.Equal(t, &exFaultError{attempt: 5}, exhausted.Last)
	require.ErrorIs(t, run.err, exhausted.First)
	require.ErrorIs(t, run.err, exhausted.Last)
	text := ""
	for _, chunk := range run.chunks {
		text += chunk.Content
		require.Empty(t, chunk.ToolCalls)
	}
	require.Equal(t, partial, text, "what is in the error was delivered")

	for n := range 5 {
		nominal := time.Second << n
		wait := run.requests[n+1].At.Sub(run.requests[n].At)
		require.GreaterOrEqual(t, wait, nominal)
		require.LessOrEqual(t, wait, nominal+nominal/4)
		require.Equal(t, exEvents[callbacks.Started](run.log)[n].Backoff, wait)
	}
	require.Len(t, exEvents[callbacks.Interrupted](run.log), 6)
	require.Len(t, exEvents[callbacks.Failed](run.log), 5)
	end := exEvents[callbacks.Exhausted](run.log)
	require.Len(t, end, 1)
	require.Equal(t, 5, end[0].Attempts)
	require.Equal(t, continuation.ReasonMaxContinuations, end[0].FinalReason)
}

func exPermanentErrors() map[string]error {
	return map[string]error{
		"bad request":      &exStatusError{HTTPStatusCode: 400, Message: "messages: invalid"},
		"context overflow": &exStatusError{HTTPStatusCode: 400, Message: "This model's maximum context length is 8 tokens"},
		"unauthorized":     &exStatusError{HTTPStatusCode: 401, Message: "bad key"},
		"no model":         &exStatusError{HTTPStatusCode: 404, Message: "no such model"},
		"no credit":        &exProviderError{Type: "insufficient_quota", Message: "pay first"},
		"filtered":         &exProviderError{Type: "content_filter", Message: "no"},
	}
}

// A permanent error makes exactly one call, wherever it comes, and comes out as it is.
func TestExhaustivePermanent(t *testing.T) {
	t.Parallel()
	for name, permanent := range exPermanentErrors() {
		for at, script := range []faultmodel.Script{
			{faultmodel.OpenFail(permanent)},
			{faultmodel.Fail(permanent)},
			{faultmodel.Role(), faultmodel.Fail(permanent)},
			{faultmodel.Text("Hello"), faultmodel.Fail(permanent)},
			{faultmodel.Text("Hello"), faultmodel.Call(0, "a", "search", `{}`), faultmodel.Fail(permanent)},
			{faultmodel.Reasoning("Hm"), faultmodel.Fail(permanent)},
		} {
			t.Run(fmt.Sprintf("%s/%d", name, at), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					run := exStream(t, faultmodel.New(script), exInput())
					require.Len(t, run.requests, 1)
					require.Same(t, permanent, cmp.Or(run.streamErr, run.err))
					require.Equal(t, at == 0, run.streamErr != nil)
					require.Zero(t, run.took)
				})
			})
		}
	}
}

// A continuation that is refused for good ends the call, with the first error kept.
func TestExhaustiveRefused(t *testing.T) {
	t.Parallel()
	for name, permanent := range exPermanentErrors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				first := &exFaultError{attempt: 0}
				run := exStream(t, faultmodel.New(
					faultmodel.Script{faultmodel.Text("Hello"), faultmodel.Fail(first)},
					faultmodel.Script{faultmodel.OpenFail(permanent)},
				), exInput())
				require.Len(t, run.requests, 2)
				var exhausted *continuation.ExhaustedError
				require.ErrorAs(t, run.err, &exhausted)
				require.Equal(t, continuation.ReasonRefused, exhausted.Reason)
				require.Same(t, first, exhausted.First)
				require.Same(t, permanent, exhausted.Last)
				require.Equal(t, "Hello", exhausted.Partial.Content)
			})
		})
	}
}

// Without continuations the decorator is the raw model.
func TestExhaustiveSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, script := range exScripts() {
		t.Run(script.name, func(t *testing.T) {
			t.Parallel()
			for _, cause := range exCauses() {
				if cause.cause == callbacks.CauseIdleStall {
					continue // the raw model waits for ever
				}
				for at := range len(script.chunks) + 1 {
					synctest.Test(t, func(t *testing.T) {
						exCheckSwitchedOff(t, exCell{script: script}, faultmodel.BreakAt(at, cause.steps...))
					})
				}
			}
		})
	}
}

func exCheckSwitchedOff(t *testing.T, c exCell, cut faultmodel.Break) {
	t.Helper()
	bare, raw := c.model(cut), c.model(cut)
	want, wantErr := exCollect(t, bare)
	log := &exTranscript{}
	got, gotErr := exCollect(t,
		continuation.Wrap(raw, continuation.WithMaxContinuations(0), continuation.WithHandler(log)))
	require.Equal(t, want, got)
	require.Equal(t, wantErr, gotErr)
	require.Empty(t, log.lines)
	require.Len(t, raw.Requests(), 1)
	require.Equal(t, exInput(), raw.Requests()[0].Messages)
}

// exCollect reads an answer of m; a panic counts as its error.
func exCollect(t *testing.T, m model.BaseChatModel) (chunks []*schema.Message, err error) {
	t.Helper()
	reader, err := m.Stream(t.Context(), exInput(), exOptions()...)
	require.NoError(t, err)
	defer reader.Close()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	for {
		chunk, err := reader.Recv()
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, chunk)
	}
}
