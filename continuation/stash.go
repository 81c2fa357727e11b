package continuation

import (
	"slices"

	"github.com/eino-carryon/carryon/snapshot"
)

// stash keeps chunks that the consumer does not get yet: of a probe, whose end tells whether the answer before it was
// cut, or of an answer that is wanted whole.
type stash struct {
	chunks []chunk
	bytes  int
}

// add keeps m and returns how many bytes of content are kept.
func (s *stash) add(m chunk) int {
	s.chunks = append(s.chunks, m)
	s.bytes += len(snapshot.Text(m.Message)) + len(m.ReasoningContent)
	for i := range m.ToolCalls {
		s.bytes += len(m.ToolCalls[i].Function.Arguments)
	}

	return s.bytes
}

// size returns how many bytes of content are kept; a nil stash keeps none.
func (s *stash) size() int {
	if s == nil {
		return 0
	}

	return s.bytes
}

// usage returns what the chunks report.
func (s *stash) usage() snapshot.Usage {
	var u snapshot.Usage
	for _, m := range s.chunks {
		if m.ResponseMeta != nil {
			u = u.Max(snapshot.UsageOf(m.ResponseMeta.Usage))
		}
	}

	return u
}

// finish returns the finish reason that the chunks bring; empty if none does.
func (s *stash) finish() string {
	for _, m := range slices.Backward(s.chunks) {
		if r := snapshot.FinishReason(m.Message); r != "" {
			return r
		}
	}

	return ""
}
