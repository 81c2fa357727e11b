package continuation

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

// MessageType is what Eino's models speak.
type MessageType interface {
	*schema.Message | *schema.AgenticMessage
}

// Typed decorates a model of either message type as [Model] decorates one of *schema.Message: a stream that breaks is
// continued, and the consumer sees one. It keeps no state of a call beyond it, and is safe for concurrent use if the
// wrapped model is.
type Typed[M MessageType] struct {
	inner  model.BaseModel[M]
	engine *engine
	next   func(*call) (M, error)
	asked  func([]M, []model.Option) *request
	input  func(*request) []M
	concat func(*schema.StreamReader[M]) (M, error)
}

var (
	_ model.BaseChatModel = (*Typed[*schema.Message])(nil)
	_ model.AgenticModel  = (*Typed[*schema.AgenticMessage])(nil)
	_ components.Typer    = (*Typed[*schema.AgenticMessage])(nil)
	_ components.Checker  = (*Typed[*schema.AgenticMessage])(nil)
)

// NewTyped returns inner with recovering streams. The error names every option that is out of range, or that does not
// hold for the message type: [PrefillWith] with a mark is for *schema.Message only. Tools are options of a call; for
// WithTools use [New].
func NewTyped[M MessageType](inner model.BaseModel[M], opts ...Option) (*Typed[M], error) {
	t, err := newTyped(inner, opts)
	if inner == nil {
		err = errors.Join(errNoModel, err)
	}
	if err != nil {
		return nil, err
	}

	return t, nil
}

// newTyped is NewTyped, but for the model, which may be missing yet.
func newTyped[M MessageType](inner model.BaseModel[M], opts []Option) (*Typed[M], error) {
	cfg, err := newConfig(opts)
	t := &Typed[M]{inner: inner}
	s := t.speak()
	if _, ok := s.(agentic); ok {
		err = errors.Join(err, cfg.checkAgentic())
	}
	t.engine = newEngine(s, cfg, inner)

	return t, err
}

// speak sets what depends on the message type, and returns the rest of it.
func (t *Typed[M]) speak() speech {
	switch t := any(t).(type) {
	case *Typed[*schema.Message]:
		t.next, t.asked = (*call).nextMessage, callerRequest
		t.input = func(r *request) []*schema.Message { return r.messages }
		t.concat = schema.ConcatMessageStream

		return messages{t.inner}
	case *Typed[*schema.AgenticMessage]:
		t.next, t.asked = (*call).nextAgentic, agenticRequest
		t.input = func(r *request) []*schema.AgenticMessage { return r.agentic }
		t.concat = concatAgenticStream

		return agentic{t.inner}
	default:
		panic(fmt.Sprintf("continuation: %T is no decorator of this package", t))
	}
}

// checkAgentic returns what of the options cannot hold for agentic messages.
func (c *config) checkAgentic() error {
	if c.dialect.mark != nil {
		return errors.New("continuation: WithDialect: the mark of PrefillWith takes a *schema.Message; " +
			"for *schema.AgenticMessage use Prefill, or PrefillWith(nil, options)")
	}

	if c.liveToolCalls {
		return errors.New("continuation: WithLiveToolCalls: not for *schema.AgenticMessage")
	}

	return nil
}

// Commit deletes the finished answers of the run that ctx names; see [Model.Commit].
func (t *Typed[M]) Commit(ctx context.Context) error { return t.engine.commit(ctx) }

// GetType returns the wrapped model's type; empty if it has none.
func (t *Typed[M]) GetType() string { return t.engine.typ }

// IsCallbacksEnabled says that the decorator tells callback handlers of its runs itself, whatever the wrapped model does.
func (t *Typed[M]) IsCallbacksEnabled() bool { return true }

// Stream asks the wrapped model and returns a reader of one answer, however often the stream below breaks. See
// [Model.Stream]: all that is said there holds here. The chunks of a recovered answer concatenate to one message, as
// schema.ConcatMessages or schema.ConcatAgenticMessages makes it.
func (t *Typed[M]) Stream(ctx context.Context, in []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	asked := t.asked(in, opts)
	if t.engine.passes(ctx, asked) {
		return passStream(ctx, t.engine, asked, func(ctx context.Context) (*schema.StreamReader[M], error) {
			return t.inner.Stream(ctx, in, opts...)
		})
	}
	if t.engine.cfg.liveToolCalls && len(compose.GetCurrentAddress(ctx)) > 0 {
		return nil, errLiveCalls
	}
	c := newCall(ctx, t.engine, asked)
	if err := c.open(); err != nil { //nolint:contextcheck // the call holds ctx: its later requests are made in Recv
		return nil, err
	}

	return newReader(func() (M, error) { return t.next(c) }, c.closed), nil
}

// Generate asks the wrapped model for a whole answer. A request that failed is made again as often as [WithOpenRetries]
// allows; with [WithStreamingGenerate] the answer comes through the recovering stream.
func (t *Typed[M]) Generate(ctx context.Context, in []M, opts ...model.Option) (M, error) {
	asked := t.asked(in, opts)
	switch {
	case t.engine.passes(ctx, asked):
		return passAnswer(ctx, t.engine, asked, func(ctx context.Context) (M, error) {
			return t.inner.Generate(ctx, in, opts...)
		})
	case t.engine.cfg.streamGenerate:
		r, err := t.Stream(ctx, in, opts...)
		if err != nil {
			var none M

			return none, err
		}

		return t.concat(r)
	default:
		return generate(ctx, t.engine, asked, func(ctx context.Context, r *request) (M, error) {
			return t.inner.Generate(ctx, t.input(r), r.opts...)
		})
	}
}
