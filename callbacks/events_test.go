package callbacks

import (
	"time"

	"github.com/eino-carryon/carryon/snapshot"
)

// wanted is what users of the log rely on: it changes with a major version only.
type wanted struct {
	event  Event // has no zero field
	name   string
	level  string
	fields []string // in order, without those of the call
}

// callFields returns the fields that every record begins with.
func callFields() []string { return []string{"call_id", "provider", "model", "run_id", "turn_id"} }

// optionalFields returns the fields that are left out where the event does not have them.
func optionalFields(event string) []string {
	if event == (Ended{}).Name() {
		return []string{"cause"}
	}

	return []string{"status", "prompt_text"}
}

func testCall() Call {
	return Call{CallID: "c-1", Provider: "OpenAI", Model: "example-model", RunID: "run-7", TurnID: "3"}
}

// everyEvent lists all event types; TestEveryEventTypeIsListed holds it complete.
func everyEvent() []wanted {
	return append(continuationEvents(), otherEvents()...)
}

func continuationEvents() []wanted {
	c := testCall()
	u := snapshot.Usage{Known: true, Prompt: 10, Cached: 4, Completion: 5, Reasoning: 2, Total: 15, Unreported: 3}

	return []wanted{
		{
			Interrupted{
				Call: c, OriginalAttempt: 2, ContinuationAttempt: 1, ErrorKind: KindSSETransport,
				Cause: CauseConnectionReset, ErrorMessage: "connection reset by peer", Status: 502, CommittedTextBlocks: 1,
				CommittedPartialText: true, DiscardedPartialToolUses: 1, DiscardedReasoningBlocks: 1, UsageFlushed: true,
				Usage: u, Plan: snapshot.TruncateBeforeTool,
			},
			"llm_stream_interrupted", "WARN",
			[]string{
				"original_attempt", "continuation_attempt", "error_kind", "cause", "error_message", "status",
				"committed_text_blocks", "committed_partial_text", "discarded_partial_tool_uses",
				"discarded_reasoning_blocks", "usage_flushed", "usage", "plan",
			},
		},
		{
			Started{
				Call: c, ContinuationAttempt: 2, Backoff: 2 * time.Second, Plan: snapshot.WholeRestart,
				CommittedTextBlocks: 1, CommittedPartialText: true, CommittedTextBytes: 40, CommittedToolCalls: 1,
				HistoryRewrite: "assistant+user", Prompt: "built-in", PromptText: "Go on.",
			},
			"llm_stream_continuation_started", "INFO",
			[]string{
				"continuation_attempt", "backoff", "plan", "committed_text_blocks", "committed_partial_text",
				"committed_text_bytes", "committed_tool_calls", "history_rewrite", "prompt", "prompt_text",
			},
		},
		{
			Completed{Call: c, ContinuationAttempt: 1, CompletionReason: "stop", Usage: u, Answer: u, Billed: u},
			"llm_stream_continuation_completed", "INFO",
			[]string{"continuation_attempt", "completion_reason", "usage", "answer_usage", "billed_usage"},
		},
		{
			Failed{
				Call: c, ContinuationAttempt: 1, ErrorKind: KindProviderError, Cause: CauseOverloaded,
				ErrorMessage: "overloaded", Usage: u,
			},
			"llm_stream_continuation_failed", "WARN",
			[]string{"continuation_attempt", "error_kind", "cause", "error_message", "usage"},
		},
		{
			Cancelled{Call: c, ContinuationAttempt: 1, Reason: "context canceled"},
			"llm_stream_continuation_cancelled", "INFO",
			[]string{"continuation_attempt", "reason"},
		},
		{
			Exhausted{Call: c, Attempts: 5, FinalReason: "budget", Billed: u},
			"llm_stream_continuation_exhausted", "ERROR",
			[]string{"attempts", "final_reason", "billed_usage"},
		},
		{
			Ended{
				Call: c, Outcome: OutcomeRecovered, Requests: 2, Duration: 5 * time.Second, FirstContent: time.Second,
				FinishReason: "stop", Cause: CauseTimeout, Answer: u, Billed: u,
			},
			"llm_stream_ended", "INFO",
			[]string{
				"outcome", "requests", "duration", "first_content", "finish_reason", "cause", "answer_usage", "billed_usage",
			},
		},
	}
}

func otherEvents() []wanted {
	c := testCall()

	return []wanted{
		{
			PartialToolUseDiscarded{Call: c, ToolName: "search", PartialInputBytes: 17, Reason: "connection_reset"},
			"discarded_partial_tool_use", "INFO",
			[]string{"tool_name", "partial_input_bytes", "reason"},
		},
		{
			ToolCallCancel{Call: c, ID: "call_1", ToolName: "search", Reason: "connection_reset"},
			"tool_call_cancel", "INFO",
			[]string{"id", "name", "reason"},
		},
		{StreamReset{Call: c, Reason: "restart"}, "stream_reset", "INFO", []string{"reason"}},
		{
			Joined{Call: c, ContinuationAttempt: 1, Kind: JoinOverlap, Overlap: 20, Confidence: ConfidenceHigh},
			"llm_stream_joined", "INFO",
			[]string{"continuation_attempt", "kind", "overlap", "confidence"},
		},
		{
			OpenRetried{
				Call: c, Attempt: 1, Backoff: time.Second, ErrorKind: KindProviderError, Cause: CauseProvider5xx,
				ErrorMessage: "bad gateway", Status: 502,
			},
			"llm_stream_open_retried", "WARN",
			[]string{"attempt", "backoff", "error_kind", "cause", "error_message", "status"},
		},
		{
			ToolCallProgress{Call: c, Index: 1, ID: "call_1", ToolName: "search", Bytes: 120},
			"tool_call_progress", "DEBUG",
			[]string{"index", "id", "name", "bytes"},
		},
		{
			CheckpointFailed{Call: c, Operation: "put", ErrorMessage: "disk full"},
			"checkpoint_failed", "WARN",
			[]string{"operation", "error_message"},
		},
		{BreakerChanged{Call: c, From: "closed", To: "open"}, "breaker_changed", "WARN", []string{"from", "to"}},
		{
			LateError{Call: c, ErrorKind: KindBodyDecode, Cause: CauseConnectionReset, ErrorMessage: "unexpected EOF"},
			"late_error", "INFO",
			[]string{"error_kind", "cause", "error_message"},
		},
		{
			HandlerStalled{Call: c, Handler: 1, Event: "llm_stream_interrupted", Limit: time.Second},
			"handler_stalled", "WARN",
			[]string{"handler", "event", "limit"},
		},
		{
			Notice{Call: c, Kind: NoticeNested, Message: "passes everything through"},
			"notice", "INFO",
			[]string{"kind", "detail"},
		},
	}
}
