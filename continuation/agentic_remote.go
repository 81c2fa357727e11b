package continuation

import (
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// remotes follows the tools that the provider runs by itself. A call of one is held until its result is whole, which shows
// when anything else comes behind it: half a result is as useless to the provider as half a call is to a tool.
type remotes struct {
	list   []*remote
	at     map[blockKey]*remote
	last   *remote
	pieces map[int][]map[string]any // Extra of the pieces of a function call, by its ordinal
}

// remote is a call of a provider's tool with its result, or something else that the provider did by itself.
type remote struct {
	call     *schema.ContentBlock // its first piece; nil if it is no call
	name, id string
	args     []byte
	resulted bool // a result has begun, or none will come
	whole    bool
}

// handledKinds are the blocks of what a provider does by itself, and whether they ask for a result.
func handledKind(k schema.ContentBlockType) (handled, call bool) {
	switch k {
	case schema.ContentBlockTypeServerToolCall, schema.ContentBlockTypeMCPToolCall:
		return true, true
	case schema.ContentBlockTypeServerToolResult, schema.ContentBlockTypeMCPToolResult,
		schema.ContentBlockTypeMCPListToolsResult, schema.ContentBlockTypeMCPToolApprovalRequest,
		schema.ContentBlockTypeMCPToolApprovalResponse, schema.ContentBlockTypeToolSearchResult,
		schema.ContentBlockTypeFunctionToolResult:
		return true, false
	default:
		return false, false
	}
}

// see takes note of a view. What comes behind a result ends it, and where the model goes on by itself no result will
// come any more.
func (r *remotes) see(o *origin) {
	if o.block == nil {
		return
	}
	handled, call := handledKind(o.block.Type)
	if !handled {
		for _, x := range r.list {
			x.whole = true
		}

		return
	}
	x := r.of(o.block, call)
	if l := r.last; l != nil && l != x && l.resulted {
		l.whole = true
	}
	r.last, o.remote = x, x
	x.add(o.block)
	x.resulted = x.resulted || !call
	x.whole = x.whole || o.settled
}

// of returns the remote that a block belongs to.
func (r *remotes) of(b *schema.ContentBlock, call bool) *remote {
	key := blockKey{kind: b.Type}
	if b.StreamingMeta != nil {
		key.index = b.StreamingMeta.Index
		if x := r.at[key]; x != nil {
			return x
		}
	}
	x := r.answered(b, call)
	if x == nil {
		x = new(remote)
		r.list = append(r.list, x)
	}
	if b.StreamingMeta != nil {
		if r.at == nil {
			r.at = make(map[blockKey]*remote)
		}
		r.at[key] = x
	}

	return x
}

// answered returns the call whose result b is: by the call's id, or else the first of that kind that has none.
func (r *remotes) answered(b *schema.ContentBlock, call bool) *remote {
	if call {
		return nil
	}
	kind, id := schema.ContentBlockTypeServerToolCall, ""
	switch {
	case b.ServerToolResult != nil:
		id = b.ServerToolResult.CallID
	case b.MCPToolResult != nil:
		kind, id = schema.ContentBlockTypeMCPToolCall, b.MCPToolResult.CallID
	default:
		return nil
	}
	for _, x := range r.list {
		if x.call != nil && x.call.Type == kind && !x.resulted && (id == "" || x.id == "" || x.id == id) {
			return x
		}
	}

	return nil
}

// add reads a piece.
func (x *remote) add(b *schema.ContentBlock) {
	var name, id string
	var args any
	switch {
	case b.ServerToolCall != nil:
		name, id, args = b.ServerToolCall.Name, b.ServerToolCall.CallID, b.ServerToolCall.Arguments
	case b.MCPToolCall != nil:
		name, id, args = b.MCPToolCall.Name, b.MCPToolCall.CallID, b.MCPToolCall.Arguments
	case b.MCPToolApprovalRequest != nil:
		name, id, args = b.MCPToolApprovalRequest.Name, b.MCPToolApprovalRequest.ID, b.MCPToolApprovalRequest.Arguments
	default:
		return
	}
	if x.call == nil {
		x.call = b
	}
	if x.name == "" {
		x.name = name
	}
	if x.id == "" {
		x.id = id
	}
	if text, ok := args.(string); ok {
		x.args = append(x.args, text...)
	}
}

// sizeOf returns how many bytes v holds. What is no text is measured by what it prints.
func sizeOf(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case string:
		return len(v)
	case []byte:
		return len(v)
	default:
		return len(fmt.Sprint(v))
	}
}

