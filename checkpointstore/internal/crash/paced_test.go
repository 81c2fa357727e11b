//go:build unix

package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// pacedModel answers with tokens at the pace of a provider. It does as little as a model can, so that what is measured
// beside it is not its own work.
type pacedModel struct {
	model.BaseChatModel
	answer []*schema.Message // nobody changes a chunk, so all streams share them
	every  time.Duration
}

func newPacedModel(tokens int, every time.Duration) *pacedModel {
	m := &pacedModel{every: every}
	for i := range tokens {
		m.answer = append(m.answer, schema.AssistantMessage(fmt.Sprintf("token%d ", i), nil))
	}
	m.answer = append(m.answer, &schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}})

	return m
}

// Stream sends each token when it is due, counted from the first: a reader that was late does not slow the next ones.
func (m *pacedModel) Stream(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](1)
	go func() { // ends with its reader or its context
		defer w.Close()
		pace := time.NewTicker(m.every)
		defer pace.Stop()
		for _, chunk := range m.answer {
			select {
			case <-pace.C:
			case <-ctx.Done():
				return
			}
			if w.Send(chunk, nil) {
				return
			}
		}
	}()

	return r, nil
}
