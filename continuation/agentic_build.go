package continuation

import (
	"reflect"

	"github.com/cloudwego/eino/schema"
)

// place returns a view as the consumer gets it; false if nothing is left of it.
func (l *layout) place(m chunk) (chunk, bool) {
	l.noteExtra(m.Extra)
	o := m.origin
	if o == nil {
		return l.placeMade(m)
	}
	if o.block == nil {
		return l.frame(m)
	}
	if o.block.Reasoning != nil && l.later && l.solid {
		return l.frame(withoutReasoning(m)) // a thought has no place inside the answer
	}
	l.at = o.wrote
	if m.Message == o.view && o.block.FunctionToolCall == nil { // so are most, and they cost nothing
		if b := l.put(o.block, indexOf(o.block)); b != o.block {
			return l.made(m, []*schema.ContentBlock{b})
		}

		return m, true
	}
	out := l.build(m)
	if len(out) == 1 && out[0] == o.block && (m.Message == o.view || sameFrame(m.Message, o.view)) {
		return o.chunk(), true
	}

	return l.made(m, out)
}

func withoutReasoning(m chunk) chunk {
	v := *m.Message
	v.ReasoningContent, v.AssistantGenMultiContent = "", nil

	return m.as(&v)
}

// sameFrame reports whether two views say the same of the chunk around their block.
func sameFrame(a, b *schema.Message) bool {
	return a.Role == b.Role && a.ResponseMeta == b.ResponseMeta && len(a.Extra) == len(b.Extra)
}

// frame places a view that has no block.
func (l *layout) frame(m chunk) (chunk, bool) {
	if m.Message == m.origin.view {
		return m, true
	}
	if isEmpty(m.Message) {
		return m, false
	}

	return l.made(m, nil)
}

// made returns m as a chunk with these blocks.
func (l *layout) made(m chunk, content []*schema.ContentBlock) (chunk, bool) {
	o := &origin{view: m.Message, out: &schema.AgenticMessage{
		Role: schema.AgenticRoleType(m.Role), ContentBlocks: content, Extra: m.Extra,
	}}
	if m.origin != nil {
		o.of, o.parts = m.origin.of, m.origin.parts
	}
	if m.ResponseMeta != nil {
		o.out.ResponseMeta = l.responseMeta(m)
	}

	return chunk{Message: m.Message, origin: o}, true
}

// placeMade places a chunk of the decorator's own.
func (l *layout) placeMade(m chunk) (chunk, bool) {
	var content []*schema.ContentBlock
	if m.Content != "" {
		text := schema.NewContentBlock(&schema.AssistantGenText{Text: m.Content})
		content = append(content, l.put(text, nil))
	}
	for i := range m.ToolCalls {
		content = append(content, l.put(callBlock(&m.ToolCalls[i]), m.ToolCalls[i].Index))
	}

	return l.made(m, content)
}

// build returns the blocks of a view as they stand in the message. A block that needs no change is returned as it is.
func (l *layout) build(m chunk) []*schema.ContentBlock {
	from, v := m.origin.block, m.origin.view
	switch {
	case from.FunctionToolCall != nil:
		var content []*schema.ContentBlock
		for i := range m.ToolCalls {
			t := &m.ToolCalls[i]
			content = append(content, l.putOr(from, callBlock(t), t.Index))
		}

		return content
	case from.AssistantGenText != nil && m.Content != v.Content:
		if m.Content == "" {
			return nil
		}
		cut, text := *from, *from.AssistantGenText
		text.Text = m.Content
		cut.AssistantGenText = &text

		return []*schema.ContentBlock{l.put(&cut, indexOf(from))}
	case from.AssistantGenText == nil && m.ReasoningContent == "" && len(m.AssistantGenMultiContent) == 0:
		return nil // it was taken out
	default:
		return []*schema.ContentBlock{l.put(from, indexOf(from))}
	}
}

// putOr is put, but returns from if the call in c is the one that came, in its place.
func (l *layout) putOr(from, c *schema.ContentBlock, index *int) *schema.ContentBlock {
	c = l.put(c, index)
	if *c.FunctionToolCall == *from.FunctionToolCall && sameMap(c.Extra, from.Extra) && sameIndex(indexOf(c), indexOf(from)) {
		return from
	}

	return c
}

func sameMap(a, b map[string]any) bool {
	return len(a) == 0 && len(b) == 0 || reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

func sameIndex(a, b *int) bool { return a == b || a != nil && b != nil && *a == *b }

// indexOf returns the index of a block; nil if it has none.
func indexOf(b *schema.ContentBlock) *int {
	if b.StreamingMeta == nil {
		return nil
	}

	return &b.StreamingMeta.Index
}
