package clients

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cloudwego/eino/components/model"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// Client is one vendor's client. Values may be shared.
type Client struct {
	Vendor faultllm.Vendor
	// WholeCalls says that a tool call comes in one piece.
	WholeCalls bool
	// OwnIDs says that the client invents the ids of tool calls, or leaves them out.
	OwnIDs bool
	// HidesReadErrors says that a body that breaks looks like one that ends.
	HidesReadErrors bool
	// KeepsFinish says that a finish reason is delivered although an error follows it.
	KeepsFinish bool

	make func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error)
}

// Settings is what a client needs.
type Settings struct {
	BaseURL string
	HTTP    *http.Client
	// Think asks for reasoning, where that has to be asked for.
	Think bool
	// Retries leaves the repetitions on that the client makes by itself.
	Retries bool
	// Cache lets the provider store its responses, where the client can go on from those: [faultllm.ArkResponses].
	Cache bool
}

// apiKey is the key that every client sends.
const apiKey = "test-key"

// modelName is the model that every client asks for.
const modelName = "carryon-test-1"

// New makes the client. It starts nothing and needs no closing; the connections belong to the HTTP client.
func (c Client) New(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
	if s.HTTP == nil {
		return nil, errors.New("clients: no HTTP client")
	}
	m, err := c.make(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("clients: %v: %w", c.Vendor, err)
	}

	return m, nil
}

// String returns the vendor's name.
func (c Client) String() string { return c.Vendor.String() }

// All returns the clients of all vendors. Under the race detector Claude's is not among them: it has a race of its own.
func All() []Client {
	return append([]Client{
		openAI(), deepSeek(), qwenChat(), openRouter(), arkChat(), arkResponses(), geminiChat(), ollamaChat(),
	}, claudeChat()...)
}

// Of returns the client of a vendor, and whether there is one.
func Of(v faultllm.Vendor) (Client, bool) {
	for _, c := range All() {
		if c.Vendor == v {
			return c, true
		}
	}

	return Client{}, false
}
