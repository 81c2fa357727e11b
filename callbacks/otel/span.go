package otelcallbacks

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/eino-carryon/carryon/callbacks"
)

// addToSpan adds e to the span of ctx, if there is one that is recorded.
func addToSpan(ctx context.Context, e callbacks.Event) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	as, ok := continuationAttributes(e)
	if !ok {
		as, ok = otherAttributes(e)
	}
	if ok {
		span.AddEvent(e.Name(), trace.WithAttributes(append(as, text("call_id", e.Of().CallID))...))
	}
}

func continuationAttributes(e callbacks.Event) ([]attribute.KeyValue, bool) {
	switch e := e.(type) {
	case callbacks.Interrupted:
		return []attribute.KeyValue{
			number("original_attempt", e.OriginalAttempt), number("continuation_attempt", e.ContinuationAttempt),
			errorType(e.Cause), text("error_kind", string(e.ErrorKind)), text("plan", e.Plan.String()),
			number("committed_text_blocks", e.CommittedTextBlocks), flag("committed_partial_text", e.CommittedPartialText),
			number("discarded_partial_tool_uses", e.DiscardedPartialToolUses),
			number("discarded_reasoning_blocks", e.DiscardedReasoningBlocks), flag("usage_flushed", e.UsageFlushed),
		}, true
	case callbacks.Started:
		return []attribute.KeyValue{
			number("continuation_attempt", e.ContinuationAttempt), seconds("backoff", e.Backoff.Seconds()),
			text("plan", e.Plan.String()), number("committed_text_bytes", e.CommittedTextBytes),
			number("committed_tool_calls", e.CommittedToolCalls), text("history_rewrite", e.HistoryRewrite),
		}, true
	case callbacks.Completed:
		return []attribute.KeyValue{
			number("continuation_attempt", e.ContinuationAttempt), text("completion_reason", e.CompletionReason),
		}, true
	case callbacks.Failed:
		return []attribute.KeyValue{
			number("continuation_attempt", e.ContinuationAttempt), errorType(e.Cause), text("error_kind", string(e.ErrorKind)),
		}, true
	case callbacks.Cancelled:
		return []attribute.KeyValue{number("continuation_attempt", e.ContinuationAttempt), text("reason", e.Reason)}, true
	case callbacks.Exhausted:
		return []attribute.KeyValue{number("attempts", e.Attempts), text("final_reason", e.FinalReason)}, true
	case callbacks.Joined:
		return []attribute.KeyValue{
			number("continuation_attempt", e.ContinuationAttempt), text("kind", string(e.Kind)), number("overlap", e.Overlap),
			text("confidence", string(e.Confidence)),
		}, true
	default:
		return nil, false
	}
}

func otherAttributes(e callbacks.Event) ([]attribute.KeyValue, bool) {
	switch e := e.(type) {
	case callbacks.OpenRetried:
		return []attribute.KeyValue{
			number("attempt", e.Attempt), seconds("backoff", e.Backoff.Seconds()), errorType(e.Cause),
			text("error_kind", string(e.ErrorKind)),
		}, true
	case callbacks.PartialToolUseDiscarded:
		return []attribute.KeyValue{
			text("tool_name", e.ToolName), number("partial_input_bytes", e.PartialInputBytes), text("reason", e.Reason),
		}, true
	case callbacks.StreamReset:
		return []attribute.KeyValue{text("reason", e.Reason)}, true
	case callbacks.LateError:
		return []attribute.KeyValue{errorType(e.Cause), text("error_kind", string(e.ErrorKind))}, true
	case callbacks.BreakerChanged:
		return []attribute.KeyValue{text("from", e.From), text("to", e.To)}, true
	case callbacks.CheckpointFailed:
		return []attribute.KeyValue{text("operation", e.Operation)}, true
	case callbacks.HandlerStalled:
		return []attribute.KeyValue{number("handler", e.Handler), text("event", e.Event), seconds("limit", e.Limit.Seconds())}, true
	case callbacks.Notice:
		return []attribute.KeyValue{text("kind", string(e.Kind))}, true
	default: // Ended is what the span's own end tells
		return nil, false
	}
}

func errorType(c callbacks.Cause) attribute.KeyValue {
	return semconv.ErrorTypeKey.String(shortened(string(c)))
}

func field(name string) attribute.Key { return attribute.Key("carryon." + name) }

func text(name, value string) attribute.KeyValue { return field(name).String(shortened(value)) }

func number(name string, value int) attribute.KeyValue { return field(name).Int(value) }

func flag(name string, value bool) attribute.KeyValue { return field(name).Bool(value) }

func seconds(name string, value float64) attribute.KeyValue { return field(name).Float64(value) }
