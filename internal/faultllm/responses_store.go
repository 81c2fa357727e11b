package faultllm

import (
	"fmt"
	"slices"
	"sync"
)

// responseStore keeps the conversations of the latest responses that came to their end.
type responseStore struct {
	mu    sync.Mutex
	limit int
	ids   []string // oldest first
	kept  map[string][]Message
}

func newResponseStore(limit int) *responseStore {
	return &responseStore{limit: limit, kept: map[string][]Message{}}
}

func responseID(n int) string { return fmt.Sprintf("resp_test%06d", n) }

func (s *responseStore) put(id string, conversation []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ids) == s.limit {
		delete(s.kept, s.ids[0])
		s.ids = slices.Delete(s.ids, 0, 1)
	}
	s.ids = append(s.ids, id)
	s.kept[id] = slices.Clone(conversation)
}

// get returns a copy of what was said up to the end of a response.
func (s *responseStore) get(id string) ([]Message, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	conversation, found := s.kept[id]
	return slices.Clone(conversation), found
}

// spoken returns the message that events make.
func spoken(said []event) Message {
	m := Message{Role: roleAssistant}
	for _, e := range said {
		switch e.kind {
		case eventReasoning:
			m.Reasoning += e.text
		case eventText:
			m.Text += e.text
		case eventCall:
			m.ToolCalls = append(m.ToolCalls, ToolCall{ID: e.id, Name: e.name, Args: e.text})
		case eventArgs:
			m.ToolCalls[len(m.ToolCalls)-1].Args += e.text
		default: // the rest says nothing.
		}
	}
	return m
}
