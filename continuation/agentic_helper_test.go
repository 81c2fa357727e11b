package continuation_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// agenticFunc is an agentic model that hands out readers.
type agenticFunc func() *schema.StreamReader[*schema.AgenticMessage]

func (f agenticFunc) Stream(
	context.Context, []*schema.AgenticMessage, ...model.Option,
) (*schema.StreamReader[*schema.AgenticMessage], error) {
	return f(), nil
}

func (f agenticFunc) Generate(context.Context, []*schema.AgenticMessage, ...model.Option) (*schema.AgenticMessage, error) {
	return schema.ConcatAgenticMessages(nil)
}

// agAsk sends one question and returns what comes.
func agAsk(t *testing.T, m *continuation.Typed[*schema.AgenticMessage]) ([]*schema.AgenticMessage, error) {
	t.Helper()
	r, err := m.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
	require.NoError(t, err)

	return fm.CollectAny(r)
}

// agKinds returns the types of a message's blocks.
func agKinds(m *schema.AgenticMessage) []schema.ContentBlockType {
	var kinds []schema.ContentBlockType
	for _, b := range m.ContentBlocks {
		kinds = append(kinds, b.Type)
	}

	return kinds
}

// agEvents returns an option that gathers events, and what was gathered by then.
func agEvents() (continuation.Option, func() []callbacks.Event) {
	var all []callbacks.Event

	return continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
		all = append(all, e)
	})), func() []callbacks.Event { return all }
}
