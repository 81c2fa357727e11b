package continuation

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// Model decorates a chat model: a stream that breaks is continued, and the consumer sees one. It can stand wherever the
// wrapped model can, keeps no state of a call beyond it, and is safe for concurrent use if the wrapped model is.
type Model struct {
	inner   model.BaseChatModel
	cfg     *config
	profile *profile
	learned *learned
	tools   bool // bound by WithTools
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
		err = errors.Join(errors.New("continuation: the model to wrap is nil"), err)
	}
	if err != nil {
		return nil, err
	}

	m := &Model{inner: inner, cfg: cfg, learned: new(learned)}
	p := profileOf(m.provider())
	m.profile = &p

	return m, nil
}

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

	return &Model{inner: bound, cfg: m.cfg, profile: m.profile, learned: m.learned, tools: len(tools) > 0}, nil
}

// GetType returns the wrapped model's type; empty if it has none.
func (m *Model) GetType() string {
	typ, _ := components.GetType(m.inner)

	return typ
}

// IsCallbacksEnabled returns what the wrapped model says.
func (m *Model) IsCallbacksEnabled() bool { return components.IsCallbacksEnabled(m.inner) }

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
	if m.cfg.maxContinuations == 0 {
		return m.inner.Stream(ctx, in, opts...)
	}
	if isNested(ctx) {
		m.nested(ctx, in, opts)

		return m.inner.Stream(ctx, in, opts...)
	}
	c := newCall(ctx, m, in, opts)
	if err := c.open(); err != nil { //nolint:contextcheck // the call holds ctx: its later requests are made in Recv
		return nil, err
	}

	return newReader(c.next, c.closed), nil
}

// Generate asks the wrapped model for a whole answer. A request that failed is made again as often as [WithOpenRetries]
// allows; with [WithStreamingGenerate] the answer comes through the recovering stream.
func (m *Model) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	switch {
	case m.cfg.maxContinuations == 0:
		return m.inner.Generate(ctx, in, opts...)
	case isNested(ctx):
		m.nested(ctx, in, opts)

		return m.inner.Generate(ctx, in, opts...)
	case m.cfg.streamGenerate:
		r, err := m.Stream(ctx, in, opts...)
		if err != nil {
			return nil, err
		}

		return schema.ConcatMessageStream(r)
	default:
		return m.generate(ctx, in, opts)
	}
}

// baseRequest returns what the caller's input asks for: the input itself, unless a message that this decorator made must
// be mended or a cut off tool call be spoken of.
func (m *Model) baseRequest(in []*schema.Message, opts []model.Option) request {
	place := m.cfg.hint
	if m.learned.refusesHint.Load() {
		place = hintOff
	}
	messages, hinted := withHint(repairAll(in), place)

	return request{messages: messages, opts: opts, hinted: hinted, rewrite: rewriteUnchanged}
}

func (m *Model) refuseHint(ctx context.Context, e *emitter, err error) {
	m.learned.refusesHint.Store(true)
	e.emit(ctx, callbacks.Notice{
		Call: e.source(), Kind: callbacks.NoticeHintRefused, Message: callbacks.BoundMessage(err.Error()),
	})
}

// unknownName stands in events for a provider or model that does not say who it is.
const unknownName = "unknown"

// knownProfile returns the profile of the wrapped model's type, or that which its chunks have shown.
func (m *Model) knownProfile() *profile {
	if p := m.learned.profile.Load(); p != nil && !m.profile.known {
		return p
	}

	return m.profile
}

// provider returns the wrapped model's type as far as it is known.
func (m *Model) provider() string {
	if m.cfg.provider != "" {
		return m.cfg.provider
	}

	return m.GetType()
}

// modelName returns the model's name as far as it is known.
func (m *Model) modelName(opts []model.Option) string {
	if m.cfg.model != "" {
		return m.cfg.model
	}
	if o := model.GetCommonOptions(nil, opts...); o.Model != nil {
		return *o.Model
	}

	return ""
}

func (m *Model) newEmitter(ctx context.Context, in []*schema.Message, opts []model.Option) *emitter {
	provider, name := m.provider(), m.modelName(opts)
	if provider == "" {
		provider = unknownName
	}
	if name == "" {
		name = unknownName
	}

	return &emitter{
		handlers: m.cfg.handlers,
		of:       callbacks.Call{Provider: provider, Model: name, RunID: m.cfg.runID(ctx)},
		input:    in,
	}
}

func (m *Model) nested(ctx context.Context, in []*schema.Message, opts []model.Option) {
	if len(m.cfg.handlers) == 0 {
		return
	}
	e := m.newEmitter(ctx, in, opts)
	e.emit(ctx, callbacks.Notice{
		Call: e.source(), Kind: callbacks.NoticeNested,
		Message: "a decorator above this one recovers the stream; this one passes it through",
	})
}

// isNested reports whether ctx is that of an attempt of a decorator above.
func isNested(ctx context.Context) bool { return ctx.Value(recordKey{}) != nil }
