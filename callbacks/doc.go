// Package callbacks tells what happens while broken streams are continued: as typed events for programs, and as log
// records of fixed names and fields for people and log stores.
//
// # Events
//
// An [Event] is one of the structs of this package. A [Handler] gets them and picks those that it wants:
//
//	callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
//		switch e := e.(type) {
//		case callbacks.Interrupted:
//			metrics.Broken(e.Provider, e.Model, string(e.Cause))
//		case callbacks.Completed:
//			metrics.Mended(e.Provider, e.Model)
//		}
//	})
//
// [Slog] is the handler that logs them all. Of an answer that does not break [Ended] tells that the call is over and,
// while a tool call is held back, [ToolCallProgress] how it comes along.
//
// # Order
//
// The events of one model call share a CallID and come in this order:
//
//   - [Interrupted] says that an attempt broke and how the answer goes on; [Started], that the next attempt is due.
//   - Each Started is followed by exactly one [Completed], [Failed] or [Cancelled] of the same ContinuationAttempt.
//   - A continuation that breaks is Failed of its own number n, then Interrupted, then Started of n+1 or [Exhausted].
//   - Where the answer ends with the tool calls that arrived whole (snapshot.SynthesizeToolUse), no request is made:
//     Interrupted, Started without a backoff, Completed with the reason "tool_calls".
//   - After Exhausted, and after a Cancelled, no event claims progress.
//   - [Ended] is the last event of every call, broken or not. Its outcome is recovered where there was a Completed,
//     exhausted where there was an Exhausted, and cancelled where there was a Cancelled.
//   - [OpenRetried] stands for requests that failed before any content; they are no continuations.
//
// So the rates per provider and model can be computed from the log alone, which is what [Replay] does. They need every
// call, so that Ended is logged at INFO like what else is counted: one record a call.
//
// # Statistics
//
// [Stats] is a handler that counts, per provider and model: calls that broke and how many of them were recovered,
// causes, plans, waits, joins, what was kept, discarded and billed. [Replay] feeds the lines of a log to it, or to any
// other handler, so that the same numbers come from a file.
//
//	stats := callbacks.NewStats() // given to continuation.WithHandler
//	for _, m := range stats.Models() {
//		rate, known := m.RecoveryRate()
//		…
//	}
//
// Package callbacks/otel, a module of its own, has a handler for OpenTelemetry.
//
// # Handlers
//
// The handlers of a model are called one after the other, in the order in which they were given, from inside the
// consumer's Recv: what a handler did is done before the next chunk is returned. The events of different calls come
// concurrently. A handler that panics is skipped for that event. One that takes longer than a second is left behind
// and gets nothing more from that call, which [HandlerStalled] reports to the others. No handler can stop or change a
// stream, and no event enters the model's context.
//
// # Privacy
//
// Events hold names, counts, token numbers and the provider's own error messages; no prompt, answer, reasoning, tool
// argument, key or header. The one exception has to be asked for: [Started].PromptText. Error messages are cut to
// [MaxErrorMessage] bytes by [BoundMessage]. A provider may quote the request in its error: who must keep that out of
// the log drops error_message with the ReplaceAttr of a [slog.HandlerOptions].
//
// # Records
//
// All records begin with call_id, provider, model, run_id and turn_id. The fields that follow, with a question mark
// where a field is left out if it is not known or was not asked for:
//
//	llm_stream_interrupted WARN
//	    original_attempt continuation_attempt error_kind cause error_message status? committed_text_blocks
//	    committed_partial_text discarded_partial_tool_uses discarded_reasoning_blocks usage_flushed usage plan
//	llm_stream_continuation_started INFO
//	    continuation_attempt backoff plan committed_text_blocks committed_partial_text committed_text_bytes
//	    committed_tool_calls history_rewrite prompt prompt_text?
//	llm_stream_continuation_completed INFO
//	    continuation_attempt completion_reason usage answer_usage billed_usage
//	llm_stream_continuation_failed WARN
//	    continuation_attempt error_kind cause error_message usage
//	llm_stream_continuation_cancelled INFO
//	    continuation_attempt reason
//	llm_stream_continuation_exhausted ERROR
//	    attempts final_reason billed_usage
//	llm_stream_ended INFO
//	    outcome requests duration first_content finish_reason cause? answer_usage billed_usage
//	discarded_partial_tool_use INFO
//	    tool_name partial_input_bytes reason
//	tool_call_cancel INFO
//	    id name reason
//	stream_reset INFO
//	    reason
//	llm_stream_joined INFO
//	    continuation_attempt kind overlap confidence
//	llm_stream_open_retried WARN
//	    attempt backoff error_kind cause error_message status?
//	tool_call_progress DEBUG
//	    index id name bytes
//	checkpoint_failed WARN
//	    operation error_message
//	breaker_changed WARN
//	    from to
//	late_error INFO
//	    error_kind cause error_message
//	handler_stalled WARN
//	    handler event limit
//	notice INFO
//	    kind detail
//
// The names usage, answer_usage and billed_usage are groups of known, prompt, cached, completion, reasoning and total;
// if no provider reported a usage, known is false and stands alone. Durations are [slog.Duration] values, which
// [slog.JSONHandler] prints in nanoseconds.
package callbacks
