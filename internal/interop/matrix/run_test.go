package matrix

import (
	"context"
	"io"
	"net/http"
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

// patience bounds what a test waits for. No test takes that long unless it fails.
const patience = 60 * time.Second

// rig is a provider, the real client that speaks to it, and what was told of the calls.
type rig struct {
	server *faultllm.Server
	http   *http.Client
	bare   model.ToolCallingChatModel

	mu     sync.Mutex
	events []callbacks.Event
}

// network is how a client reaches its provider.
type network struct {
	pipe  *faultllm.Pipe // nil: TCP
	http2 bool
}

func newRig(t *testing.T, c clients.Client, n network, cfg faultllm.Config) *rig {
	t.Helper()
	var base http.RoundTripper = &http.Transport{}
	switch {
	case n.pipe != nil:
		cfg.Listener = n.pipe
		base = &http.Transport{DialContext: n.pipe.DialContext}
	case n.http2:
		base = faultllm.HTTP2Client().Transport
	}
	server, err := faultllm.Start(cfg)
	require.NoError(t, err)
	r := &rig{server: server, http: &http.Client{Transport: continuation.NewTransport(base, continuation.WithoutClientRetries())}}
	r.bare, err = c.New(t.Context(), clients.Settings{BaseURL: server.BaseURL(c.Vendor), HTTP: r.http, Think: cfg.Rethink})
	require.NoError(t, err)

	return r
}

// close fails if the client still holds a connection, or the provider still serves a request.
func (r *rig) close(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	require.NoError(t, r.server.WaitIdle(ctx), "a request is still being served")
	for r.connected(ctx) {
		require.NoError(t, ctx.Err(), "a connection is still open")
	}
	require.NoError(t, r.server.Close())
}

// connected drops the idle connections and waits a moment for them. A connection of HTTP/2 is not idle at once.
func (r *rig) connected(ctx context.Context) bool {
	moment, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	r.http.CloseIdleConnections()

	return r.server.WaitConnections(moment, 0) != nil
}

// Handle implements callbacks.Handler.
func (r *rig) Handle(_ context.Context, e callbacks.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// eventsOf returns the events of one type, in order.
func eventsOf[E callbacks.Event](r *rig) []E {
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

// wrap decorates the client with waits that are no waits; options given here win.
func (r *rig) wrap(opts ...continuation.Option) *continuation.Model {
	return continuation.Wrap(r.bare, append([]continuation.Option{
		continuation.WithBackoff(func(int) time.Duration { return 0 }), continuation.WithHandler(r),
	}, opts...)...)
}

// question is what every answer here is an answer to.
func question() []*schema.Message {
	return []*schema.Message{schema.SystemMessage("You help sailors."), schema.UserMessage("When do we leave?")}
}

// stream asks m and reads to the end. The error is Stream's or the one that ended the reader; nil after io.EOF.
func stream(ctx context.Context, m model.BaseChatModel, in []*schema.Message, opts ...model.Option) ([]*schema.Message, error) {
	r, err := m.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
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

// concat joins chunks as Eino does for its users.
func concat(t *testing.T, chunks []*schema.Message) *schema.Message {
	t.Helper()
	require.NotEmpty(t, chunks, "the answer has no chunk")
	m, err := schema.ConcatMessages(chunks)
	require.NoError(t, err, "the chunks are not one message")

	return m
}
