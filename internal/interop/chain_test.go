package interop

import (
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/snapshot"
)

// TestFiveBreaksInOneAnswer cuts the answer into six attempts. Each request carries all text so far in one pair.
func TestFiveBreaksInOneAnswer(t *testing.T) {
	a, brk := textAnswer().answer, faultllm.InText(2)
	r := newRig(t, recordingTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(
		faultllm.Reset(brk), faultllm.CutChunked(brk), faultllm.CleanEnd(brk), faultllm.MalformedJSON(brk), faultllm.CutLine(brk),
	)})
	chunks, err := stream(t.Context(), r.wrap())
	require.NoError(t, err)
	assert.Equal(t, a.Text(), concat(t, chunks).Content)

	l := r.ledger(t)
	require.Len(t, l.Records, 6)
	sent, space := 0, 0
	for i, rec := range l.Records[1:] {
		assert.Greater(t, rec.From, sent, "request %d carries no more than the one before", i+1)
		sent = rec.From
		space += cost(arrived(a.Text(), sent)) - cost(sent)
		checkPair(t, l.Records[0].Request, rec.Request, a.Text()[:rec.From], "")
	}
	assert.Equal(t, faultllm.Needed(a)+l.Lost+space, l.Completion, "white space alone is billed twice")
	assert.Len(t, eventsOf[callbacks.Interrupted](r.events), 5)
	assert.Len(t, eventsOf[callbacks.Failed](r.events), 4)
	assert.Len(t, eventsOf[callbacks.Completed](r.events), 1)
}

// arrived returns how many bytes of text had arrived when a request carried the first n: white space was trimmed.
func arrived(text string, n int) int {
	return len(text) - len(strings.TrimLeftFunc(text[n:], unicode.IsSpace))
}

// TestTheBudgetEnds breaks every attempt. The error holds what was delivered.
func TestTheBudgetEnds(t *testing.T) {
	a := textAnswer().answer
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: a}}, Plan: faultllm.Every(faultllm.Reset(faultllm.InText(1))),
	})
	chunks, err := stream(t.Context(), r.wrap())
	var exhausted *continuation.ExhaustedError
	require.ErrorAs(t, err, &exhausted)
	require.ErrorIs(t, err, continuation.ErrExhausted)
	require.ErrorIs(t, err, syscall.ECONNRESET)
	assert.Equal(t, continuation.ReasonMaxContinuations, exhausted.Reason)
	assert.Equal(t, 5, exhausted.Attempts)
	got := concat(t, chunks)
	assert.Equal(t, got.Content, exhausted.Partial.Content)
	assert.Greater(t, len(a.Text()), len(got.Content))
	assert.Equal(t, a.Text()[:len(got.Content)], got.Content)
	assert.Equal(t, 6, r.ledger(t).Requests)
	assert.Empty(t, eventsOf[callbacks.Completed](r.events))
	assert.Len(t, eventsOf[callbacks.Exhausted](r.events), 1)
}

// TestNoContinuationsIsTheRawClient switches the decorator off.
func TestNoContinuationsIsTheRawClient(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}}, Plan: faultllm.Every(faultllm.Reset(faultllm.InText(1))),
	})
	want, wantErr := stream(t.Context(), r.bare)
	got, err := stream(t.Context(), r.wrap(continuation.WithMaxContinuations(0)))
	require.ErrorIs(t, err, syscall.ECONNRESET)
	require.ErrorIs(t, wantErr, syscall.ECONNRESET)
	assert.Equal(t, concat(t, want).Content, concat(t, got).Content)
	assert.Equal(t, 2, r.ledger(t).Requests)
}

