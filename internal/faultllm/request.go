package faultllm

// Request is a decoded request, the same for every wire.
type Request struct {
	Vendor       Vendor
	Model        string
	Stream       bool
	IncludeUsage bool      // a streamed answer ends with a usage record
	MaxTokens    int       // the limit of the answer in tokens; 0: none
	Messages     []Message // as sent, in order
	Tools        []string  // the names of the tools that are offered
	Marked       bool      // the last message is an assistant's with the vendor's mark to be continued

	// Previous is the stored response that the request goes on from, where the vendor stores any. Its messages are among
	// Messages.
	Previous string
	// Stored says that the response is to be stored, if it comes to its end.
	Stored bool

	toolBytes int
	anew      bool // a trailing assistant message is a finished one: the answer starts anew
}

// Message is one message of a request.
type Message struct {
	Role       string
	Text       string // of several text parts, their concatenation
	Reasoning  string
	Signature  string // of Reasoning
	ToolCalls  []ToolCall
	ToolCallID string // of a tool message: the call that it answers
}

// add appends a message; one of the assistant behind another is joined with it, on wires that do so.
func (r *Request) add(m Message) {
	last := len(r.Messages) - 1
	if m.Role != roleAssistant || last < 0 || r.Messages[last].Role != roleAssistant {
		r.Messages = append(r.Messages, m)
		return
	}
	p := &r.Messages[last]
	p.Text += m.Text
	p.Reasoning += m.Reasoning
	p.Signature += m.Signature
	p.ToolCalls = append(p.ToolCalls, m.ToolCalls...)
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
