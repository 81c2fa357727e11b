package clients

import (
	"context"

	"github.com/cloudwego/eino-ext/components/model/gemini"
	"github.com/cloudwego/eino-ext/components/model/ollama"
	"github.com/cloudwego/eino/components/model"
	"google.golang.org/genai"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func geminiChat() Client {
	return Client{
		Vendor: faultllm.Gemini, WholeCalls: true, OwnIDs: true, HidesReadErrors: true, KeepsFinish: true,
		make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
			client, err := genai.NewClient(ctx, &genai.ClientConfig{
				APIKey: apiKey, Backend: genai.BackendGeminiAPI, HTTPClient: s.HTTP,
				HTTPOptions: genai.HTTPOptions{BaseURL: s.BaseURL},
			})
			if err != nil {
				return nil, err
			}
			c := &gemini.Config{Client: client, Model: modelName}
			if s.Think {
				c.ThinkingConfig = &genai.ThinkingConfig{IncludeThoughts: true}
			}

			return gemini.NewChatModel(ctx, c)
		},
	}
}

func ollamaChat() Client {
	return Client{
		Vendor: faultllm.Ollama, WholeCalls: true, OwnIDs: true, HidesReadErrors: true, KeepsFinish: true,
		make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
			m, err := ollama.NewChatModel(ctx, &ollama.ChatModelConfig{
				BaseURL: s.BaseURL, Model: modelName, HTTPClient: s.HTTP,
			})

			return m, err
		},
	}
}
