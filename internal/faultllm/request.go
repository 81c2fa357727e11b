package faultllm

// Request is a decoded request, the same for every wire.
type Request struct {
	Model        string
	Stream       bool
	IncludeUsage bool      // a streamed answer ends with a usage record
	MaxTokens    int       // the limit of the answer in tokens; 0: none
	Messages     []Message // as sent, in order
	Tools        []string  // the names of the tools that are offered

	toolBytes int
}

// Message is one message of a request.
type Message struct {
	Role       string
	Text       string // of several text parts, their concatenation
	Reasoning  string
	ToolCalls  []ToolCall
	ToolCallID string // of a tool message: the call that it answers
}

// ToolCall is one call of a tool.
type ToolCall struct {
	ID, Name string
	Args     string // JSON text
}

// The roles of messages.
const (
	roleSystem    = "system"
	roleDeveloper = "developer"
	roleUser      = "user"
	roleAssistant = "assistant"
	roleTool      = "tool"
)
