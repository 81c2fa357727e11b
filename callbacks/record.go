package callbacks

import (
	"log/slog"

	"github.com/eino-carryon/carryon/snapshot"
)

// record returns the fields of e's log record in their order: those of the call first.
func record(e Event) []slog.Attr {
	return append(e.Of().identity(), e.attrs()...)
}

func (c Call) identity() []slog.Attr {
	return []slog.Attr{
		slog.String("call_id", c.CallID),
		slog.String("provider", c.Provider),
		slog.String("model", c.Model),
		slog.String("run_id", c.RunID),
		slog.String("turn_id", c.TurnID),
	}
}

func (e Interrupted) attrs() []slog.Attr {
	as := []slog.Attr{
		slog.Int("original_attempt", e.OriginalAttempt),
		slog.Int("continuation_attempt", e.ContinuationAttempt),
	}
	as = append(as, failure(e.ErrorKind, e.Cause, e.ErrorMessage, e.Status)...)

	return append(as,
		slog.Int("committed_text_blocks", e.CommittedTextBlocks),
		slog.Bool("committed_partial_text", e.CommittedPartialText),
		slog.Int("discarded_partial_tool_uses", e.DiscardedPartialToolUses),
		slog.Int("discarded_reasoning_blocks", e.DiscardedReasoningBlocks),
		slog.Bool("usage_flushed", e.UsageFlushed),
		usage("usage", e.Usage),
		slog.String("plan", e.Plan.String()),
	)
}

func (e Started) attrs() []slog.Attr {
	as := []slog.Attr{
		slog.Int("continuation_attempt", e.ContinuationAttempt),
		slog.Duration("backoff", e.Backoff),
		slog.String("plan", e.Plan.String()),
		slog.Int("committed_text_blocks", e.CommittedTextBlocks),
		slog.Bool("committed_partial_text", e.CommittedPartialText),
		slog.Int("committed_text_bytes", e.CommittedTextBytes),
		slog.Int("committed_tool_calls", e.CommittedToolCalls),
		slog.String("history_rewrite", e.HistoryRewrite),
		slog.String("prompt", e.Prompt),
	}
	if e.PromptText != "" {
		as = append(as, slog.String("prompt_text", e.PromptText))
	}

	return as
}

func (e Completed) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("continuation_attempt", e.ContinuationAttempt),
		slog.String("completion_reason", e.CompletionReason),
		usage("usage", e.Usage),
		usage("answer_usage", e.Answer),
		usage("billed_usage", e.Billed),
	}
}

func (e Failed) attrs() []slog.Attr {
	as := []slog.Attr{slog.Int("continuation_attempt", e.ContinuationAttempt)}
	as = append(as, failure(e.ErrorKind, e.Cause, e.ErrorMessage, 0)...)

	return append(as, usage("usage", e.Usage))
}

func (e Cancelled) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("continuation_attempt", e.ContinuationAttempt),
		slog.String("reason", e.Reason),
	}
}

func (e Exhausted) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("attempts", e.Attempts),
		slog.String("final_reason", e.FinalReason),
		usage("billed_usage", e.Billed),
	}
}

func (e Ended) attrs() []slog.Attr {
	as := []slog.Attr{
		slog.String("outcome", string(e.Outcome)),
		slog.Int("requests", e.Requests),
		slog.Duration("duration", e.Duration),
		slog.Duration("first_content", e.FirstContent),
		slog.String("finish_reason", e.FinishReason),
	}
	if e.Cause != "" {
		as = append(as, slog.String("cause", string(e.Cause)))
	}

	return append(as, usage("answer_usage", e.Answer), usage("billed_usage", e.Billed))
}

func (e PartialToolUseDiscarded) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("tool_name", e.ToolName),
		slog.Int("partial_input_bytes", e.PartialInputBytes),
		slog.String("reason", e.Reason),
	}
}

func (e ToolCallCancel) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("id", e.ID),
		slog.String("name", e.ToolName),
		slog.String("reason", e.Reason),
	}
}

func (e StreamReset) attrs() []slog.Attr {
	return []slog.Attr{slog.String("reason", e.Reason)}
}

func (e Joined) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("continuation_attempt", e.ContinuationAttempt),
		slog.String("kind", string(e.Kind)),
		slog.Int("overlap", e.Overlap),
		slog.String("confidence", string(e.Confidence)),
	}
}

func (e OpenRetried) attrs() []slog.Attr {
	as := []slog.Attr{
		slog.Int("attempt", e.Attempt),
		slog.Duration("backoff", e.Backoff),
	}

	return append(as, failure(e.ErrorKind, e.Cause, e.ErrorMessage, e.Status)...)
}

func (e ToolCallProgress) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("index", e.Index),
		slog.String("id", e.ID),
		slog.String("name", e.ToolName),
		slog.Int("bytes", e.Bytes),
	}
}

func (e CheckpointFailed) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("operation", e.Operation),
		slog.String("error_message", BoundMessage(e.ErrorMessage)),
	}
}

func (e BreakerChanged) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("from", e.From),
		slog.String("to", e.To),
	}
}

func (e LateError) attrs() []slog.Attr {
	return failure(e.ErrorKind, e.Cause, e.ErrorMessage, 0)
}

func (e HandlerStalled) attrs() []slog.Attr {
	return []slog.Attr{
		slog.Int("handler", e.Handler),
		slog.String("event", e.Event),
		slog.Duration("limit", e.Limit),
	}
}

func (e Notice) attrs() []slog.Attr {
	return []slog.Attr{
		slog.String("kind", string(e.Kind)),
		slog.String("detail", BoundMessage(e.Message)), // "message" is what many log stores call the record's own
	}
}

// failure describes what went wrong; the status only if it is known. The message is bounded here once more, since
// anyone can make an event and no log line may grow with a provider's error page.
func failure(kind ErrorKind, cause Cause, message string, status int) []slog.Attr {
	as := []slog.Attr{
		slog.String("error_kind", string(kind)),
		slog.String("cause", string(cause)),
		slog.String("error_message", BoundMessage(message)),
	}
	if status != 0 {
		as = append(as, slog.Int("status", status))
	}

	return as
}

// usage prints u as a group. Numbers that no provider reported are left out, so that nobody adds them up as zeros.
func usage(key string, u snapshot.Usage) slog.Attr {
	as := []slog.Attr{slog.Bool("known", u.Known)}
	if u.Known {
		as = append(as,
			slog.Int("prompt", u.Prompt),
			slog.Int("cached", u.Cached),
			slog.Int("completion", u.Completion),
			slog.Int("reasoning", u.Reasoning),
			slog.Int("total", u.Total),
		)
	}
	if u.Unreported != 0 {
		as = append(as, slog.Int("unreported", u.Unreported))
	}

	return slog.GroupAttrs(key, as...)
}
