package continuation

import (
	"maps"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// markPrefix is what all marks of this decorator in a message's Extra begin with.
const markPrefix = "carryon_"

func hasMark(extra map[string]any) bool {
	for key := range extra {
		if strings.HasPrefix(key, markPrefix) {
			return true
		}
	}

	return false
}

func (s messages) recovered(r *request) bool {
	return slices.ContainsFunc(r.messages, func(m *schema.Message) bool { return m != nil && hasMark(m.Extra) })
}

func (s agentic) recovered(r *request) bool {
	return slices.ContainsFunc(r.agentic, func(m *schema.AgenticMessage) bool { return m != nil && hasMark(m.Extra) })
}

func (s messages) thoughtless(r *request) (*request, bool) {
	bare := *r
	bare.messages = slices.Clone(r.messages)
	some := false
	for i, m := range bare.messages {
		if m != nil && m.Role == schema.Assistant {
			var changed bool
			bare.messages[i], changed = withoutThought(m)
			some = some || changed
		}
	}

	return &bare, some
}

func (s agentic) thoughtless(r *request) (*request, bool) {
	bare := *r
	bare.agentic = slices.Clone(r.agentic)
	some := false
	for i, m := range bare.agentic {
		if m == nil || m.Role != schema.AgenticRoleTypeAssistant {
			continue
		}
		blocks := slices.DeleteFunc(slices.Clone(m.ContentBlocks), func(b *schema.ContentBlock) bool {
			return b != nil && b.Reasoning != nil
		})
		if len(blocks) > 0 && len(blocks) < len(m.ContentBlocks) {
			bare.agentic[i], some = withBlocks(m, blocks), true
		}
	}

	return &bare, some
}

// thoughtKeys are the keys under which clients keep reasoning and its signatures in the Extra of messages, parts and calls.
func thoughtKeys() []string {
	return []string{
		extraOpenAIReasoning, extraClaudeThinking, extraClaudeSignature, extraGeminiSignature, extraDeepSeekReasoning,
		extraOpenRouterDetails, extraArkReasoning,
	}
}

// withoutThought returns a copy of m without its reasoning; m itself if there is none, or nothing else: an empty message is
// refused by most providers.
func withoutThought(m *schema.Message) (*schema.Message, bool) {
	bare := *m
	bare.ReasoningContent = ""
	some := m.ReasoningContent != ""
	var changed bool
	bare.Extra, changed = withoutKeys(m.Extra)
	some = some || changed
	bare.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range bare.ToolCalls {
		bare.ToolCalls[i].Extra, changed = withoutKeys(bare.ToolCalls[i].Extra)
		some = some || changed
	}
	bare.AssistantGenMultiContent = slices.DeleteFunc(slices.Clone(m.AssistantGenMultiContent), func(p schema.MessageOutputPart) bool {
		return p.Type == schema.ChatMessagePartTypeReasoning
	})
	some = some || len(bare.AssistantGenMultiContent) < len(m.AssistantGenMultiContent)
	for i := range bare.AssistantGenMultiContent {
		p := &bare.AssistantGenMultiContent[i]
		p.Extra, changed = withoutKeys(p.Extra)
		some = some || changed
	}
	if !some || bare.Content == "" && len(bare.ToolCalls) == 0 && len(bare.AssistantGenMultiContent) == 0 && len(bare.MultiContent) == 0 {
		return m, false
	}

	return &bare, true
}

// withoutKeys returns a copy of extra without what is reasoning; nil if nothing is left.
func withoutKeys(extra map[string]any) (map[string]any, bool) {
	is := func(key string, _ any) bool { return slices.Contains(thoughtKeys(), key) }
	out := maps.Clone(extra)
	maps.DeleteFunc(out, is)
	if len(out) == 0 {
		out = nil
	}

	return out, len(out) < len(extra)
}
