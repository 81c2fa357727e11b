package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/sony/gobreaker/v2"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

const (
	failuresToOpen = 3 // in a row
	callsWhileOpen = 3
)

// clinic shows what a circuit breaker does while a provider is ill.
type clinic struct {
	backend *backend
	chat    *continuation.Model
	screen  *screen
	palette palette
	pause   time.Duration // how long the breaker stays open
	calls   int
	asked   int // requests that have reached the provider
}

// showBreaker lets a provider fall ill, and shows what a circuit breaker keeps from it.
func (p program) showBreaker(ctx context.Context, set settings, log *recordLog) (err error) {
	ill := faultllm.Status(http.StatusServiceUnavailable, faultllm.RetryAfter{}, faultllm.VendorError(http.StatusServiceUnavailable))
	b, err := openEmbedded(ctx, faultllm.Config{
		Pace: p.tempo.pace, Plan: faultllm.InOrder(ill, ill, ill), // failuresToOpen of them
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }() //nolint:contextcheck // closing does not wait for long

	colours := newPalette(!set.noColour && hasColours(p.out, p.getenv))
	c := &clinic{backend: b, screen: newScreen(p.out, colours), palette: colours, pause: p.tempo.breakerPause}
	opts := []continuation.Option{
		continuation.WithCircuitBreaker(gobreaker.Settings{
			ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= failuresToOpen },
			Timeout:     c.pause,
		}),
		continuation.WithOpenRetries(0), // so that one call is one request, and the picture is simple
		continuation.WithHandler(callbacks.HandlerFunc(c.changed)),
		b.identity(),
	}
	for _, h := range log.handlers() {
		opts = append(opts, continuation.WithHandler(h))
	}
	c.chat = continuation.Wrap(b.chat, opts...)

	return c.run(ctx)
}

func (c *clinic) run(ctx context.Context) error {
	c.screen.note(c.palette.faint(fmt.Sprintf(
		"A provider falls ill: its first %d requests fail. After as many failures in a row the circuit breaker opens,\n"+
			"and %s later it lets one request through to see.", failuresToOpen, seconds(c.pause))))
	failed := 0
	for range failuresToOpen + callsWhileOpen {
		whole, err := c.ask(ctx)
		if err != nil {
			return err
		}
		if !whole {
			failed++
		}
	}
	c.screen.note("")
	c.screen.note(indent + c.palette.faint("… "+seconds(c.pause)+" pass"))
	if err := wait(ctx, c.pause+c.pause/20); err != nil {
		return err
	}
	for range 2 {
		if _, err := c.ask(ctx); err != nil {
			return err
		}
	}
	c.screen.note("")
	c.screen.note(fmt.Sprintf("%d calls, %s reached the provider: %d failed at once, without one.",
		c.calls, count(c.asked, "request"), c.calls-c.asked))
	if failed != failuresToOpen+callsWhileOpen || c.asked != failuresToOpen+2 {
		return errors.New("the circuit breaker did not do what it should")
	}

	return nil
}

// ask makes a call, and says what came of it and what it cost the provider. The error ends the show.
func (c *clinic) ask(ctx context.Context) (whole bool, err error) {
	c.calls++
	c.screen.question(c.calls, questions()[1])
	began := time.Now()
	answerErr := c.read(ctx)
	took := time.Since(began)
	c.screen.end()
	if ctx.Err() != nil {
		return false, fmt.Errorf("interrupted in call %d", c.calls)
	}
	records, err := c.backend.requests(ctx)
	if err != nil {
		return false, err
	}
	requests := "no request"
	if n := len(records) - c.asked; n > 0 {
		requests = count(n, "request")
	}
	c.asked = len(records)
	if answerErr != nil {
		c.screen.failed(answerErr)
	}
	c.screen.note(indent + c.palette.faint(fmt.Sprintf("%s, %.1f ms", requests, float64(took.Microseconds())/1000)))

	return answerErr == nil, nil
}

// read draws the answer to its end.
func (c *clinic) read(ctx context.Context) error {
	r, err := c.chat.Stream(ctx, []*schema.Message{schema.UserMessage(questions()[1])})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		chunk, err := r.Recv()
		if err == io.EOF { //nolint:errorlint // the end of a stream is io.EOF itself
			return nil
		}
		if err != nil {
			return err
		}
		c.screen.chunk(chunk.ReasoningContent, chunk.Content)
	}
}

// changed draws what the circuit breaker did.
func (c *clinic) changed(_ context.Context, e callbacks.Event) {
	if e, ok := e.(callbacks.BreakerChanged); ok {
		c.screen.note(indent + c.palette.plan("⏻ circuit breaker: "+e.From+" → "+e.To))
	}
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return errors.New("interrupted while the circuit breaker is open")
	}
}
