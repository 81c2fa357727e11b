package callbacks_test

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// A text answer broke, and its continuation brought it to its end. The decorator makes the events; the example makes
// them by hand.
func ExampleSlog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{} // so that the output is always the same
			}

			return a
		},
	}))
	h := callbacks.Slog(logger)

	ctx := context.Background()
	call := callbacks.Call{CallID: "c-1", Provider: "OpenAI", Model: "example-model", RunID: "run-7", TurnID: "1"}
	h.Handle(ctx, callbacks.Interrupted{
		Call:                 call,
		ErrorKind:            callbacks.KindSSETransport,
		Cause:                callbacks.CauseConnectionReset,
		ErrorMessage:         "connection reset by peer",
		CommittedPartialText: true,
		Plan:                 snapshot.ContinueText,
	})
	h.Handle(ctx, callbacks.Started{
		Call:                 call,
		ContinuationAttempt:  1,
		Backoff:              time.Second,
		Plan:                 snapshot.ContinueText,
		CommittedPartialText: true,
		CommittedTextBytes:   42,
		HistoryRewrite:       "assistant+user",
		Prompt:               "built-in",
	})
	h.Handle(ctx, callbacks.Completed{
		Call:                call,
		ContinuationAttempt: 1,
		CompletionReason:    "stop",
	})

	// Output:
	// level=WARN msg=llm_stream_interrupted call_id=c-1 provider=OpenAI model=example-model run_id=run-7 turn_id=1 original_attempt=0 continuation_attempt=0 error_kind=sse_transport cause=connection_reset error_message="connection reset by peer" committed_text_blocks=0 committed_partial_text=true discarded_partial_tool_uses=0 discarded_reasoning_blocks=0 usage_flushed=false usage.known=false plan=ContinueText
	// level=INFO msg=llm_stream_continuation_started call_id=c-1 provider=OpenAI model=example-model run_id=run-7 turn_id=1 continuation_attempt=1 backoff=1s plan=ContinueText committed_text_blocks=0 committed_partial_text=true committed_text_bytes=42 committed_tool_calls=0 history_rewrite=assistant+user prompt=built-in
	// level=INFO msg=llm_stream_continuation_completed call_id=c-1 provider=OpenAI model=example-model run_id=run-7 turn_id=1 continuation_attempt=1 completion_reason=stop usage.known=false answer_usage.known=false billed_usage.known=false
}
