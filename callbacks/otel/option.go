package otelcallbacks

import (
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
)

// DefaultMaxModels is how many pairs of provider and model a [Handler] tells apart.
const DefaultMaxModels = 100

// Option changes what [New] makes.
type Option func(*config)

type config struct {
	meters    metric.MeterProvider
	maxModels int
	err       error
}

// WithMeterProvider sets where the metrics go. The default is the global provider of package otel. The caller shuts it
// down. Nil is an error.
func WithMeterProvider(p metric.MeterProvider) Option {
	return func(c *config) {
		if p == nil {
			c.reject("WithMeterProvider: the provider is nil")
		}
		c.meters = p
	}
}

// WithMaxModels sets how many pairs of provider and model the metrics tell apart; those that come after so many are
// counted together, as "_OTHER". The default is [DefaultMaxModels]; less than 1 is an error.
func WithMaxModels(n int) Option {
	return func(c *config) {
		if n < 1 {
			c.reject(fmt.Sprintf("WithMaxModels: %d is less than 1", n))
		}
		c.maxModels = n
	}
}

func (c *config) reject(why string) {
	if c.err == nil {
		c.err = fmt.Errorf("otelcallbacks: %s", why)
	}
}

func newConfig(opts []Option) (config, error) {
	c := config{maxModels: DefaultMaxModels}
	for _, o := range opts {
		o(&c)
	}
	if c.meters == nil {
		c.meters = otel.GetMeterProvider()
	}

	return c, c.err
}
