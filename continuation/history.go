package continuation

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// request is what the wrapped model is asked.
type request struct {
	messages []*schema.Message        // of a model of *schema.Message
	agentic  []*schema.AgenticMessage // of a model of *schema.AgenticMessage
	partial  *layout                  // of such a model, for the request that carries them
	opts     []model.Option
	hinted   bool   // a hint about cut off calls is part of it
	trimmed  string // white space that the partial answer ends with and the request does not
	exact    bool   // it ends with the partial answer, and what follows goes on to the byte
	rewrite  string // how the history was changed, for the log
	prompt   string // that asks for the rest
}

// callerRequest returns the caller's own request, whose slices the caller may use again.
func callerRequest(in []*schema.Message, opts []model.Option) *request {
	return &request{messages: slices.Clone(in), opts: slices.Clone(opts), rewrite: rewriteUnchanged}
}

// How a request's history was changed.
const (
	rewriteNone       = "none"           // there is no request
	rewriteUnchanged  = "unchanged"      // the caller's own
	rewriteAssistant  = "assistant"      // the partial answer was added
	rewriteWithPrompt = "assistant+user" // the partial answer and a prompt were added
)

// minTokens is the least that a continuation may generate, however much of the caller's limit is used up.
const minTokens = 256

// continueRequest builds the request that carries the partial answer: base, then exactly one assistant message, then
// the prompt as a user message unless the dialect leaves it out. It is built from base each time, so nothing stacks up
// over several continuations. Neither base nor its messages are changed.
func continueRequest(base request, s snapshot.Snapshot, d Dialect, p profile, prompt string) request {
	text := shownText(s.Text)
	messages := append(make([]*schema.Message, 0, len(base.messages)+2), base.messages...)

	partial := &schema.Message{Role: schema.Assistant, Content: text}
	if n := len(messages); n > 0 && messages[n-1] != nil && messages[n-1].Role == schema.Assistant && len(messages[n-1].ToolCalls) == 0 {
		partial = extended(messages[n-1], text)
		messages = messages[:n-1]
	}
	carryReasoning(partial, s, p)
	messages = append(messages, partial)

	r := request{
		messages: messages, opts: base.opts, hinted: base.hinted,
		exact: d.exact(), trimmed: s.Text[len(text):], rewrite: rewriteAssistant,
	}
	if d.exact() {
		if d.mark != nil {
			d.mark(partial)
		}
		r.opts = append(slices.Clip(r.opts), d.opts...)

		return r
	}
	r.messages = append(r.messages, schema.UserMessage(prompt))
	r.prompt, r.rewrite = prompt, rewriteWithPrompt

	return r
}

// shownText returns the text as a request carries it: providers refuse white space at its end.
func shownText(text string) string { return strings.TrimRightFunc(text, unicode.IsSpace) }

// extended returns a copy of m, which the caller's input ends with, that goes on with text. Multi-content would be sent
// instead of Content, so the text goes where the provider will look.
func extended(m *schema.Message, text string) *schema.Message {
	e := *m
	e.Extra = maps.Clone(m.Extra)
	if len(m.AssistantGenMultiContent) > 0 {
		e.AssistantGenMultiContent = append(slices.Clip(m.AssistantGenMultiContent),
			schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: text})

		return &e
	}
	e.Content += text

	return &e
}

// carryReasoning adds the thought before the text where the provider takes it back. Half a thought never goes along,
// and a signed one only with its signature.
func carryReasoning(m *schema.Message, s snapshot.Snapshot, p profile) {
	if s.Reasoning == "" || !s.ReasoningWhole || p.resendsReasoning == resendNone || m.ReasoningContent != "" {
		return
	}
	if p.resendsReasoning == resendSigned && len(s.ReasoningExtra) < len(p.reasoningKeys) {
		return
	}
	m.ReasoningContent = s.Reasoning
	if len(s.ReasoningExtra) > 0 {
		if m.Extra == nil {
			m.Extra = make(map[string]any, len(s.ReasoningExtra))
		}
		maps.Copy(m.Extra, s.ReasoningExtra)
	}
}

// limitTokens reduces the caller's token limit by what the broken attempts have used of it: what they reported, or a
// sixth of the bytes that came.
func limitTokens(opts []model.Option, used snapshot.Usage, bytes int) []model.Option {
	limit := model.GetCommonOptions(nil, opts...).MaxTokens
	if limit == nil {
		return opts
	}
	spent := max(used.Completion, bytes/6) // a first record, as some send it, knows of a token or two
	if spent == 0 {
		return opts
	}
	left := max(*limit-spent, min(*limit, minTokens))

	return append(slices.Clip(opts), model.WithMaxTokens(left))
}
