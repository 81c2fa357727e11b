package continuation_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// edCase is a way in which a call can end.
type edCase struct {
	inner *fm.Model
	opts  []continuation.Option
	end   func(t *testing.T, r *schema.StreamReader[*schema.Message], cancel func()) // nil: it is read to its end
	want  callbacks.Ended
}

// edSecond is what passes before each attempt's first chunk.
func edSecond() fm.Step { return fm.Idle(time.Second) }

func edUsage(prompt, completion int) snapshot.Usage {
	return snapshot.Usage{Known: true, Prompt: prompt, Completion: completion, Total: prompt + completion}
}

// edLeast is u of which an attempt is missing.
func edLeast(u snapshot.Usage) snapshot.Usage {
	u.Unreported = 1

	return u
}

// edUnknown is the usage of one attempt that reported none.
func edUnknown() snapshot.Usage { return edLeast(snapshot.Usage{}) }

// edClosedWhileDue is a call that is closed in the wait behind its first attempt, which brought chunks and was billed u.
func edClosedWhileDue(u snapshot.Usage, chunks ...fm.Step) edCase {
	return edCase{
		inner: fm.New(append(append(fm.Script{edSecond()}, chunks...), fm.Reset())),
		opts:  []continuation.Option{continuation.WithBackoff(func(int) time.Duration { return time.Hour })},
		end: func(t *testing.T, r *schema.StreamReader[*schema.Message], _ func()) {
			t.Helper()
			time.AfterFunc(3*time.Second, r.Close)
			edRead(t, r, len(chunks))
			_, err := r.Recv()
			require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
		},
		want: callbacks.Ended{
			Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: 3 * time.Second, FirstContent: time.Second, Answer: u, Billed: u,
		},
	}
}

// edRead reads n chunks.
func edRead(t *testing.T, r *schema.StreamReader[*schema.Message], n int) {
	t.Helper()
	for range n {
		_, err := r.Recv()
		require.NoError(t, err)
	}
}

// edBroken is an answer that breaks once and goes on.
func edBroken() *fm.Model {
	return fm.New(
		fm.Script{edSecond(), fm.Text("Hello "), fm.Usage(10, 5), edSecond(), fm.Reset()},
		fm.Script{edSecond(), fm.Text("world."), fm.FinishUsage("stop", 18, 3)},
	)
}

// edWhole are calls that bring the answer.
func edWhole() map[string]edCase {
	const s = time.Second

	return map[string]edCase{
		"complete": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), edSecond(), fm.Text("world."), fm.FinishUsage("stop", 10, 5)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeComplete, Requests: 1, Duration: 2 * s, FirstContent: s, FinishReason: "stop",
				Answer: edUsage(10, 5), Billed: edUsage(10, 5),
			},
		},
		"without content": {
			inner: fm.New(fm.Script{edSecond(), fm.FinishUsage("stop", 10, 0)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeComplete, Requests: 1, Duration: s, FinishReason: "stop",
				Answer: edUsage(10, 0), Billed: edUsage(10, 0),
			},
		},
		"late error": {
			inner: fm.New(fm.Script{fm.Text("Hello."), fm.Finish("stop"), edSecond(), fm.Reset()}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeComplete, Requests: 1, Duration: s, FinishReason: "stop", Answer: edUnknown(), Billed: edUnknown(),
			},
		},
		"recovered": {
			inner: edBroken(),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeRecovered, Requests: 2, Duration: 3 * s, FirstContent: s, FinishReason: "stop",
				Answer: edUsage(10, 8), Billed: edUsage(28, 8),
			},
		},
		"with the calls that were whole": {
			inner: fm.New(fm.Script{edSecond(), fm.Call(0, "c1", "add", `{}`), fm.Call(1, "c2", "sub", `{"a":`), fm.Usage(10, 5), fm.Reset()}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeRecovered, Requests: 1, Duration: s, FirstContent: s, FinishReason: "tool_calls",
				Answer: edUsage(10, 5), Billed: edUsage(10, 5),
			},
		},
		"an open retry": {
			inner: fm.New(fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(ctStatus(503))}, fm.Script{edSecond(), fm.Text("Hello."), fm.Finish("stop")}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeComplete, Requests: 2, Duration: 2 * s, FirstContent: 2 * s, FinishReason: "stop", Answer: edUnknown(), Billed: edUnknown()},
		},
		"nobody knows whether it is whole": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello.")}, fm.Script{fm.Usage(12, 1)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeComplete, Requests: 2, Duration: s, FirstContent: s,
				Answer: edUnknown(), Billed: edLeast(edUsage(12, 1)),
			},
		},
	}
}

