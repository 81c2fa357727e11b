package continuation_test

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// exGot is what stands in the first chunks of an answer. It is read from them in the plainest way, and shares no code
// with the package under test.
type exGot struct {
	text     string // ends with a whole rune
	thought  string
	calls    []*exGotCall
	finished bool
	usage    *schema.TokenUsage
	reported bool // no content came behind the usage
	content  bool
	last     byte // what the last content was: t for text, r for reasoning, c for a call
	client   bool // the chunks say whose they are
}

type exGotCall struct {
	provider *int
	call     schema.ToolCall
	followed bool
}

func exRead(chunks []*schema.Message) exGot {
	var g exGot
	for _, m := range chunks {
		g.reported = g.reported && !snapshot.HasContent(m)
		if m.ReasoningContent != "" {
			g.thought += m.ReasoningContent
			g.last, g.content = 'r', true
		}
		if m.Content != "" {
			g.text += m.Content
			g.last, g.content = 't', true
		}
		for _, delta := range m.ToolCalls {
			g.addCall(delta)
		}
		if r := m.ResponseMeta; r != nil {
			g.finished = g.finished || r.FinishReason != ""
			if r.Usage != nil {
				g.usage, g.reported = r.Usage, g.content
			}
		}
		if _, ok := m.Extra["openai-request-id"]; ok {
			g.client = true
		}
	}
	for !utf8.ValidString(g.text) {
		g.text = g.text[:len(g.text)-1]
	}

	return g
}

func (g *exGot) addCall(delta schema.ToolCall) {
	g.last, g.content = 'c', true
	i := slices.IndexFunc(g.calls, func(c *exGotCall) bool {
		return delta.Index != nil && c.provider != nil && *c.provider == *delta.Index
	})
	if i >= 0 {
		g.calls[i].call.Function.Arguments += delta.Function.Arguments

		return
	}
	for _, c := range g.calls {
		c.followed = true
	}
	index := len(g.calls)
	c := &exGotCall{provider: delta.Index, call: delta}
	c.call.Index = &index
	g.calls = append(g.calls, c)
}

func (c *exGotCall) whole() bool {
	args := c.call.Function.Arguments

	return args == "" && c.followed || strings.HasPrefix(args, "{") && json.Valid([]byte(args))
}

// wholeCalls returns the whole calls by index, as they are delivered after a break.
func (g *exGot) wholeCalls() []schema.ToolCall {
	var calls []schema.ToolCall
	for _, c := range g.calls {
		if !c.whole() {
			continue
		}
		call := c.call
		if call.Function.Arguments == "" {
			call.Function.Arguments = "{}"
		}
		calls = append(calls, call)
	}

	return calls
}

func (g *exGot) openCalls() []schema.ToolCall {
	var calls []schema.ToolCall
	for _, c := range g.calls {
		if !c.whole() {
			calls = append(calls, c.call)
		}
	}

	return calls
}

func (g *exGot) hasText() bool { return strings.TrimSpace(g.text) != "" }

// trimmed is the text as a request carries it.
func (g *exGot) trimmed() string { return strings.TrimRightFunc(g.text, unicode.IsSpace) }

func (g *exGot) plan() snapshot.Plan {
	switch {
	case len(g.wholeCalls()) > 0:
		return snapshot.SynthesizeToolUse
	case !g.hasText():
		return snapshot.WholeRestart
	case len(g.openCalls()) > 0:
		return snapshot.TruncateBeforeTool
	default:
		return snapshot.ContinueText
	}
}

// thoughtWhole reports whether something followed the reasoning.
func (g *exGot) thoughtWhole() bool { return g.thought != "" && g.last != 'r' }

// exIndexed returns m with an index for every call that has none.
func exIndexed(m *schema.Message) *schema.Message {
	out := *m
	out.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range out.ToolCalls {
		if out.ToolCalls[i].Index == nil {
			out.ToolCalls[i].Index = &i
		}
	}

	return &out
}
