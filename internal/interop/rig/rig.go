// Package rig joins a provider on loopback, a real client that speaks to it, and the HTTP client below that, for tests.
package rig

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
)

// Patience bounds what a test waits for. No test takes that long unless it fails.
const Patience = 60 * time.Second

// Rig is a provider, the real client that speaks to it, and what was told of the calls.
type Rig struct {
	Server *faultllm.Server
	HTTP   *http.Client
	Bare   model.ToolCallingChatModel

	mu     sync.Mutex
	events []callbacks.Event
}

// Wiring is how a client reaches its provider. The zero value is TCP, HTTP/1.1 and a transport that records.
type Wiring struct {
	Pipe  *faultllm.Pipe // in place of TCP
	HTTP2 bool
	// Plain leaves the decorator's transport out.
	Plain bool
	// Retries lets the client make requests again on its own.
	Retries bool
	// Think asks for reasoning, where that has to be asked for.
	Think bool
	// Cache lets the provider store its responses; see [clients.Settings].
	Cache bool
}

// New starts a provider and makes a client for it.
func New(t *testing.T, c clients.Client, w Wiring, cfg faultllm.Config) *Rig {
	t.Helper()
	var transport http.RoundTripper = &http.Transport{}
	switch {
	case w.Pipe != nil:
		cfg.Listener = w.Pipe
		transport = &http.Transport{DialContext: w.Pipe.DialContext}
	case w.HTTP2:
		transport = faultllm.HTTP2Client().Transport
	}
	switch {
	case w.Plain:
	case w.Retries:
		transport = continuation.NewTransport(transport)
	default:
		transport = continuation.NewTransport(transport, continuation.WithoutClientRetries())
	}
	server, err := faultllm.Start(cfg)
	require.NoError(t, err)
	r := &Rig{Server: server, HTTP: &http.Client{Transport: transport}}
	r.Bare, err = c.New(t.Context(), clients.Settings{
		BaseURL: server.BaseURL(c.Vendor), HTTP: r.HTTP, Think: w.Think, Retries: w.Retries, Cache: w.Cache,
	})
	require.NoError(t, err)

	return r
}

// Close fails if the client still holds a connection, or the provider still serves a request.
func (r *Rig) Close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), Patience)
	defer cancel()
	require.NoError(t, r.Server.WaitIdle(ctx), "a request is still being served")
	for r.connected(ctx) {
		require.NoError(t, ctx.Err(), "a connection is still open")
	}
	require.NoError(t, r.Server.Close())
}

// connected drops the idle connections and waits a moment for them. A connection of HTTP/2 is not idle at once.
func (r *Rig) connected(ctx context.Context) bool {
	moment, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	r.HTTP.CloseIdleConnections()

	return r.Server.WaitConnections(moment, 0) != nil
}

// Handle implements callbacks.Handler.
func (r *Rig) Handle(_ context.Context, e callbacks.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// Events returns all events in order, but those that only say that a call is over: every call has one.
func (r *Rig) Events() []callbacks.Event {
	r.mu.Lock()
	defer r.mu.Unlock()

	return slices.DeleteFunc(slices.Clone(r.events), func(e callbacks.Event) bool {
		_, over := e.(callbacks.Ended)

		return over
	})
}

// EventsOf returns the events of one type, in order.
func EventsOf[E callbacks.Event](r *Rig) []E {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []E
	for _, e := range r.events {
		if of, ok := e.(E); ok {
			out = append(out, of)
		}
	}

	return out
}

// Wrap decorates the client with waits that are no waits; options given here win.
func (r *Rig) Wrap(opts ...continuation.Option) *continuation.Model {
	return continuation.Wrap(r.Bare, append([]continuation.Option{
		continuation.WithBackoff(func(int) time.Duration { return 0 }), continuation.WithHandler(r),
	}, opts...)...)
}

// Question is what every answer here is an answer to.
func Question() []*schema.Message {
	return []*schema.Message{schema.SystemMessage("You help sailors."), schema.UserMessage("When do we leave?")}
}

// Stream asks m and reads to the end. The error is Stream's or the one that ended the reader; nil after io.EOF.
func Stream(ctx context.Context, m model.BaseChatModel, in []*schema.Message, opts ...model.Option) ([]*schema.Message, error) {
	r, err := m.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()

	return Drain(r)
}

// Drain reads to the end, which is nil after io.EOF. The caller closes the reader.
func Drain(r *schema.StreamReader[*schema.Message]) ([]*schema.Message, error) {
	var chunks []*schema.Message
	for {
		m, err := r.Recv()
		if err == io.EOF { //nolint:errorlint // a wrapped io.EOF is an error, not the end
			return chunks, nil
		}
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, m)
	}
}

// Concat joins chunks as Eino does for its users.
func Concat(t *testing.T, chunks []*schema.Message) *schema.Message {
	t.Helper()
	require.NotEmpty(t, chunks, "the answer has no chunk")
	m, err := schema.ConcatMessages(chunks)
	require.NoError(t, err, "the chunks are not one message")

	return m
}
