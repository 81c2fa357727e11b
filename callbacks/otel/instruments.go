package otelcallbacks

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
)

// The attributes that the conventions have no name for.
const (
	keyPlan           = attribute.Key("carryon.plan")
	keyReason         = attribute.Key("carryon.reason")
	keyWaitBefore     = attribute.Key("carryon.wait.before")
	keyJoinKind       = attribute.Key("carryon.join.kind")
	keyJoinConfidence = attribute.Key("carryon.join.confidence")
	keyBreakerState   = attribute.Key("carryon.breaker.state")
	keyOperation      = attribute.Key("carryon.checkpoint.operation")
	keyNotice         = attribute.Key("carryon.notice")
)

// instruments are what is measured with.
type instruments struct {
	tokens     genaiconv.ClientTokenUsage
	duration   genaiconv.ClientOperationDuration
	firstChunk genaiconv.ClientOperationTimeToFirstChunk
	waits      metric.Float64Histogram

	interruptedCalls, recoveredCalls, exhaustedCalls, cancelledCalls metric.Int64Counter
	interruptions, continuations, failedContinuations, openRetries   metric.Int64Counter
	joins, keptText, discardedToolCalls, discardedToolInput          metric.Int64Counter
	restarts, lateErrors                                             metric.Int64Counter
	breakerChanges, checkpointFailures, stalledHandlers, notices     metric.Int64Counter
}

func newInstruments(m metric.Meter) (instruments, error) {
	var in instruments
	var errs [4]error
	in.tokens, errs[0] = genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(tokenBounds()...))
	in.duration, errs[1] = genaiconv.NewClientOperationDuration(m, metric.WithExplicitBucketBoundaries(secondBounds()...))
	in.firstChunk, errs[2] = genaiconv.NewClientOperationTimeToFirstChunk(m, metric.WithExplicitBucketBoundaries(firstBounds()...))
	in.waits, errs[3] = m.Float64Histogram("carryon.wait.duration", metric.WithUnit("s"),
		metric.WithDescription("Announced waits before a continuation or an open retry."),
		metric.WithExplicitBucketBoundaries(secondBounds()...))
	err := errors.Join(errs[:]...)

	for _, c := range in.counters() {
		made, failed := m.Int64Counter(c.name, metric.WithUnit(c.unit), metric.WithDescription(c.description))
		*c.to, err = made, errors.Join(err, failed)
	}

	return in, err
}

type counter struct {
	to                      *metric.Int64Counter
	name, unit, description string
}

func (in *instruments) counters() []counter {
	return []counter{
		{&in.interruptedCalls, "carryon.interrupted_calls", "{call}", "Model calls that broke at least once."},
		{&in.recoveredCalls, "carryon.recovered_calls", "{call}", "Model calls that were brought to their end after a break."},
		{&in.exhaustedCalls, "carryon.exhausted_calls", "{call}", "Model calls that were given up."},
		{&in.cancelledCalls, "carryon.cancelled_calls", "{call}", "Model calls that their caller ended during a recovery."},
		{&in.interruptions, "carryon.interruptions", "{interruption}", "Attempts that broke."},
		{&in.continuations, "carryon.continuations", "{continuation}", "Continuations that were started."},
		{&in.failedContinuations, "carryon.failed_continuations", "{continuation}", "Continuations that failed."},
		{&in.openRetries, "carryon.open_retries", "{request}", "Requests made again that failed before any content."},
		{&in.joins, "carryon.joins", "{join}", "Continuations joined to the text before them."},
		{&in.keptText, "carryon.kept_text", "By", "Text that a restart at each break would have had written again."},
		{&in.discardedToolCalls, "carryon.discarded_tool_calls", "{call}", "Tool calls that had not arrived whole."},
		{&in.discardedToolInput, "carryon.discarded_tool_input", "By", "What had arrived of their arguments."},
		{&in.restarts, "carryon.restarts", "{restart}", "Answers that started over."},
		{&in.lateErrors, "carryon.late_errors", "{error}", "Errors behind a whole answer."},
		{&in.breakerChanges, "carryon.breaker_changes", "{change}", "Changes of the circuit breaker's state."},
		{&in.checkpointFailures, "carryon.checkpoint_failures", "{failure}", "Failures of a checkpoint store."},
		{&in.stalledHandlers, "carryon.stalled_handlers", "{handler}", "Handlers that took too long."},
		{&in.notices, "carryon.notices", "{notice}", "Notices."},
	}
}

// The bounds of buckets are those that the conventions advise.

func tokenBounds() []float64 {
	return []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
}

func secondBounds() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

func firstBounds() []float64 {
	return []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
}
