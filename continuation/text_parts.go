package continuation

import (
	"maps"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/snapshot"
)

// The keys in a checkpoint's Extra under which the parts stand that the text came in: how many there are, and each.
const (
	extraParts = "carryon_parts"
	extraPart  = "carryon_part_" // and the number
)

// textParts are the parts that a text came in. A client that gives its text as output parts as well (Gemini's does) sends
// back these and not the text, so that a text that another process restores has to come in parts, too.
type textParts struct {
	size  int // of the text
	bytes int // that the parts take in a checkpoint, about
	parts []textPart
}

// textPart is a stretch of the text with what its client keeps beside it.
type textPart struct {
	to    int
	extra map[string]any
}

// note takes note of the parts of a delivered chunk.
func (p *textParts) note(m *schema.Message) {
	from := p.size
	p.size += len(snapshot.Text(m))
	for i := range m.AssistantGenMultiContent {
		part := &m.AssistantGenMultiContent[i]
		if part.Type != schema.ChatMessagePartTypeText || part.Text == "" {
			continue
		}
		from = min(from+len(part.Text), p.size)
		if n := len(p.parts) - 1; n >= 0 && len(p.parts[n].extra)+len(part.Extra) == 0 {
			p.parts[n].to = from
		} else {
			p.parts = append(p.parts, textPart{to: from, extra: part.Extra})
			p.bytes += sizeOfValue(part.Extra) + sizeOfValue(extraPart)
		}
	}
}

// store adds the parts to a checkpoint, and returns about how many bytes they take.
func (p *textParts) store(cp *checkpointstore.Checkpoint) int {
	if len(p.parts) == 0 {
		return 0
	}
	extra := make(map[string]any, len(cp.Extra)+len(p.parts)+1)
	maps.Copy(extra, cp.Extra)
	extra[extraParts] = int64(len(p.parts))
	for i, part := range p.parts {
		one := map[string]any{"to": int64(part.to)}
		if len(part.extra) > 0 {
			one["extra"] = part.extra
		}
		extra[extraPart+strconv.Itoa(i)] = one
	}
	cp.Extra = extra

	return p.bytes
}

// isPart reports whether a key of a checkpoint's Extra is one of those that store adds.
func isPart(key string) bool { return key == extraParts || strings.HasPrefix(key, extraPart) }

// partsOf returns the parts of a checkpoint's text; nil if it came without.
func partsOf(cp *checkpointstore.Checkpoint) []schema.MessageOutputPart {
	n, _ := cp.Extra[extraParts].(int64)
	n = min(n, int64(len(cp.Extra))) // each has a key
	var parts []schema.MessageOutputPart
	from := 0
	for i := range n {
		one, _ := cp.Extra[extraPart+strconv.FormatInt(i, 10)].(map[string]any)
		to, _ := one["to"].(int64)
		end := min(max(int(to), from), len(cp.Text))
		if i == n-1 {
			end = len(cp.Text) // the client sends back nothing else of it
		}
		extra, _ := one["extra"].(map[string]any)
		if end > from || len(extra) > 0 {
			parts = append(parts, schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: cp.Text[from:end], Extra: extra})
		}
		from = end
	}

	return parts
}
