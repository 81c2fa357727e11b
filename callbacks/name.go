package callbacks

// Name returns "llm_stream_interrupted".
func (Interrupted) Name() string { return "llm_stream_interrupted" }

// Name returns "llm_stream_continuation_started".
func (Started) Name() string { return "llm_stream_continuation_started" }

// Name returns "llm_stream_continuation_completed".
func (Completed) Name() string { return "llm_stream_continuation_completed" }

// Name returns "llm_stream_continuation_failed".
func (Failed) Name() string { return "llm_stream_continuation_failed" }

// Name returns "llm_stream_continuation_cancelled".
func (Cancelled) Name() string { return "llm_stream_continuation_cancelled" }

// Name returns "llm_stream_continuation_exhausted".
func (Exhausted) Name() string { return "llm_stream_continuation_exhausted" }

// Name returns "llm_stream_ended".
func (Ended) Name() string { return "llm_stream_ended" }

// Name returns "discarded_partial_tool_use".
func (PartialToolUseDiscarded) Name() string { return "discarded_partial_tool_use" }

// Name returns "tool_call_cancel".
func (ToolCallCancel) Name() string { return "tool_call_cancel" }

// Name returns "stream_reset".
func (StreamReset) Name() string { return "stream_reset" }

// Name returns "llm_stream_joined".
func (Joined) Name() string { return "llm_stream_joined" }

// Name returns "llm_stream_open_retried".
func (OpenRetried) Name() string { return "llm_stream_open_retried" }

// Name returns "tool_call_progress".
func (ToolCallProgress) Name() string { return "tool_call_progress" }

// Name returns "checkpoint_failed".
func (CheckpointFailed) Name() string { return "checkpoint_failed" }

// Name returns "breaker_changed".
func (BreakerChanged) Name() string { return "breaker_changed" }

// Name returns "late_error".
func (LateError) Name() string { return "late_error" }

// Name returns "handler_stalled".
func (HandlerStalled) Name() string { return "handler_stalled" }

// Name returns "notice".
func (Notice) Name() string { return "notice" }