// TestAllPlansInOneCall goes through R4, R1, R3 and R2, each with another way to break.
func TestAllPlansInOneCall(t *testing.T) {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Think("Two things ", "to do."), faultllm.Say("First the port, ", "then ", "the tea. "),
		faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`), faultllm.Call("call_b", "order", `{"cups":`, `2}`),
	}}
	r := newRig(t, recordingTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(
		faultllm.Reset(faultllm.InReasoning(1)), faultllm.CleanEnd(faultllm.InText(1)),
		faultllm.MalformedJSON(faultllm.InTool(0, 8)), faultllm.CutChunked(faultllm.InTool(1, 8)),
	)})
	chunks, err := stream(t.Context(), r.wrap())
	require.NoError(t, err)
	got := continuation.Repair(concat(t, chunks))
	assert.Equal(t, a.Text(), got.Content)
	assert.Equal(t, a.Reasoning(), got.ReasoningContent)
	require.Len(t, got.ToolCalls, 1)
	assert.Equal(t, "call_a", got.ToolCalls[0].ID)
	assert.JSONEq(t, `{"port":"Oban"}`, got.ToolCalls[0].Function.Arguments)
	assert.Equal(t, "tool_calls", got.ResponseMeta.FinishReason)

	var plans []snapshot.Plan
	for _, e := range eventsOf[callbacks.Interrupted](r.events) {
		plans = append(plans, e.Plan)
	}
	assert.Equal(t, []snapshot.Plan{
		snapshot.WholeRestart, snapshot.ContinueText, snapshot.TruncateBeforeTool, snapshot.SynthesizeToolUse,
	}, plans)
	records := r.ledger(t).Records
	require.Len(t, records, 4)
	assert.JSONEq(t, string(records[0].Body), string(records[1].Body))
	checkPair(t, records[0].Request, records[2].Request, "First the port,", a.Reasoning())
	checkPair(t, records[0].Request, records[3].Request, trimmed(a.Text()), a.Reasoning())
}

// TestAnUnfaithfulModelIsJoined continues with a piece of the text again, with all of it, or thinks again.
func TestAnUnfaithfulModelIsJoined(t *testing.T) {
	for name, cfg := range map[string]faultllm.Config{
		"repeats its tail": {Continuer: faultllm.Repeating(20), Script: faultllm.Script{{Answer: textAnswer().answer}}},
		"starts over":      {Continuer: faultllm.Restarting(), Script: faultllm.Script{{Answer: textAnswer().answer}}},
		"thinks again":     {Rethink: true, Script: faultllm.Script{{Answer: thoughtTextAnswer().answer}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := cfg.Script[0].Answer
			cfg.Plan = faultllm.InOrder(faultllm.Reset(faultllm.InText(2)))
			whole := answerOf(t, a)
			r := newRig(t, plainTransport, cfg)
			chunks, err := stream(t.Context(), r.wrap())
			require.NoError(t, err)
			got := concat(t, chunks)
			assert.Equal(t, whole.Content, got.Content)
			assert.Equal(t, whole.ReasoningContent, continuation.Repair(got).ReasoningContent)
			assert.Equal(t, whole.ReasoningContent, got.ReasoningContent, "only one thought is delivered")
			assert.Equal(t, 2, r.ledger(t).Requests)
		})
	}
}

// TestNoFinishReason brings the whole answer and the end marker, but no reason.
func TestNoFinishReason(t *testing.T) {
	for _, a := range answers() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			whole := answerOf(t, a.answer)
			r := newRig(t, recordingTransport, faultllm.Config{
				Script: faultllm.Script{{Answer: a.answer}}, Plan: faultllm.InOrder(faultllm.NoFinish()),
			})
			chunks, err := stream(t.Context(), r.wrap())
			require.NoError(t, err)
			got := concat(t, chunks)
			assert.Equal(t, whole.Content, got.Content)
			assert.Equal(t, whole.ReasoningContent, got.ReasoningContent)
			assert.Equal(t, whole.ToolCalls, got.ToolCalls)
			assert.Equal(t, whole.ResponseMeta.FinishReason, got.ResponseMeta.FinishReason)
			l, requests := r.ledger(t), 1
			if len(whole.ToolCalls) == 0 {
				requests = 2 // one more asks for the rest, and there is none
			}
			assert.Equal(t, requests, l.Requests)
			assert.Equal(t, faultllm.Needed(a.answer), l.Completion)
		})
	}
}

// TestACallWithoutArguments is whole once the next call has begun, and then carries an empty object. Before that it may
// be the beginning of one, and is asked for again.
func TestACallWithoutArguments(t *testing.T) {
	a := faultllm.Answer{Parts: []faultllm.Part{
		faultllm.Say("So. "), faultllm.Call("call_a", "ping"), faultllm.Call("call_b", "order", `{"cups":`, `2}`),
	}}
	ask := func(f faultllm.Fault) (*schema.Message, int) {
		r := newRig(t, plainTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(f)})
		chunks, err := stream(t.Context(), r.wrap())
		require.NoError(t, err)

		return concat(t, chunks), r.ledger(t).Requests
	}
	got, requests := ask(faultllm.Reset(faultllm.InTool(1, 8)))
	require.Len(t, got.ToolCalls, 1)
	assert.Equal(t, "{}", got.ToolCalls[0].Function.Arguments)
	assert.Equal(t, 1, requests)

	got, requests = ask(faultllm.Reset(faultllm.InTool(0, 0)))
	require.Len(t, got.ToolCalls, 2)
	assert.Equal(t, "ping", got.ToolCalls[0].Function.Name)
	assert.Equal(t, "{}", got.ToolCalls[0].Function.Arguments, "after a break it is written")
	assert.Equal(t, 2, requests)
}
