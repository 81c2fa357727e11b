package otelcallbacks

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/eino-carryon/carryon/callbacks"
)

func TestOddEventsAreMeasured(t *testing.T) {
	m := newMeter(t)
	m.Handle(t.Context(), nil)
	for _, e := range everyEvent() {
		for _, n := range []int64{math.MinInt64, -1, 0, math.MaxInt64} {
			for _, word := range []string{"", "\xff\x00", strings.Repeat("é", 1<<16)} {
				m.Handle(context.Background(), fill(t, e, n, word)) //nolint:usetesting // no context of a test, no span
			}
		}
	}
	for _, metric := range m.metrics(t) {
		for _, p := range points(t, metric) {
			if strings.Contains(p.value, "-") {
				t.Errorf("%s %v = %s", metric.Name, p.attributes, p.value)
			}
		}
	}
}

func TestCardinalityIsBounded(t *testing.T) {
	const models = 7
	m := newMeter(t, WithMaxModels(models))
	for i := range 2_000 {
		name := fmt.Sprint(i)
		for _, e := range everyEvent() {
			m.Handle(t.Context(), withModel(t, fill(t, e, 1, name), "OpenAI", "example-model"))
		}
		m.Handle(t.Context(), callbacks.StreamReset{Call: callbacks.Call{Provider: "p", Model: name}})
	}
	for _, metric := range m.metrics(t) {
		bound := (maxWords + 1) * 2 // two kinds of tokens, waits
		if metric.Name == "carryon.restarts" {
			bound = models + 1
		}
		if n := len(points(t, metric)); n > bound {
			t.Errorf("%s has %d points", metric.Name, n)
		}
	}
	same(t, slices.DeleteFunc(m.lines(t), func(line string) bool {
		return !strings.HasPrefix(line, "carryon.failed_continuations error.type=_OTHER")
	}), []string{fmt.Sprintf("carryon.failed_continuations error.type=_OTHER %d", 2_000-maxWords)})
}

func TestHandlerIsSafeForConcurrentUse(t *testing.T) {
	m := newMeter(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				for _, e := range everyEvent() {
					m.Handle(t.Context(), withModel(t, e, "OpenAI", fmt.Sprint(i)))
				}
			}
		})
	}
	wg.Wait()
	for _, metric := range m.metrics(t) {
		if metric.Name == "carryon.recovered_calls" {
			for _, p := range points(t, metric) {
				if p.value != "50" {
					t.Errorf("%v recovered calls of a model, want 50", p.value)
				}
			}
		}
	}
}

func TestOptions(t *testing.T) {
	for want, opt := range map[string]Option{
		"WithMeterProvider: the provider is nil": WithMeterProvider(nil), "WithMaxModels: 0 is less than 1": WithMaxModels(0),
	} {
		if h, err := New(opt, WithMaxModels(1)); err == nil || !strings.Contains(err.Error(), want) || h != nil {
			t.Errorf("%v, %v; want %s", h, err, want)
		}
	}
	h, err := New() // the global provider
	if err != nil {
		t.Fatal(err)
	}
	h.Handle(t.Context(), everyEvent()[0])
}
