package continuation

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// probe is a continuation that is withheld whole: its end tells whether the model sends finish reasons at all, and so
// whether the answer before it was cut.
type probe struct {
	on     bool
	chunks []*schema.Message
	bytes  int
}

// withhold keeps m and reports whether there is room for it.
func (p *probe) withhold(m *schema.Message, limit int) bool {
	p.chunks = append(p.chunks, m)
	p.bytes += len(snapshot.Text(m)) + len(m.ReasoningContent)
	for i := range m.ToolCalls {
		p.bytes += len(m.ToolCalls[i].Function.Arguments)
	}

	return p.bytes <= limit
}

// finish returns the finish reason that the withheld chunks bring; empty if none does.
func (p *probe) finish() string {
	for _, m := range slices.Backward(p.chunks) {
		if r := m.ResponseMeta; r != nil && r.FinishReason != "" {
			return r.FinishReason
		}
	}

	return ""
}
