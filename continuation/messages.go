package continuation

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// messages is the speech of models of *schema.Message.
type messages struct{ inner model.BaseChatModel }

func (s messages) open(ctx context.Context, r *request) (source, error) {
	reader, err := s.inner.Stream(ctx, r.messages, r.opts...)
	if err != nil || reader == nil {
		return nil, err
	}

	return messageSource{reader}, nil
}

func (s messages) base(asked *request, place hintPlace) *request {
	mended := repairAll(asked.messages)
	told, hinted := withHint(mended, place)
	if !hinted && len(told) > 0 && &told[0] == &asked.messages[0] {
		return asked
	}

	return &request{messages: told, opts: asked.opts, hinted: hinted, rewrite: rewriteUnchanged}
}

func (s messages) continued(base request, state snapshot.Snapshot, d Dialect, p profile, prompt string) *request {
	r := continueRequest(base, state, d, p, prompt)

	return &r
}

func (s messages) profile(typ string) profile { return profileOf(typ) }

func (s messages) layout() *layout { return nil }

func (s messages) answers(r *request) int { return countAnswers(r.messages) }

// messageSource is a stream of messages as a source.
type messageSource struct {
	reader *schema.StreamReader[*schema.Message]
}

func (s messageSource) Recv() (chunk, error) {
	m, err := s.reader.Recv()

	return chunk{Message: m}, err
}

func (s messageSource) Close() { s.reader.Close() }

// nextMessage is next for a consumer of messages.
func (c *call) nextMessage() (*schema.Message, error) {
	m, err := c.next()

	return m.Message, err
}
