package callbacks

import (
	"encoding/json"
	"errors"
	"fmt"
)

// ErrNotARecord says that a line is a log record, but not that of an event.
var ErrNotARecord = errors.New("callbacks: not the record of an event")

// ParseRecord reads a line that [slog.JSONHandler] wrote for [Slog] back into its event. A field that is missing is zero,
// and one that it does not know is passed over, so that logs of other versions can be read; what the record does not have
// (the order of calls, a message beyond [MaxErrorMessage]) does not come back. A JSON object with another msg gives
// [ErrNotARecord]; everything else that is not such a line, an error that says what is wrong with it. The line is not
// kept. Safe for concurrent use.
func ParseRecord(line []byte) (Event, error) {
	var f fields
	if err := json.Unmarshal(line, &f.values); err != nil {
		return nil, fmt.Errorf("callbacks: not a JSON object: %w", err)
	}
	var name string
	if json.Unmarshal(f.values["msg"], &name) != nil {
		return nil, ErrNotARecord
	}
	read, known := readers()[name]
	if !known {
		return nil, ErrNotARecord
	}
	e := read(&f)
	if f.err != nil {
		return nil, fmt.Errorf("callbacks: %s: %w", name, f.err)
	}

	return e, nil
}

// readers returns how the fields of each event are read, by the event's name.
func readers() map[string]func(*fields) Event {
	return map[string]func(*fields) Event{
		Interrupted{}.Name():             readInterrupted,
		Started{}.Name():                 readStarted,
		Completed{}.Name():               readCompleted,
		Failed{}.Name():                  readFailed,
		Cancelled{}.Name():               readCancelled,
		Exhausted{}.Name():               readExhausted,
		Ended{}.Name():                   readEnded,
		PartialToolUseDiscarded{}.Name(): readPartialToolUseDiscarded,
		ToolCallCancel{}.Name():          readToolCallCancel,
		StreamReset{}.Name():             readStreamReset,
		Joined{}.Name():                  readJoined,
		OpenRetried{}.Name():             readOpenRetried,
		ToolCallProgress{}.Name():        readToolCallProgress,
		CheckpointFailed{}.Name():        readCheckpointFailed,
		BreakerChanged{}.Name():          readBreakerChanged,
		LateError{}.Name():               readLateError,
		HandlerStalled{}.Name():          readHandlerStalled,
		Notice{}.Name():                  readNotice,
	}
}

func readInterrupted(f *fields) Event {
	return Interrupted{
		Call:                     f.call(),
		OriginalAttempt:          f.int("original_attempt"),
		ContinuationAttempt:      f.int("continuation_attempt"),
		ErrorKind:                ErrorKind(f.string("error_kind")),
		Cause:                    Cause(f.string("cause")),
		ErrorMessage:             f.string("error_message"),
		Status:                   f.int("status"),
		CommittedTextBlocks:      f.int("committed_text_blocks"),
		CommittedPartialText:     f.bool("committed_partial_text"),
		DiscardedPartialToolUses: f.int("discarded_partial_tool_uses"),
		DiscardedReasoningBlocks: f.int("discarded_reasoning_blocks"),
		UsageFlushed:             f.bool("usage_flushed"),
		Usage:                    f.usage("usage"),
		Plan:                     f.plan("plan"),
	}
}

func readStarted(f *fields) Event {
	return Started{
		Call:                 f.call(),
		ContinuationAttempt:  f.int("continuation_attempt"),
		Backoff:              f.duration("backoff"),
		Plan:                 f.plan("plan"),
		CommittedTextBlocks:  f.int("committed_text_blocks"),
		CommittedPartialText: f.bool("committed_partial_text"),
		CommittedTextBytes:   f.int("committed_text_bytes"),
		CommittedToolCalls:   f.int("committed_tool_calls"),
		HistoryRewrite:       f.string("history_rewrite"),
		Prompt:               f.string("prompt"),
		PromptText:           f.string("prompt_text"),
	}
}

