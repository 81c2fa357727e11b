package faultllm

import "encoding/json"

type openaiFailure struct {
	Error openaiError `json:"error"`
}

type openaiError struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    any     `json:"code"` // a string, a number, or null
}

type openaiChunk struct {
	ID       string          `json:"id"`
	Object   string          `json:"object"`
	Created  int64           `json:"created"`
	Model    string          `json:"model"`
	Provider string          `json:"provider,omitempty"`
	Error    *openaiError    `json:"error,omitempty"`
	Choices  []openaiChoice  `json:"choices"`
	Usage    json.RawMessage `json:"usage,omitempty"`
}

type openaiChoice struct {
	Index   int            `json:"index"`
	Delta   *openaiDelta   `json:"delta,omitempty"`
	Message *openaiMessage `json:"message,omitempty"`
	Finish  *string        `json:"finish_reason"`
}

type openaiDelta struct {
	Role    string  `json:"role,omitempty"`
	Content *string `json:"content,omitempty"`
	openaiThinking
	ToolCalls []openaiToolCall `json:"tool_calls,omitempty"`
}

type openaiMessage struct {
	Role    string  `json:"role"`
	Content *string `json:"content"`
	openaiThinking
	ToolCalls []openaiToolCall `json:"tool_calls,omitempty"`
}

// openaiThinking is reasoning as the different vendors send it: as reasoning_content, or (OpenRouter) as reasoning with
// its details.
type openaiThinking struct {
	ReasoningContent string                  `json:"reasoning_content,omitempty"`
	Reasoning        string                  `json:"reasoning,omitempty"`
	Details          []openaiReasoningDetail `json:"reasoning_details,omitempty"`
}

type openaiReasoningDetail struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Format    string `json:"format"`
	Index     int    `json:"index"`
}

type openaiToolCall struct {
	Index    *int           `json:"index,omitempty"`
	ID       string         `json:"id,omitempty"`
	Type     string         `json:"type,omitempty"`
	Function openaiFunction `json:"function"`
}

type openaiFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

type openaiUsage struct {
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Total      int           `json:"total_tokens"`
	Details    openaiDetails `json:"completion_tokens_details"`
}

type openaiDetails struct {
	Reasoning int `json:"reasoning_tokens"`
}

func toOpenAIUsage(u usage) openaiUsage {
	return openaiUsage{
		Prompt: u.prompt, Completion: u.completion, Total: u.prompt + u.completion,
		Details: openaiDetails{Reasoning: u.reasoning},
	}
}
