package continuation_test

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
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