func readCompleted(f *fields) Event {
	return Completed{
		Call:                f.call(),
		ContinuationAttempt: f.int("continuation_attempt"),
		CompletionReason:    f.string("completion_reason"),
		Usage:               f.usage("usage"),
		Answer:              f.usage("answer_usage"),
		Billed:              f.usage("billed_usage"),
	}
}

func readFailed(f *fields) Event {
	return Failed{
		Call:                f.call(),
		ContinuationAttempt: f.int("continuation_attempt"),
		ErrorKind:           ErrorKind(f.string("error_kind")),
		Cause:               Cause(f.string("cause")),
		ErrorMessage:        f.string("error_message"),
		Usage:               f.usage("usage"),
	}
}

func readCancelled(f *fields) Event {
	return Cancelled{Call: f.call(), ContinuationAttempt: f.int("continuation_attempt"), Reason: f.string("reason")}
}

func readExhausted(f *fields) Event {
	return Exhausted{
		Call: f.call(), Attempts: f.int("attempts"), FinalReason: f.string("final_reason"), Billed: f.usage("billed_usage"),
	}
}

func readEnded(f *fields) Event {
	return Ended{
		Call:         f.call(),
		Outcome:      Outcome(f.string("outcome")),
		Requests:     f.int("requests"),
		Duration:     f.duration("duration"),
		FirstContent: f.duration("first_content"),
		FinishReason: f.string("finish_reason"),
		Cause:        Cause(f.string("cause")),
		Answer:       f.usage("answer_usage"),
		Billed:       f.usage("billed_usage"),
	}
}

func readPartialToolUseDiscarded(f *fields) Event {
	return PartialToolUseDiscarded{
		Call: f.call(), ToolName: f.string("tool_name"), PartialInputBytes: f.int("partial_input_bytes"), Reason: f.string("reason"),
	}
}

func readToolCallCancel(f *fields) Event {
	return ToolCallCancel{Call: f.call(), ID: f.string("id"), ToolName: f.string("name"), Reason: f.string("reason")}
}

func readStreamReset(f *fields) Event {
	return StreamReset{Call: f.call(), Reason: f.string("reason")}
}

func readJoined(f *fields) Event {
	return Joined{
		Call:                f.call(),
		ContinuationAttempt: f.int("continuation_attempt"),
		Kind:                JoinKind(f.string("kind")),
		Overlap:             f.int("overlap"),
		Confidence:          Confidence(f.string("confidence")),
	}
}

func readOpenRetried(f *fields) Event {
	return OpenRetried{
		Call:         f.call(),
		Attempt:      f.int("attempt"),
		Backoff:      f.duration("backoff"),
		ErrorKind:    ErrorKind(f.string("error_kind")),
		Cause:        Cause(f.string("cause")),
		ErrorMessage: f.string("error_message"),
		Status:       f.int("status"),
	}
}

func readToolCallProgress(f *fields) Event {
	return ToolCallProgress{
		Call: f.call(), Index: f.int("index"), ID: f.string("id"), ToolName: f.string("name"), Bytes: f.int("bytes"),
	}
}

func readCheckpointFailed(f *fields) Event {
	return CheckpointFailed{Call: f.call(), Operation: f.string("operation"), ErrorMessage: f.string("error_message")}
}

func readBreakerChanged(f *fields) Event {
	return BreakerChanged{Call: f.call(), From: f.string("from"), To: f.string("to")}
}

func readLateError(f *fields) Event {
	return LateError{
		Call: f.call(), ErrorKind: ErrorKind(f.string("error_kind")), Cause: Cause(f.string("cause")),
		ErrorMessage: f.string("error_message"),
	}
}

func readHandlerStalled(f *fields) Event {
	return HandlerStalled{Call: f.call(), Handler: f.int("handler"), Event: f.string("event"), Limit: f.duration("limit")}
}

func readNotice(f *fields) Event {
	return Notice{Call: f.call(), Kind: NoticeKind(f.string("kind")), Message: f.string("detail")}
}
