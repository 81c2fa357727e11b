package otelcallbacks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/eino-carryon/carryon/callbacks"
)

// traced returns the events of a span that is under way while events come.
func traced(t *testing.T, events ...callbacks.Event) []sdktrace.Event {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	ctx, span := provider.Tracer("test").Start(t.Context(), "chat example-model")
	m := newMeter(t)
	for _, e := range events {
		m.Handle(ctx, e)
	}
	span.End()
	m.Handle(ctx, everyEvent()[0]) // nothing is added to a span that has ended
	spans := exporter.GetSpans()
	if len(spans) != 1 {
		t.Fatalf("%d spans", len(spans))
	}

	return spans[0].Events
}

func TestSpanEvents(t *testing.T) {
	all := everyEvent()
	got := traced(t, all...)
	var names, want []string
	for _, e := range got {
		names = append(names, e.Name)
	}
	for _, e := range all {
		switch e.(type) {
		case callbacks.ToolCallProgress, callbacks.ToolCallCancel, callbacks.Ended:
		default:
			want = append(want, e.Name())
		}
	}
	same(t, names, want)

	as := attribute.NewSet(got[0].Attributes...)
	for key, want := range map[string]string{
		"carryon.call_id": "c-1", "error.type": "connection_reset", "carryon.plan": "TruncateBeforeTool",
		"carryon.discarded_partial_tool_uses": "1", "carryon.committed_partial_text": "true",
	} {
		if v, ok := as.Value(attribute.Key(key)); !ok || v.String() != want {
			t.Errorf("%s = %s, want %s", key, v.String(), want)
		}
	}
	for _, e := range got {
		if !slices.ContainsFunc(e.Attributes, func(a attribute.KeyValue) bool { return a.Key == "carryon.call_id" }) {
			t.Errorf("%s does not tell its call", e.Name)
		}
	}
}

func TestSpanEventsHoldNoMessages(t *testing.T) {
	for _, e := range traced(t, everyEvent()...) {
		if strings.Contains(fmt.Sprint(e.Attributes), secret) {
			t.Errorf("%s holds %v", e.Name, e.Attributes)
		}
	}
}

func TestSpanEventsOfOddEvents(t *testing.T) {
	var odd []callbacks.Event
	for _, e := range everyEvent() {
		odd = append(odd, fill(t, e, -1, "\xff"), fill(t, e, 0, ""), fill(t, e, 1<<62, strings.Repeat("é", 1<<16)))
	}
	for _, e := range traced(t, odd...) {
		for _, a := range e.Attributes {
			if s := a.Value.String(); len(s) > maxName || !utf8.ValidString(s) {
				t.Errorf("%s: %s has %d bytes", e.Name, a.Key, len(s))
			}
		}
	}
}

func TestNoSpanNoEvents(t *testing.T) {
	m := newMeter(t)
	m.Handle(t.Context(), everyEvent()[0]) // does not panic
	if len(m.lines(t)) == 0 {
		t.Error("nothing was measured")
	}
}

func TestShortened(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"example-model", "example-model"},
		{"a\xffb", "a\uFFFDb"},
		{strings.Repeat("x", maxName), strings.Repeat("x", maxName)},
		{strings.Repeat("x", maxName+1), strings.Repeat("x", maxName)},
		{strings.Repeat("x", maxName-1) + "é", strings.Repeat("x", maxName-1)},
		{strings.Repeat("\xff", maxName), strings.Repeat("\uFFFD", maxName/3)},
		{strings.Repeat("x", maxName-2) + "é" + "y", strings.Repeat("x", maxName-2) + "é"},
	} {
		if got := shortened(c.in); got != c.want {
			t.Errorf("%q became %q", c.in, got)
		}
	}
}
