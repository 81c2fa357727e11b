package otelcallbacks_test

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectormetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	otelcallbacks "github.com/eino-carryon/carryon/callbacks/otel"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// collector receives OTLP over HTTP, as an OpenTelemetry collector does.
type collector struct {
	t       *testing.T
	mu      sync.Mutex
	metrics []*metrics.Metric
	schemas []string
	spans   []string // their events, as lines
}

func newCollector(t *testing.T) (c *collector, address string) {
	t.Helper()
	c = &collector{t: t}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/metrics", c.takeMetrics)
	mux.HandleFunc("POST /v1/traces", c.takeTraces)
	server := httptest.NewServer(mux) // on 127.0.0.1
	t.Cleanup(server.Close)

	return c, strings.TrimPrefix(server.URL, "http://")
}

func (c *collector) decode(w http.ResponseWriter, r *http.Request, into proto.Message) bool {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unzipped, err := gzip.NewReader(r.Body)
		if err != nil {
			c.t.Error(err)
		}
		body = unzipped
	}
	raw, err := io.ReadAll(body)
	if err == nil {
		err = proto.Unmarshal(raw, into)
	}
	if err != nil {
		c.t.Error(err)
		w.WriteHeader(http.StatusBadRequest)
	}
	w.Header().Set("Content-Type", "application/x-protobuf")

	return err == nil
}

func (c *collector) takeMetrics(w http.ResponseWriter, r *http.Request) {
	var request collectormetrics.ExportMetricsServiceRequest
	if !c.decode(w, r, &request) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceMetrics() {
		for _, scope := range resource.GetScopeMetrics() {
			c.schemas = append(c.schemas, scope.GetScope().GetName()+" "+scope.GetSchemaUrl())
			c.metrics = append(c.metrics, scope.GetMetrics()...)
		}
	}
}

func (c *collector) takeTraces(w http.ResponseWriter, r *http.Request) {
	var request collectortrace.ExportTraceServiceRequest
	if !c.decode(w, r, &request) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				for _, e := range span.GetEvents() {
					c.spans = append(c.spans, e.GetName()+" "+attributes(e.GetAttributes()))
				}
			}
		}
	}
}

func attributes(all []*common.KeyValue) string {
	var lines []string
	for _, kv := range all {
		value := kv.GetValue().GetStringValue()
		if n := kv.GetValue().GetIntValue(); n != 0 {
			value = fmt.Sprint(n)
		}
		lines = append(lines, kv.GetKey()+"="+value)
	}
	slices.Sort(lines)

	return strings.Join(lines, " ")
}

// sums returns what the collector knows of the counters and histograms.
func (c *collector) sums() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, m := range c.metrics {
		for _, p := range m.GetSum().GetDataPoints() {
			lines = append(lines, fmt.Sprintf("%s{%s} %d", m.GetName(), attributes(p.GetAttributes()), p.GetAsInt()))
		}
		for _, p := range m.GetHistogram().GetDataPoints() {
			lines = append(lines, fmt.Sprintf("%s{%s} %g", m.GetName(), attributes(p.GetAttributes()), p.GetSum()))
		}
	}
	slices.Sort(lines)

	return lines
}

func TestACollectorGetsIt(t *testing.T) {
	c, address := newCollector(t)
	metricExporter, err := otlpmetrichttp.New(t.Context(), otlpmetrichttp.WithEndpoint(address), otlpmetrichttp.WithInsecure(),
		otlpmetrichttp.WithCompression(otlpmetrichttp.GzipCompression))
	if err != nil {
		t.Fatal(err)
	}
	traceExporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpoint(address), otlptracehttp.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(metricExporter)))
	tracers := sdktrace.NewTracerProvider(sdktrace.WithBatcher(traceExporter))

	h, err := otelcallbacks.New(otelcallbacks.WithMeterProvider(meters))
	if err != nil {
		t.Fatal(err)
	}
	ctx, span := tracers.Tracer("test").Start(t.Context(), "chat example-model")
	ask(ctx, t, continuation.WithHandler(h))
	span.End()
	if err := meters.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := tracers.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}

	const model = "gen_ai.operation.name=chat gen_ai.provider.name=anthropic gen_ai.request.model=example\uFFFDmodel"
	want := []string{
		"carryon.continuations{carryon.plan=ContinueText " + model + "} 1",
		"carryon.interrupted_calls{" + model + "} 1",
		"carryon.interruptions{carryon.plan=ContinueText error.type=connection_reset " + model + "} 1",
		"carryon.joins{carryon.join.confidence=medium carryon.join.kind=plain " + model + "} 1",
		"carryon.kept_text{" + model + "} 22",
		"carryon.recovered_calls{" + model + "} 1",
		"gen_ai.client.token.usage{" + model + " gen_ai.token.type=input} 30",
		"gen_ai.client.token.usage{" + model + " gen_ai.token.type=output} 8",
	}
	if got := slices.DeleteFunc(c.sums(), takesTime); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := strings.Join(c.schemas, "\n"); !strings.HasSuffix(got, "/callbacks/otel https://opentelemetry.io/schemas/1.41.0") {
		t.Errorf("schema %s", got)
	}
	for i, name := range []string{
		"llm_stream_interrupted", "llm_stream_continuation_started", "llm_stream_joined", "llm_stream_continuation_completed",
	} {
		if i >= len(c.spans) || !strings.HasPrefix(c.spans[i], name+" ") {
			t.Errorf("the span's event %d is not %s:\n%s", i, name, strings.Join(c.spans, "\n"))
		}
	}
	if strings.Contains(strings.Join(append(c.spans, c.sums()...), "\n"), "Water") {
		t.Error("the answer got out")
	}
}

// takesTime reports whether a number is not the same each time.
func takesTime(line string) bool {
	return strings.HasPrefix(line, "carryon.wait.duration") || strings.HasPrefix(line, "gen_ai.client.operation.")
}

// ask reads an answer that breaks and is recovered.
func ask(ctx context.Context, t *testing.T, opts ...continuation.Option) {
	t.Helper()
	m := fm.New(
		fm.Script{fm.Text("Water boils at 100 deg"), fm.Reset()},
		fm.Script{fm.Text("rees Celsius."), fm.FinishUsage("stop", 30, 8)},
	)
	opts = append(opts, continuation.WithIdentity("Claude", "example\xffmodel"), continuation.WithBackoff(func(int) time.Duration {
		return time.Millisecond
	}))
	reader, err := continuation.Wrap(m, opts...).Stream(ctx, []*schema.Message{schema.UserMessage("When?")})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fm.Collect(reader); err != nil {
		t.Fatal(err)
	}
}
