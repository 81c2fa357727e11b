package otelcallbacks_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	otelcallbacks "github.com/eino-carryon/carryon/callbacks/otel"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// The handler goes to the model, the metrics to wherever the program's meter provider sends them.
func ExampleNew() {
	ctx := context.Background()
	reader := sdkmetric.NewManualReader() // in a program: a periodic reader with an exporter
	otel.SetMeterProvider(sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)))
	chatModel := faultmodel.New(
		faultmodel.Script{faultmodel.Text("Water boils at 100 deg"), faultmodel.Reset()},
		faultmodel.Script{faultmodel.Text("rees Celsius."), faultmodel.FinishUsage("stop", 30, 8)},
	)

	handler, err := otelcallbacks.New()
	if err != nil {
		fmt.Println(err)

		return
	}
	chat := continuation.Wrap(chatModel, continuation.WithHandler(handler))

	stream, err := chat.Stream(ctx, []*schema.Message{schema.UserMessage("When does water boil?")})
	if err == nil {
		_, err = faultmodel.Collect(stream)
	}
	var collected metricdata.ResourceMetrics
	if err == nil {
		err = reader.Collect(ctx, &collected)
	}
	if err != nil {
		fmt.Println(err)

		return
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if strings.HasPrefix(m.Name, "carryon.") {
			fmt.Println(m.Name)
		}
	}
	// Unordered output:
	// carryon.interrupted_calls
	// carryon.interruptions
	// carryon.continuations
	// carryon.wait.duration
	// carryon.kept_text
	// carryon.joins
	// carryon.recovered_calls
}
