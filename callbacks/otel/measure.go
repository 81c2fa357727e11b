package otelcallbacks

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// ofContinuation records an event of a recovery, or of a call's end, and reports whether e is one.
func (m measurement) ofContinuation(e callbacks.Event) bool {
	in := m.handler.instruments
	switch e := e.(type) {
	case callbacks.Interrupted:
		if e.ContinuationAttempt == 0 {
			m.add(in.interruptedCalls, 1)
		}
		m.add(in.interruptions, 1, m.cause(e.Cause), m.word(keyPlan, e.Plan.String()))
	case callbacks.Started:
		m.add(in.continuations, 1, m.word(keyPlan, e.Plan.String()))
		m.wait(e.Backoff, "continuation")
		if e.Plan != snapshot.WholeRestart {
			m.add(in.keptText, e.CommittedTextBytes)
		}
	case callbacks.Completed:
		m.add(in.recoveredCalls, 1)
		m.billed(e.Billed)
	case callbacks.Failed:
		m.add(in.failedContinuations, 1, m.cause(e.Cause))
	case callbacks.Cancelled:
		m.add(in.cancelledCalls, 1)
	case callbacks.Exhausted:
		m.add(in.exhaustedCalls, 1, m.word(keyReason, e.FinalReason))
		m.billed(e.Billed)
	case callbacks.Ended:
		m.ended(e)
	case callbacks.Joined:
		m.add(in.joins, 1, m.word(keyJoinKind, string(e.Kind)), m.word(keyJoinConfidence, string(e.Confidence)))
	default:
		return false
	}

	return true
}

func (m measurement) ofOther(e callbacks.Event) {
	in := m.handler.instruments
	switch e := e.(type) {
	case callbacks.OpenRetried:
		m.add(in.openRetries, 1, m.cause(e.Cause))
		m.wait(e.Backoff, "open_retry")
	case callbacks.PartialToolUseDiscarded:
		m.add(in.discardedToolCalls, 1)
		m.add(in.discardedToolInput, e.PartialInputBytes)
	case callbacks.StreamReset:
		m.add(in.restarts, 1)
	case callbacks.LateError:
		m.add(in.lateErrors, 1, m.cause(e.Cause))
	case callbacks.BreakerChanged:
		m.add(in.breakerChanges, 1, m.word(keyBreakerState, e.To))
	case callbacks.CheckpointFailed:
		m.add(in.checkpointFailures, 1, m.word(keyOperation, e.Operation))
	case callbacks.HandlerStalled:
		m.add(in.stalledHandlers, 1)
	case callbacks.Notice:
		m.add(in.notices, 1, m.word(keyNotice, string(e.Kind)))
	}
}

func (m measurement) cause(c callbacks.Cause) attribute.KeyValue {
	return m.word(semconv.ErrorTypeKey, string(c))
}

func (m measurement) wait(d time.Duration, before string) {
	if d > 0 {
		m.handler.instruments.waits.Record(m.ctx, d.Seconds(), metric.WithAttributeSet(m.set(keyWaitBefore.String(before))))
	}
}

// ended records how long a call took, and what it was billed if nothing else has told that.
func (m measurement) ended(e callbacks.Ended) {
	in := m.handler.instruments
	var failure []attribute.KeyValue
	switch e.Outcome {
	case callbacks.OutcomeComplete:
		m.billed(e.Billed)
	case callbacks.OutcomeRecovered:
	case callbacks.OutcomeExhausted:
		failure = append(failure, m.cause(e.Cause))
	case callbacks.OutcomeCancelled:
		failure = append(failure, m.word(semconv.ErrorTypeKey, string(e.Outcome)))
		m.billed(e.Billed)
	default:
		failure = append(failure, m.cause(e.Cause))
		m.billed(e.Billed)
	}
	if e.Duration >= 0 {
		in.duration.RecordSet(m.ctx, e.Duration.Seconds(), m.set(failure...))
	}
	if e.FirstContent > 0 {
		in.firstChunk.RecordSet(m.ctx, e.FirstContent.Seconds(), m.set())
	}
}

func (m measurement) billed(u snapshot.Usage) {
	if !u.Known {
		return
	}
	m.tokens(u.Prompt, semconv.GenAITokenTypeInput)
	m.tokens(u.Completion, semconv.GenAITokenTypeOutput)
}

func (m measurement) tokens(n int, typ attribute.KeyValue) {
	if n >= 0 {
		m.handler.instruments.tokens.RecordSet(m.ctx, int64(n), m.set(typ))
	}
}