// edFailed are calls that end with an error.
func edFailed() map[string]edCase {
	const s = time.Second
	unauthorized, unavailable := ctStatus(401), ctStatus(503)

	return map[string]edCase{
		"not opened": {
			inner: fm.New(fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(unauthorized)}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 1, Duration: s, Cause: callbacks.CausePermanent},
		},
		"not opened again": {
			inner: fm.New(fm.Script{fm.OpenFail(unavailable)}, fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(unauthorized)}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 2, Duration: s, Cause: callbacks.CausePermanent},
		},
		"not opened often enough": {
			inner: fm.New(fm.Script{fm.OpenFail(unavailable)}),
			opts:  []continuation.Option{continuation.WithOpenRetries(0)},
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 1, Cause: callbacks.CauseOverloaded},
		},
		"permanent": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), fm.Usage(10, 5), fm.Fail(unauthorized)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeFailed, Requests: 1, Duration: s, FirstContent: s, Cause: callbacks.CausePermanent,
				Answer: edUsage(10, 5), Billed: edUsage(10, 5),
			},
		},
		"a panic": {
			inner: fm.New(fm.Script{fm.OpenFail(unavailable)}),
			opts:  []continuation.Option{continuation.WithBackoff(func(int) time.Duration { panic("boom") })},
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Requests: 1, Cause: callbacks.CauseUnknown},
		},
		"refused by the breaker": {
			inner: fm.New(),
			opts:  []continuation.Option{continuation.WithBreaker(&brScripted{refusals: []int{1}})},
			want:  callbacks.Ended{Outcome: callbacks.OutcomeFailed, Cause: callbacks.CauseOverloaded},
		},
		"continuation refused by the breaker": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), fm.Usage(10, 5), fm.Reset()}),
			opts:  []continuation.Option{continuation.WithBreaker(&brScripted{refusals: []int{0, 1}})},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeExhausted, Requests: 1, Duration: s, FirstContent: s, Cause: callbacks.CauseOverloaded,
				Answer: edUsage(10, 5), Billed: edUsage(10, 5),
			},
		},
		"exhausted": {
			inner: fm.New(
				fm.Script{edSecond(), fm.Text("Hello, "), fm.Usage(10, 5), fm.Fail(unavailable)},
				fm.Script{edSecond(), fm.Text("dear, "), fm.Usage(18, 3), fm.Reset()},
			),
			opts: []continuation.Option{continuation.WithMaxContinuations(1)},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeExhausted, Requests: 2, Duration: 2 * s, FirstContent: s,
				Cause:  callbacks.CauseConnectionReset, // of the last error, not the first
				Answer: edUsage(10, 8), Billed: edUsage(28, 8),
			},
		},
		"continuation refused": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), fm.Reset()}, fm.Script{fm.OpenFail(unauthorized)}),
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeExhausted, Requests: 2, Duration: s, FirstContent: s, Cause: callbacks.CausePermanent,
				Answer: edUnknown(), Billed: edUnknown(),
			},
		},
		"a call that is too large": {
			inner: fm.New(fm.Script{edSecond(), fm.Usage(10, 5), fm.Call(0, "c1", "add", `{"a":"0123456789`), fm.Stall()}),
			opts:  []continuation.Option{continuation.WithMaxBufferedBytes(8)},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeExhausted, Requests: 1, Duration: s, FirstContent: s, Cause: callbacks.CauseUnknown,
				Answer: edLeast(edUsage(10, 5)), Billed: edLeast(edUsage(10, 5)),
			},
		},
	}
}

