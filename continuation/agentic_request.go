package continuation

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// continueAgentic is continueRequest for agentic messages: base, then one assistant message with the blocks that were
// delivered, then the prompt as a user message unless the dialect leaves it out. What the provider ran by itself is part
// of the answer, so it goes along in its place, with the text split around it.
func continueAgentic(base request, s snapshot.Snapshot, d Dialect, p profile, prompt string) request {
	content, trimmed := base.partial.content(s.Text, p)
	messages := append(make([]*schema.AgenticMessage, 0, len(base.agentic)+2), base.agentic...)
	partial := &schema.AgenticMessage{
		Role: schema.AgenticRoleTypeAssistant, ContentBlocks: content, Extra: maps.Clone(base.partial.extra),
	}
	if n := len(messages); n > 0 && endsInAnswer(messages[n-1]) {
		partial = joinedAnswer(messages[n-1], content)
		messages = messages[:n-1]
	}
	messages = append(messages, partial)

	r := request{
		agentic: messages, opts: base.opts, hinted: base.hinted,
		exact: d.exact(), trimmed: trimmed, rewrite: rewriteAssistant,
	}
	if d.exact() {
		r.opts = append(slices.Clip(r.opts), d.opts...)

		return r
	}
	r.agentic = append(r.agentic, schema.UserAgenticMessage(prompt))
	r.prompt, r.rewrite = prompt, rewriteWithPrompt

	return r
}

// endsInAnswer reports whether m is an answer that the caller wants continued.
func endsInAnswer(m *schema.AgenticMessage) bool {
	return m != nil && m.Role == schema.AgenticRoleTypeAssistant &&
		!slices.ContainsFunc(m.ContentBlocks, func(b *schema.ContentBlock) bool { return b != nil && b.FunctionToolCall != nil })
}

// joinedAnswer returns a copy of m, which the caller's input ends with, that goes on with content. Text goes on in m's
// last block if that is text.
func joinedAnswer(m *schema.AgenticMessage, content []*schema.ContentBlock) *schema.AgenticMessage {
	all := slices.Clone(m.ContentBlocks)
	last, at := lastOf(m)
	if len(content) > 0 && last != nil && last.AssistantGenText != nil && content[0].AssistantGenText != nil {
		b := copyBlock(last)
		b.AssistantGenText.Text += content[0].AssistantGenText.Text
		all[at], content = b, content[1:]
	}

	return withBlocks(m, append(all, content...))
}

// content returns what was delivered as the blocks of a request, and what of the text's end it leaves out: providers
// refuse white space there.
func (l *layout) content(text string, p profile) ([]*schema.ContentBlock, string) {
	var out []*schema.ContentBlock
	trimmed := ""
	for i := range l.blocks {
		b := &l.blocks[i]
		if b.kind == schema.ContentBlockTypeAssistantGenText {
			piece := text[min(b.from, len(text)):min(b.to, len(text))]
			if i == len(l.blocks)-1 {
				whole := piece
				piece = shownText(piece)
				trimmed = whole[len(piece):]
			}
			out = appendText(out, piece)

			continue
		}
		if slices.Contains(l.broken, b.place) {
			continue
		}
		if c := b.whole(); c != nil && !unsigned(c, p) {
			out = append(out, c)
		}
	}

	return out, trimmed
}

// unsigned reports whether c is a thought that the provider does not take back, since its signature is missing.
func unsigned(c *schema.ContentBlock, p profile) bool {
	return c.Reasoning != nil && p.resendsReasoning == resendSigned && c.Reasoning.Signature == "" && c.Reasoning.Text != ""
}

// appendText adds text to the blocks. White space alone is no block, for providers that refuse one.
func appendText(out []*schema.ContentBlock, text string) []*schema.ContentBlock {
	if n := len(out); n > 0 && out[n-1].AssistantGenText != nil {
		out[n-1].AssistantGenText.Text += text

		return out
	}
	if strings.TrimSpace(text) == "" {
		return out
	}

	return append(out, schema.NewContentBlock(&schema.AssistantGenText{Text: text}))
}

// concatBlocks returns the block that the pieces make, without an index; nil if they make none.
func concatBlocks(pieces []*schema.ContentBlock) *schema.ContentBlock {
	chunks := make([]*schema.AgenticMessage, 0, len(pieces)+1)
	for _, p := range pieces {
		c := *p
		c.StreamingMeta = new(schema.StreamingMeta)
		chunks = append(chunks, &schema.AgenticMessage{ContentBlocks: []*schema.ContentBlock{&c}})
	}
	m, err := schema.ConcatAgenticMessages(append(chunks, new(schema.AgenticMessage)))
	if err != nil || len(m.ContentBlocks) == 0 {
		return nil // the client's pieces do not add up; the consumer has the same trouble
	}

	return copyBlock(m.ContentBlocks[0])
}
