package continuation

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// NewMiddleware returns the decorator as a middleware of an agent, one line in its Handlers:
//
//	adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Model: chatModel, Handlers: []adk.ChatModelAgentMiddleware{m}})
//
// The agent's Runner shows one stream for each model call, however often the one below breaks. Continuation requests
// never enter the agent's state. A [callbacks.ToolCallCancel] and a [callbacks.StreamReset] also come as agent events, as
// Output.CustomizedOutput; an agent that is a tool of another one sends none, since Eino takes its last event for the
// tool's result.
//
// An agent that does not stream asks by Generate, and only requests that failed are made again: it gives a middleware no
// stream to ask for, so that [WithStreamingGenerate] has no effect here. It has one in a model that the agent is given.
//
// What is learned of a model is kept for the middleware's life, so each model should have a middleware of its own. Under
// the agent's wrappers the model cannot say who it is: see [WithIdentity]. It must not stand before (outside of) a
// handler made by adk.NewEventSenderModelWrapper: that would show each attempt as an answer of its own. If the model is
// decorated as well, only the middleware acts. What it returns is a [Drainer], too. The error names every option that is out of range.
func NewMiddleware(opts ...Option) (adk.ChatModelAgentMiddleware, error) {
	return NewTypedMiddleware[*schema.Message](opts...)
}

// NewTypedMiddleware is [NewMiddleware] for agents of either message type. The error also names options that do not hold
// for the message type, as that of [NewTyped] does.
func NewTypedMiddleware[M adk.MessageType](opts ...Option) (adk.TypedChatModelAgentMiddleware[M], error) {
	t, err := newTyped[M](nil, opts)
	if err != nil {
		return nil, err
	}
	cfg := t.engine.cfg
	if cfg.liveToolCalls {
		return nil, errLiveCalls
	}
	cfg.inAgent = true
	cfg.streamGenerate = false // an agent wires one side of the model, that of its call
	if cfg.checkpoints != nil {
		cfg.checkpoints.keep = true // until the run's next model call, or its end
	}

	return &middleware[M]{new(adk.TypedBaseChatModelAgentMiddleware[M]), t}, nil
}

// middleware decorates the model of an agent. An agent wraps its model anew for each call.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]

	over *Typed[M] // no model
}

// WrapModel is called by the agent.
func (w *middleware[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	return w.over.under(m), nil
}

// AfterAgent is called when the agent's run has ended well: what its model calls have left in the store is deleted. That
// the store fails is no failure of the run; an event tells of it.
func (w *middleware[M]) AfterAgent(ctx context.Context, _ *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	e := w.over.engine
	if e.cfg.checkpoints == nil {
		return ctx, nil
	}
	if err := commitRun(ctx, e.cfg.checkpoints.store); err != nil {
		to := e.newEmitter(ctx, w.over.asked(nil, nil), nil)
		to.emit(ctx, callbacks.CheckpointFailed{
			Call: to.source(), Operation: "delete", ErrorMessage: callbacks.BoundMessage(err.Error()),
		})
	}

	return ctx, nil
}

// under returns the same decorator over a model that an agent has wrapped. What is below it fires callbacks itself.
func (t *Typed[M]) under(inner model.BaseModel[M]) *Typed[M] {
	e := *t.engine
	u := &Typed[M]{inner: inner, engine: &e}
	e.speech, e.fires = u.speak(), true

	return u
}
