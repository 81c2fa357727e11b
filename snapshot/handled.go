package snapshot

import (
	"slices"

	"github.com/cloudwego/eino/schema"
)

// PartHandled is the type of a part that stands for what the provider did by itself, such as a search: it is content,
// nobody needs to act on it, and it does not keep the answer from being continued.
const PartHandled schema.ChatMessagePartType = "carryon_handled"

// IsHandled reports whether a message has a part of type [PartHandled].
func IsHandled(m *schema.Message) bool {
	return slices.ContainsFunc(m.AssistantGenMultiContent, func(p schema.MessageOutputPart) bool { return p.Type == PartHandled })
}
