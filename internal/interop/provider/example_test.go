package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cloudwego/eino-ext/components/model/ark"
	"github.com/cloudwego/eino-ext/components/model/deepseek"
	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino-ext/components/model/qwen"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// broken starts a provider that breaks its first answer behind "We leave ".
func broken() *faultllm.Server {
	server, err := faultllm.Start(faultllm.Config{Script: brief(), Plan: faultllm.InOrder(faultllm.Reset(faultllm.InText(1)))})
	if err != nil {
		panic(err)
	}

	return server
}

// tell returns an answer of the decorated model, and what the provider saw of the request for its rest.
func tell(server *faultllm.Server, chat model.BaseChatModel, err error, d continuation.Dialect) string {
	defer server.Close()
	if err != nil {
		panic(err)
	}
	decorated := continuation.Wrap(
		chat, continuation.WithDialect(d), continuation.WithStreamingGenerate(),
		continuation.WithBackoff(func(int) time.Duration { return 0 }),
	)
	answer, err := decorated.Generate(context.Background(), []*schema.Message{schema.UserMessage("When do we leave?")})
	if err != nil {
		panic(err)
	}
	rest := server.Ledger().Records[1]
	last := rest.Request.Messages[len(rest.Request.Messages)-1]

	return fmt.Sprintf("%s\n%s: %q, marked: %t, continued: %t",
		answer.Content, last.Role, last.Text, rest.Request.Marked, rest.Continued)
}

// partial marks the last message of a request as one to be continued, as Qwen and Kimi want it.
func partial(_ context.Context, _ []*schema.Message, body []byte) ([]byte, error) {
	var request map[string]any
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, err
	}
	messages, _ := request["messages"].([]any)
	if len(messages) == 0 {
		return nil, errors.New("a request without messages")
	}
	last, _ := messages[len(messages)-1].(map[string]any)
	last["partial"] = true

	return json.Marshal(request)
}

// DeepSeek continues a trailing message that is marked as a prefix, at the address of its beta features.
func Example_deepSeek() {
	server := broken()
	chat, err := deepseek.NewChatModel(context.Background(), &deepseek.ChatModelConfig{
		BaseURL: server.BaseURL(faultllm.DeepSeek) + "/beta", APIKey: "key", Model: "deepseek-chat",
	})
	fmt.Println(tell(server, chat, err, continuation.PrefillWith(deepseek.SetPrefix)))
	// Output:
	// We leave at ten, not later.
	// assistant: "We leave", marked: true, continued: true
}

// Qwen continues a trailing message that is marked as partial, unless it thinks.
func Example_qwen() {
	server := broken()
	chat, err := qwen.NewChatModel(context.Background(), &qwen.ChatModelConfig{
		BaseURL: server.BaseURL(faultllm.Qwen), APIKey: "key", Model: "qwen-plus",
	})
	fmt.Println(tell(server, chat, err, continuation.PrefillWith(nil, openai.WithRequestPayloadModifier(partial))))
	// Output:
	// We leave at ten, not later.
	// assistant: "We leave", marked: true, continued: true
}

// Kimi has the same mark, and is reached through the OpenAI client.
func Example_kimi() {
	server := broken()
	chat, err := openai.NewChatModel(context.Background(), &openai.ChatModelConfig{
		BaseURL: server.BaseURL(faultllm.OpenAI), APIKey: "key", Model: "kimi-k2",
	})
	fmt.Println(tell(server, chat, err, continuation.PrefillWith(nil, openai.WithRequestPayloadModifier(partial))))
	// Output:
	// We leave at ten, not later.
	// assistant: "We leave", marked: true, continued: true
}

// A server of vLLM or SGLang is told beside the messages.
func Example_vLLM() {
	server := broken()
	chat, err := openai.NewChatModel(context.Background(), &openai.ChatModelConfig{
		BaseURL: server.BaseURL(faultllm.OpenAI), APIKey: "key", Model: "llama",
	})
	goOn := openai.WithExtraFields(map[string]any{"continue_final_message": true, "add_generation_prompt": false})
	fmt.Println(tell(server, chat, err, continuation.PrefillWith(nil, goOn)))
	// Output:
	// We leave at ten, not later.
	// assistant: "We leave", marked: true, continued: true
}

// Ark continues a trailing message as it is, for models that do not think.
func Example_ark() {
	server := broken()
	chat, err := ark.NewChatModel(context.Background(), &ark.ChatModelConfig{
		BaseURL: server.BaseURL(faultllm.Ark), APIKey: "key", Model: "doubao-1-5-pro",
	})
	fmt.Println(tell(server, chat, err, continuation.Prefill()))
	// Output:
	// We leave at ten, not later.
	// assistant: "We leave", marked: false, continued: true
}
