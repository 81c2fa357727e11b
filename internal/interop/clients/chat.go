package clients

import (
	"context"
	"sync"

	"github.com/cloudwego/eino-ext/components/model/ark"
	"github.com/cloudwego/eino-ext/components/model/deepseek"
	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino-ext/components/model/openrouter"
	"github.com/cloudwego/eino-ext/components/model/qwen"
	"github.com/cloudwego/eino/components/model"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func openAI() Client {
	return Client{Vendor: faultllm.OpenAI, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		return openai.NewChatModel(ctx, &openai.ChatModelConfig{
			BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP,
		})
	}}
}

func deepSeek() Client {
	return Client{Vendor: faultllm.DeepSeek, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		return deepseek.NewChatModel(ctx, &deepseek.ChatModelConfig{
			BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP,
		})
	}}
}

func qwenChat() Client {
	return Client{Vendor: faultllm.Qwen, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		return qwen.NewChatModel(ctx, &qwen.ChatModelConfig{
			BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP,
		})
	}}
}

func openRouter() Client {
	return Client{Vendor: faultllm.OpenRouter, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		return openrouter.NewChatModel(ctx, &openrouter.Config{
			BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP,
		})
	}}
}

func arkChat() Client {
	return Client{Vendor: faultllm.Ark, KeepsFinish: true, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		c := &ark.ChatModelConfig{BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP}
		if !s.Retries {
			c.RetryTimes = new(int)
		}

		arkBuild.Lock() // the SDK's constructor writes to what all its clients share
		defer arkBuild.Unlock()

		return ark.NewChatModel(ctx, c)
	}}
}

// arkResponses is Ark's other client, which speaks another wire and has dealings of its own with the history.
func arkResponses() Client {
	return Client{Vendor: faultllm.ArkResponses, KeepsFinish: true, make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
		c := &ark.ResponsesAPIConfig{
			BaseURL: s.BaseURL, APIKey: apiKey, Model: modelName, HTTPClient: s.HTTP, EnableReasoningContentPassback: s.Think,
		}
		if s.Cache {
			c.SessionCache = &ark.SessionCacheConfig{EnableCache: true, TTL: 3600}
		}
		if !s.Retries {
			c.RetryTimes = new(int)
		}

		arkBuild.Lock() // as above
		defer arkBuild.Unlock()

		return ark.NewResponsesAPIChatModel(ctx, c)
	}}
}

var arkBuild sync.Mutex //nolint:gochecknoglobals // it guards a global of the SDK
