package continuation

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// Model decorates a chat model: a stream that breaks is continued, and the consumer sees one. It can stand wherever the
// wrapped model can, keeps no state of a call beyond it, and is safe for concurrent use if the wrapped model is.
type Model struct {
	inner  model.BaseChatModel
	engine *engine
}

var (
	_ model.ToolCallingChatModel = (*Model)(nil)
	_ components.Typer           = (*Model)(nil)
	_ components.Checker         = (*Model)(nil)
)

// New returns inner with recovering streams. The error names every option that is out of range.
func New(inner model.BaseChatModel, opts ...Option) (*Model, error) {
	cfg, err := newConfig(opts)
	if inner == nil {
		err = errors.Join(errNoModel, err)
	}
	if err != nil {
		return nil, err
	}

	return &Model{inner: inner, engine: newEngine(messages{inner}, cfg, inner)}, nil
}

var errNoModel = errors.New("continuation: the model to wrap is nil")

// Wrap is [New] for programs that know their options: it panics where New returns an error.
func Wrap(inner model.BaseChatModel, opts ...Option) *Model {
	m, err := New(inner, opts...)
	if err != nil {
		panic(err)
	}

	return m
}

// WithTools returns a decorated model with the tools bound. The receiver is not changed. If the wrapped model takes no
// tools, the error names its type; tools given as options of a call still reach it.
func (m *Model) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	inner, ok := m.inner.(model.ToolCallingChatModel)
	if !ok {
		return nil, fmt.Errorf("continuation: the wrapped %T has no WithTools", m.inner)
	}
	bound, err := inner.WithTools(tools)
	if err != nil {
		return nil, fmt.Errorf("continuation: bind tools: %w", err)
	}
	if bound == nil {
		return nil, fmt.Errorf("continuation: WithTools of the wrapped %T returned no model", m.inner)
	}
	e := *m.engine
	e.speech, e.bound = messages{bound}, slices.Clone(tools)

	return &Model{inner: bound, engine: &e}, nil
}

// Commit deletes the finished answers of the run that ctx names, as the function [Commit] does, for models with
// [KeepUntilCommit]: of the run id that [WithRunID] gives, and with what this model knows of the run, so that what another
// process has taken over since stays. Without [WithCheckpoints] it does nothing; no run id is an error.
func (m *Model) Commit(ctx context.Context) error { return m.engine.commit(ctx) }

// GetType returns the wrapped model's type; empty if it has none.
func (m *Model) GetType() string { return m.engine.typ }

// IsCallbacksEnabled says that the decorator tells callback handlers of its runs itself, whatever the wrapped model does.
func (m *Model) IsCallbacksEnabled() bool { return true }

// Stream asks the wrapped model and returns a reader of one answer, however often the stream below breaks.
//
// It returns once the first attempt is open. A first request that fails for good is returned as Stream's error; one that
// may be made again is made again inside Recv, so that closing the reader can end the wait. Recv ends with io.EOF after
// the whole answer; an error end is never io.EOF. What the answer could not be brought to its end for is an
// [ExhaustedError]; the end of ctx, the closing of the reader and interrupts come out as they are. After its error the
// reader only says io.EOF.
//
// The caller closes the reader. That stops the request below at once, even while it is silent; closing twice, and
// closing while another goroutine is in Recv, is fine. Neither in nor its messages are changed.
func (m *Model) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	asked := callerRequest(in, opts)
	if m.engine.passes(ctx, asked) {
		return passStream(ctx, m.engine, asked, func(ctx context.Context) (*schema.StreamReader[*schema.Message], error) {
			return m.inner.Stream(ctx, in, opts...)
		})
	}
	if m.engine.cfg.liveToolCalls && len(compose.GetCurrentAddress(ctx)) > 0 {
		return nil, errLiveCalls
	}
	c := newCall(ctx, m.engine, asked)
	if err := c.open(); err != nil { //nolint:contextcheck // the call holds ctx: its later requests are made in Recv
		return nil, err
	}

	return newReader(c.nextMessage, c.closed), nil
}

// Generate asks the wrapped model for a whole answer. A request that failed is made again as often as [WithOpenRetries]
// allows; with [WithStreamingGenerate] the answer comes through the recovering stream.
func (m *Model) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	asked := callerRequest(in, opts)
	switch {
	case m.engine.passes(ctx, asked):
		return passAnswer(ctx, m.engine, asked, func(ctx context.Context) (*schema.Message, error) {
			return m.inner.Generate(ctx, in, opts...)
		})
	case m.engine.cfg.streamGenerate:
		r, err := m.Stream(ctx, in, opts...)
		if err != nil {
			return nil, err
		}

		return schema.ConcatMessageStream(r)
	default:
		return generate(ctx, m.engine, asked, func(ctx context.Context, r *request) (*schema.Message, error) {
			return m.inner.Generate(ctx, r.messages, r.opts...)
		})
	}
}
