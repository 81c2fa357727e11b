package otelcallbacks

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

const secret = "sk-the-provider-quotes-the-request"

// everyEvent returns an event of each type, without a zero field.
func everyEvent() []callbacks.Event {
	c := callbacks.Call{CallID: "c-1", Provider: "OpenAI", Model: "example-model", RunID: "run-7", TurnID: "3"}
	u := snapshot.Usage{Known: true, Prompt: 10, Cached: 4, Completion: 5, Reasoning: 2, Total: 15}

	return []callbacks.Event{
		callbacks.Interrupted{
			Call: c, OriginalAttempt: 2, ErrorKind: callbacks.KindSSETransport, Cause: callbacks.CauseConnectionReset,
			ErrorMessage: secret, Status: 502, CommittedTextBlocks: 1, CommittedPartialText: true,
			DiscardedPartialToolUses: 1, DiscardedReasoningBlocks: 1, UsageFlushed: true, Usage: u,
			Plan: snapshot.TruncateBeforeTool,
		},
		callbacks.Started{
			Call: c, ContinuationAttempt: 1, Backoff: 2 * time.Second, Plan: snapshot.TruncateBeforeTool,
			CommittedTextBlocks: 1, CommittedPartialText: true, CommittedTextBytes: 40, CommittedToolCalls: 1,
			HistoryRewrite: "assistant+user", Prompt: "built-in", PromptText: secret,
		},
		callbacks.Joined{
			Call: c, ContinuationAttempt: 1, Kind: callbacks.JoinOverlap, Overlap: 20, Confidence: callbacks.ConfidenceHigh,
		},
		callbacks.Completed{Call: c, ContinuationAttempt: 1, CompletionReason: "stop", Usage: u, Answer: u, Billed: u},
		callbacks.Failed{
			Call: c, ContinuationAttempt: 1, ErrorKind: callbacks.KindProviderError, Cause: callbacks.CauseOverloaded,
			ErrorMessage: secret, Usage: u,
		},
		callbacks.Cancelled{Call: c, ContinuationAttempt: 1, Reason: "context canceled"},
		callbacks.Exhausted{Call: c, Attempts: 5, FinalReason: "budget", Billed: u},
		callbacks.Ended{
			Call: c, Outcome: callbacks.OutcomeFailed, Requests: 2, Duration: 5 * time.Second, FirstContent: time.Second,
			FinishReason: "stop", Cause: callbacks.CauseTimeout, Answer: u, Billed: u,
		},
		callbacks.PartialToolUseDiscarded{Call: c, ToolName: "search", PartialInputBytes: 17, Reason: "connection_reset"},
		callbacks.ToolCallCancel{Call: c, ID: "call_1", ToolName: "search", Reason: "connection_reset"},
		callbacks.StreamReset{Call: c, Reason: "connection_reset"},
		callbacks.OpenRetried{
			Call: c, Attempt: 1, Backoff: time.Second, ErrorKind: callbacks.KindProviderError,
			Cause: callbacks.CauseProvider5xx, ErrorMessage: secret, Status: 502,
		},
		callbacks.ToolCallProgress{Call: c, Index: 1, ID: "call_1", ToolName: "search", Bytes: 120},
		callbacks.CheckpointFailed{Call: c, Operation: "put", ErrorMessage: secret},
		callbacks.BreakerChanged{Call: c, From: "closed", To: "open"},
		callbacks.LateError{
			Call: c, ErrorKind: callbacks.KindBodyDecode, Cause: callbacks.CauseConnectionReset, ErrorMessage: secret,
		},
		callbacks.HandlerStalled{Call: c, Handler: 1, Event: "llm_stream_interrupted", Limit: time.Second},
		callbacks.Notice{Call: c, Kind: callbacks.NoticeNested, Message: secret},
	}
}

// meter is a handler and what it measured.
type meter struct {
	*Handler
	reader *sdkmetric.ManualReader
}

func newMeter(t *testing.T, opts ...Option) meter {
	t.Helper()
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithCardinalityLimit(0))
	h, err := New(append(opts, WithMeterProvider(provider))...)
	if err != nil {
		t.Fatal(err)
	}

	return meter{h, reader}
}

// metrics returns what was measured.
func (m meter) metrics(t *testing.T) []metricdata.Metrics {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := m.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	var ms []metricdata.Metrics
	for _, s := range all.ScopeMetrics {
		ms = append(ms, s.Metrics...)
	}

	return ms
}

// point is a number and what it is of.
type point struct {
	attributes attribute.Set
	value      string // a sum, or how many numbers and their sum
}

func points(t *testing.T, m metricdata.Metrics) []point {
	t.Helper()
	var ps []point
	switch d := m.Data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			ps = append(ps, point{p.Attributes, fmt.Sprint(p.Value)})
		}
	case metricdata.Histogram[int64]:
		for _, p := range d.DataPoints {
			ps = append(ps, point{p.Attributes, fmt.Sprintf("%d: %d", p.Count, p.Sum)})
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			ps = append(ps, point{p.Attributes, fmt.Sprintf("%d: %g", p.Count, p.Sum)})
		}
	default:
		t.Fatalf("%s is a %T", m.Name, d)
	}

	return ps
}

// lines writes what was measured as lines of text: the name, the attributes that not all have, the number.
func (m meter) lines(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, metric := range m.metrics(t) {
		for _, p := range points(t, metric) {
			line := metric.Name
			for _, a := range p.attributes.ToSlice() {
				if !slices.Contains(common(), string(a.Key)) {
					line += fmt.Sprintf(" %s=%s", a.Key, a.Value.String())
				}
			}
			lines = append(lines, line+" "+p.value)
		}
	}
	slices.Sort(lines)

	return lines
}

func common() []string {
	return []string{"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"}
}

// fill returns an event of e's type with the same odd value in each of its fields.
func fill(t *testing.T, e callbacks.Event, n int64, word string) callbacks.Event {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e)).Elem()
	fillStruct(v, n, word)
	odd, ok := reflect.TypeAssert[callbacks.Event](v)
	if !ok {
		t.Fatal("a copy is no event")
	}

	return odd
}

func fillStruct(v reflect.Value, n int64, word string) {
	for _, f := range v.Fields() {
		switch {
		case f.Kind() == reflect.Struct:
			fillStruct(f, n, word)
		case f.CanInt():
			f.SetInt(n)
		case f.Kind() == reflect.String:
			f.SetString(word)
		case f.Kind() == reflect.Bool:
			f.SetBool(true)
		}
	}
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// withModel returns e of another model.
func withModel(t *testing.T, e callbacks.Event, provider, model string) callbacks.Event {
	t.Helper()
	v := reflect.New(reflect.TypeOf(e)).Elem()
	v.Set(reflect.ValueOf(e))
	call := e.Of()
	call.Provider, call.Model = provider, model
	v.FieldByName("Call").Set(reflect.ValueOf(call))
	of, ok := reflect.TypeAssert[callbacks.Event](v)
	if !ok {
		t.Fatal("a copy is no event")
	}

	return of
}
