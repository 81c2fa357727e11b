package otelcallbacks

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/eino-carryon/carryon/callbacks"
)

const scope = "github.com/eino-carryon/carryon/callbacks/otel"

// Handler is a [callbacks.Handler]. It is safe for concurrent use and may be given to many models. It holds nothing to
// close: flushing and shutting down are the providers' affair. Make it with [New].
type Handler struct {
	instruments instruments
	labels      labels
}

// New returns a Handler. The error names an option that is out of range, or is the meter provider's.
func New(opts ...Option) (*Handler, error) {
	c, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	in, err := newInstruments(c.meters.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL)))
	if err != nil {
		return nil, err
	}

	return &Handler{instruments: in, labels: newLabels(c.maxModels)}, nil
}

// Handle counts e and adds it to the span of ctx. A nil e is nothing.
func (h *Handler) Handle(ctx context.Context, e callbacks.Event) {
	switch e.(type) {
	case nil, callbacks.ToolCallProgress, callbacks.ToolCallCancel:
		return // the latter accompanies a PartialToolUseDiscarded
	}
	h.measure(ctx, e)
	addToSpan(ctx, e)
}

// measure records e's metrics.
func (h *Handler) measure(ctx context.Context, e callbacks.Event) {
	m := measurement{ctx: ctx, handler: h, model: h.labels.model(e.Of())}
	if !m.ofContinuation(e) {
		m.ofOther(e)
	}
}

// measurement is the recording of one event.
type measurement struct {
	ctx     context.Context //nolint:containedctx // it lives as long as the call of Handle
	handler *Handler
	model   []attribute.KeyValue
}

// set returns the attributes of a metric: those of the model, and more.
func (m measurement) set(more ...attribute.KeyValue) attribute.Set {
	return attribute.NewSet(slices.Concat(m.model, more)...)
}

// add counts n, which is nothing if it is not positive.
func (m measurement) add(c metric.Int64Counter, n int, more ...attribute.KeyValue) {
	if n > 0 {
		c.Add(m.ctx, int64(n), metric.WithAttributeSet(m.set(more...)))
	}
}

// word returns a word of an event as an attribute with few values.
func (m measurement) word(key attribute.Key, word string) attribute.KeyValue {
	return key.String(m.handler.labels.word(key, word))
}