// blockSize returns how many bytes a block of the provider's own doing holds.
func blockSize(b *schema.ContentBlock) int {
	switch {
	case b.ServerToolCall != nil:
		return sizeOf(b.ServerToolCall.Arguments)
	case b.ServerToolResult != nil:
		return sizeOf(b.ServerToolResult.Content)
	case b.MCPToolCall != nil:
		return len(b.MCPToolCall.Arguments)
	case b.MCPToolResult != nil:
		return len(b.MCPToolResult.Content)
	default:
		return 0
	}
}

// remote returns the provider's call that the chunk is of; nil if it is of none.
func (c chunk) remote() *remote {
	if c.origin == nil {
		return nil
	}

	return c.origin.remote
}

// ofText reports whether the chunk is of a text block, though it may bring no text.
func (c chunk) ofText() bool {
	return snapshot.Text(c.Message) != "" ||
		c.origin != nil && c.origin.block != nil && c.origin.block.Type == schema.ContentBlockTypeAssistantGenText
}

// follow takes note of a chunk of an agentic message.
func (g *gate) follow(m chunk, out func(chunk)) {
	if g.remotes == nil {
		g.remotes = new(remotes)
	}
	g.remotes.see(m.origin)
	if len(g.queue) > 0 && len(m.ToolCalls) == 0 { // else the call must take its piece first
		g.release(out)
	}
}

// hold puts a piece of a provider's call into the queue.
func (g *gate) hold(m chunk, out func(chunk)) {
	if m.remote().whole && len(g.queue) == 0 {
		out(m)

		return
	}
	if len(m.Extra) > 0 || m.ResponseMeta != nil { // what the chunk says beside its block does not wait, and is not lost with it
		out(m.as(&schema.Message{Role: m.Role, Extra: m.Extra, ResponseMeta: m.ResponseMeta}))
		body := *m.Message
		body.Extra, body.ResponseMeta = nil, nil
		m = m.as(&body)
	}
	g.queue = append(g.queue, held{chunk: m})
	g.bytes += blockSize(m.origin.block)
}

// lastRemote returns the provider's call under way; nil if there is none.
func (g *gate) lastRemote() *remote {
	if g.remotes == nil {
		return nil
	}

	return g.remotes.last
}

// unanswered returns the provider's calls that are not whole, as calls that are open.
func (g *gate) unanswered() []snapshot.ToolCall {
	if g.remotes == nil {
		return nil
	}
	var calls []snapshot.ToolCall
	for _, x := range g.remotes.list {
		if x.call != nil && !x.whole {
			calls = append(calls, snapshot.ToolCall{ID: x.id, Name: x.name, Arguments: string(x.args), State: snapshot.CallOpen})
		}
	}

	return calls
}

// handles reports whether something that the provider ran is whole.
func (g *gate) handles() bool {
	if g.remotes == nil {
		return false
	}
	for _, x := range g.remotes.list {
		if x.whole {
			return true
		}
	}

	return false
}

// note remembers the Extra of a piece of the n-th function call.
func (g *gate) note(n int, extra map[string]any) {
	if g.remotes.pieces == nil {
		g.remotes.pieces = make(map[int][]map[string]any)
	}
	g.remotes.pieces[n] = append(g.remotes.pieces[n], extra)
}

// extraOf returns what the pieces of the n-th function call have in their Extra: Eino joins that of all of them.
func (g *gate) extraOf(n int) map[string]any {
	pieces := g.remotes.pieces[n]
	if len(pieces) == 0 {
		return nil
	}
	blocks := make([]*schema.ContentBlock, len(pieces))
	for i, extra := range pieces {
		blocks[i] = schema.NewContentBlock(new(schema.FunctionToolCall))
		blocks[i].Extra = extra
	}
	if len(pieces) == 1 {
		return pieces[0]
	}
	if b := concatBlocks(blocks); b != nil {
		return b.Extra
	}

	return pieces[0]
}