// edLeft are calls that the caller ends.
func edLeft() map[string]edCase {
	const s = time.Second

	return map[string]edCase{
		"closed": {
			inner: fm.New(fm.Script{edSecond(), fm.Usage(10, 5), fm.Text("Hello "), fm.Stall()}),
			end: func(t *testing.T, r *schema.StreamReader[*schema.Message], _ func()) {
				t.Helper()
				edRead(t, r, 2)
				<-time.After(s)
				r.Close()
			},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: 2 * s, FirstContent: s,
				Answer: edLeast(edUsage(10, 5)), Billed: edLeast(edUsage(10, 5)),
			},
		},
		"closed behind the finish reason": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello."), fm.Finish("stop"), fm.Stall()}),
			end: func(t *testing.T, r *schema.StreamReader[*schema.Message], _ func()) {
				t.Helper()
				edRead(t, r, 2)
				r.Close()
			},
			want: callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s, FirstContent: s, FinishReason: "stop", Answer: edUnknown(), Billed: edUnknown()},
		},
		"closed before the end was read": {
			inner: edBroken(),
			end: func(t *testing.T, r *schema.StreamReader[*schema.Message], _ func()) {
				t.Helper()
				edRead(t, r, 4) // the last one comes with the end
				<-time.After(s)
				r.Close()
			},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeRecovered, Requests: 2, Duration: 3 * s, FirstContent: s, FinishReason: "stop",
				Answer: edUsage(10, 8), Billed: edUsage(28, 8),
			},
		},
		"closed while a continuation is due":                         edClosedWhileDue(edUsage(10, 5), fm.Text("Hello "), fm.Usage(10, 5)),
		"closed while one is due to an answer that reported nothing": edClosedWhileDue(edUnknown(), fm.Text("Hello ")),
		"closed while a continuation is held back": {
			inner: fm.New(
				fm.Script{edSecond(), fm.Text("Hello, my "), fm.Usage(10, 5), fm.Reset()},
				fm.Script{fm.Chunk(&schema.Message{Role: schema.Assistant, Content: "my", ResponseMeta: &schema.ResponseMeta{Usage: ctUsage(18, 3)}}), fm.Stall()},
			),
			end: func(t *testing.T, r *schema.StreamReader[*schema.Message], _ func()) {
				t.Helper()
				time.AfterFunc(s+100*time.Millisecond, r.Close)
				edRead(t, r, 2)
				_, err := r.Recv()
				require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
			},
			want: callbacks.Ended{
				Outcome: callbacks.OutcomeCancelled, Requests: 2, Duration: s + 100*time.Millisecond, FirstContent: s,
				Answer: edLeast(edUsage(10, 5)), Billed: edLeast(edUsage(28, 8)), // nobody gets it, and it is billed
			},
		},
		"cancelled": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), fm.Stall()}),
			end: func(t *testing.T, r *schema.StreamReader[*schema.Message], cancel func()) {
				t.Helper()
				edRead(t, r, 1)
				cancel()
				_, err := r.Recv()
				require.ErrorIs(t, err, context.Canceled)
				r.Close()
			},
			want: callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s, FirstContent: s, Answer: edUnknown(), Billed: edUnknown()},
		},
		"interrupt": {
			inner: fm.New(fm.Script{edSecond(), fm.Text("Hello "), fm.Fail(adk.ErrStreamCanceled)}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s, FirstContent: s, Answer: edUnknown(), Billed: edUnknown()},
		},
		"interrupt instead of a stream": {
			inner: fm.New(fm.Script{fm.OpenIdle(time.Second), fm.OpenFail(adk.ErrStreamCanceled)}),
			want:  callbacks.Ended{Outcome: callbacks.OutcomeCancelled, Requests: 1, Duration: s},
		},
	}
}
