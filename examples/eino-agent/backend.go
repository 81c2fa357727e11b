package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/components/model"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// backend is a provider and the client that speaks to it.
type backend struct {
	server *faultllm.Server // nil if it is a real one
	client *http.Client
	chat   model.BaseChatModel
	model  string
}

// openEmbedded starts a provider on loopback, with the conversation's script unless another is given. The caller closes the backend.
func openEmbedded(ctx context.Context, cfg faultllm.Config) (*backend, error) {
	if cfg.Script == nil {
		cfg.Script = script()
	}
	cfg.PieceSize = pieceSize
	server, err := faultllm.Start(cfg) //nolint:contextcheck // it serves until it is closed
	if err != nil {
		return nil, err
	}
	b, err := openClient(ctx, openai.ChatModelConfig{BaseURL: server.URL(), APIKey: "none", Model: "scripted-1"})
	if err != nil {
		return nil, errors.Join(err, server.Close()) //nolint:contextcheck // as above
	}
	b.server = server

	return b, nil
}

// openReal connects to the endpoint that the environment names. The caller closes the backend.
func openReal(ctx context.Context, getenv func(string) string) (*backend, error) {
	cfg := openai.ChatModelConfig{
		APIKey: getenv("OPENAI_API_KEY"), BaseURL: getenv("OPENAI_BASE_URL"), Model: getenv("OPENAI_MODEL"),
	}
	if cfg.APIKey == "" {
		return nil, errors.New("--provider openai needs OPENAI_API_KEY")
	}
	if cfg.Model == "" {
		cfg.Model = "gpt-4o-mini"
	}

	return openClient(ctx, cfg)
}

// openClient makes the real client of the vendor. Its transport tells the decorator of Retry-After, which the client
// keeps to itself.
func openClient(ctx context.Context, cfg openai.ChatModelConfig) (*backend, error) {
	base := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: continuation.NewTransport(base)}
	cfg.HTTPClient = client
	chat, err := openai.NewChatModel(ctx, &cfg)
	if err != nil {
		return nil, err
	}

	return &backend{client: client, chat: chat, model: cfg.Model}, nil
}

// identity names the model in events, since the client says no more than its own type.
func (b *backend) identity() continuation.Option { return continuation.WithIdentity("OpenAI", b.model) }

// requests returns what the embedded provider has served and billed so far.
func (b *backend) requests(ctx context.Context) ([]faultllm.Record, error) {
	if b.server == nil {
		return nil, nil
	}
	if err := b.server.WaitIdle(ctx); err != nil {
		return nil, err
	}

	return b.server.Ledger().Records, nil
}

// Close ends the connections and the embedded provider.
func (b *backend) Close() error {
	b.client.CloseIdleConnections()
	if b.server == nil {
		return nil
	}

	return b.server.Close()
}
