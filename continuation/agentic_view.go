package continuation

import (
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// origin is what a chunk came as, and what it leaves as.
type origin struct {
	of      *schema.AgenticMessage // the chunk that the view is of; nil for what the decorator made itself
	block   *schema.ContentBlock   // the block in it; nil if it has none
	view    *schema.Message        // as it came: a chunk that holds another message was changed on the way
	parts   int                    // views of the chunk
	next    *origin                // the view of the chunk's next block
	settled bool                   // nothing more will come of the block
	wrote   int                    // of a text block: the runes that came before
	remote  *remote                // what the provider does by itself, that the block is of; nil if it is of none
	home    *views                 // where it is used again; nil if it is not

	out *schema.AgenticMessage // what leaves; nil is what came
}

// chunk returns the view as it came.
func (o *origin) chunk() chunk { return chunk{Message: o.view, origin: o} }

// whole reports whether the view leaves as it came.
func (o *origin) whole() bool { return o.out == nil }

// message returns what leaves.
func (o *origin) message() *schema.AgenticMessage {
	if o.out != nil {
		return o.out
	}
	m := &schema.AgenticMessage{Role: o.of.Role}
	if o.block != nil {
		m.ContentBlocks = []*schema.ContentBlock{o.block}
	}
	if o.view.Extra != nil {
		m.Extra = o.of.Extra
	}
	if o.view.ResponseMeta != nil {
		m.ResponseMeta = o.of.ResponseMeta
	}

	return m
}

// viewsOf returns the first view of m; the others follow it. The first one has m's Extra, the last one what m says of the
// response.
func viewsOf(m *schema.AgenticMessage) chunk { return (*views)(nil).of(m) }

// of is viewsOf.
func (v *views) of(m *schema.AgenticMessage) chunk {
	var first, last *origin
	n := 0
	for _, b := range m.ContentBlocks {
		if b == nil {
			continue
		}
		o := v.take(m, b)
		if n++; first == nil {
			first = o
		} else {
			last.next = o
		}
		last = o
	}
	if first == nil {
		n, first = 1, &origin{of: m, view: new(schema.Message)}
		last = first
	}
	for o := first; o != nil; o = o.next {
		o.parts, o.view.Role = n, schema.RoleType(m.Role)
	}
	first.view.Extra = m.Extra
	if meta := m.ResponseMeta; meta != nil {
		last.view.ResponseMeta = &schema.ResponseMeta{FinishReason: agenticFinish(meta), Usage: meta.TokenUsage}
	}

	return first.chunk()
}

// viewBlock sets v, which is empty, to the core's view of a block. A block that is more than its text has a part for that,
// so that it is not taken for nothing when the text is empty.
func viewBlock(v *schema.Message, b *schema.ContentBlock) {
	switch {
	case b.AssistantGenText != nil:
		v.Content = b.AssistantGenText.Text
		if v.Content == "" {
			v.AssistantGenMultiContent = []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText}}
		}
	case b.Reasoning != nil:
		v.ReasoningContent = b.Reasoning.Text
		if v.ReasoningContent == "" || b.Reasoning.Signature != "" || b.Reasoning.OpenAIExtension != nil {
			v.AssistantGenMultiContent = []schema.MessageOutputPart{{
				Type:      schema.ChatMessagePartTypeReasoning,
				Reasoning: &schema.MessageOutputReasoning{Signature: b.Reasoning.Signature},
			}}
		}
	case b.FunctionToolCall != nil:
		v.ToolCalls = []schema.ToolCall{callView(b)}
	default:
		part := schema.MessageOutputPart{Type: schema.ChatMessagePartTypeFileURL}
		if handled, _ := handledKind(b.Type); handled {
			part.Type = snapshot.PartHandled
		}
		v.AssistantGenMultiContent = []schema.MessageOutputPart{part}
	}
}

func callView(b *schema.ContentBlock) schema.ToolCall {
	t := schema.ToolCall{
		ID:       b.FunctionToolCall.CallID,
		Function: schema.FunctionCall{Name: b.FunctionToolCall.Name, Arguments: b.FunctionToolCall.Arguments},
		Extra:    b.Extra,
	}
	if b.StreamingMeta != nil {
		index := b.StreamingMeta.Index
		t.Index = &index
	}

	return t
}

// callBlock returns the block of a call, without its place.
func callBlock(t *schema.ToolCall) *schema.ContentBlock {
	b := schema.NewContentBlock(&schema.FunctionToolCall{
		CallID: t.ID, Name: t.Function.Name, Arguments: t.Function.Arguments,
	})
	b.Extra = t.Extra

	return b
}

// assemble makes one chunk of the views of one.
func assemble(parts []*origin) *schema.AgenticMessage {
	first := parts[0]
	if len(parts) == 1 {
		if first.whole() && first.parts == 1 {
			return first.of
		}

		return first.message()
	}
	unchanged := len(parts) == first.parts
	for _, p := range parts {
		unchanged = unchanged && p.whole()
	}
	if unchanged {
		return first.of
	}
	m := new(schema.AgenticMessage)
	for _, p := range parts {
		part := p.message()
		if m.Role == "" {
			m.Role = part.Role
		}
		m.ContentBlocks = append(m.ContentBlocks, part.ContentBlocks...)
		if part.Extra != nil {
			m.Extra = part.Extra
		}
		if part.ResponseMeta != nil {
			m.ResponseMeta = part.ResponseMeta
		}
	}

	return m
}
