package interop

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	shared "github.com/eino-carryon/carryon/internal/interop/rig"
)

// patience bounds what a test waits for. No test takes that long unless it fails.
const patience = 20 * time.Second

// rig is a provider, the real client that speaks to it, and the HTTP client below that.
type rig struct {
	server *faultllm.Server
	http   *http.Client
	bare   model.ToolCallingChatModel
	events *transcript
}

// wiring says whether the HTTP client has [continuation.NewTransport].
type wiring bool

const (
	plainTransport     wiring = false
	recordingTransport wiring = true
)

func (w wiring) String() string {
	if w {
		return "NewTransport"
	}

	return "plain transport"
}

func newRig(t *testing.T, w wiring, cfg faultllm.Config) *rig {
	t.Helper()
	server, err := faultllm.Start(cfg)
	require.NoError(t, err)

	var transport http.RoundTripper = &http.Transport{}
	if w {
		transport = continuation.NewTransport(transport)
	}
	client := &http.Client{Transport: transport}
	bare, err := openai.NewChatModel(t.Context(), &openai.ChatModelConfig{
		BaseURL: server.URL(), APIKey: "test-key", Model: "carryon-test-1", HTTPClient: client,
	})
	require.NoError(t, err)
	r := &rig{server: server, http: client, bare: bare, events: &transcript{}}
	t.Cleanup(func() {
		r.nothingLeft(t)
		require.NoError(t, server.Close())
	})

	return r
}

// nothingLeft fails if the client still holds a connection, or the provider still serves a request.
func (r *rig) nothingLeft(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	require.NoError(t, r.server.WaitIdle(ctx), "a request is still being served")
	r.http.CloseIdleConnections()
	require.NoError(t, r.server.WaitConnections(ctx, 0), "a connection is still open")
}

// wrap decorates the client. Waits are short; options given here win.
func (r *rig) wrap(opts ...continuation.Option) *continuation.Model {
	return continuation.Wrap(r.bare, append([]continuation.Option{
		continuation.WithBackoff(func(int) time.Duration { return time.Millisecond }),
		continuation.WithHandler(r.events),
	}, opts...)...)
}

// ledger returns what was billed once nothing is being served.
func (r *rig) ledger(t *testing.T) faultllm.Ledger {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, r.server.WaitIdle(ctx))

	return r.server.Ledger()
}

// transcript gathers events.
type transcript struct {
	mu     sync.Mutex
	events []callbacks.Event
}

// Handle implements callbacks.Handler.
func (s *transcript) Handle(_ context.Context, e callbacks.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// names leaves out what every call has, broken or not.
func (s *transcript) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, e := range s.events {
		if _, over := e.(callbacks.Ended); !over {
			names = append(names, e.Name())
		}
	}

	return names
}

// eventsOf returns the events of one type, in order.
func eventsOf[E callbacks.Event](s *transcript) []E {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []E
	for _, e := range s.events {
		if of, ok := e.(E); ok {
			out = append(out, of)
		}
	}

	return out
}

// question is what every answer here is an answer to.
func question() []*schema.Message { return shared.Question() }

// stream asks m the question and reads to the end, as shared.Stream does.
func stream(ctx context.Context, m model.BaseChatModel, opts ...model.Option) ([]*schema.Message, error) {
	return shared.Stream(ctx, m, question(), opts...)
}

func drain(r *schema.StreamReader[*schema.Message]) ([]*schema.Message, error) {
	return shared.Drain(r)
}

// concat joins chunks as Eino does for its users.
func concat(t *testing.T, chunks []*schema.Message) *schema.Message {
	t.Helper()

	return shared.Concat(t, chunks)
}

// answerOf asks the bare client of an unbroken provider for the whole message.
func answerOf(t *testing.T, a faultllm.Answer) *schema.Message {
	t.Helper()
	r := newRig(t, plainTransport, faultllm.Config{Script: faultllm.Script{{Answer: a}}})
	chunks, err := stream(t.Context(), r.bare)
	require.NoError(t, err)

	return concat(t, chunks)
}
