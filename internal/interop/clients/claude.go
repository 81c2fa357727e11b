//go:build !race

package clients

import (
	"context"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/components/model"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// claudeChat is left out under the race detector: the client writes the error of its Stream from the goroutine that
// reads, while Stream returns it.
func claudeChat() []Client {
	return []Client{{
		Vendor: faultllm.Anthropic, KeepsFinish: true,
		make: func(ctx context.Context, s Settings) (model.ToolCallingChatModel, error) {
			c := &claude.Config{
				BaseURL: &s.BaseURL, APIKey: apiKey, Model: modelName, MaxTokens: 4096, HTTPClient: s.HTTP,
			}
			if s.Think {
				c.ThinkingConfig = new(anthropic.ThinkingConfigParamOfEnabled(1024))
			}

			return claude.NewChatModel(ctx, c)
		},
	}}
}
