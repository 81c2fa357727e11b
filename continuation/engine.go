package continuation

import (
	"context"
	"hash"
	"slices"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/snapshot"
)

// engine is what a decorator is beside its message type.
type engine struct {
	speech  speech
	cfg     *config
	profile *profile
	learned *learned
	typ     string             // what the wrapped model's GetType says
	bound   []*schema.ToolInfo // by WithTools
	fires   bool               // the wrapped model tells callback handlers of its runs itself
}

// speech is all that depends on the message type: how a request is made of messages, and how it is asked.
type speech interface {
	// open asks the wrapped model. A nil source is a model that returned no reader.
	open(ctx context.Context, r *request) (source, error)
	// base returns asked with its messages mended, and with a hint of the calls that the last turn lost; asked itself if
	// there is nothing to do.
	base(asked *request, place hintPlace) *request
	// continued returns the request that carries the partial answer; base is not changed.
	continued(base request, s snapshot.Snapshot, d Dialect, p profile, prompt string) *request
	// thoughtless returns r without any reasoning in its answers, and whether there was some; r is not changed.
	thoughtless(r *request) (*request, bool)
	// recovered reports whether an answer in r bears a mark of this decorator.
	recovered(r *request) bool
	// profile returns what is known of the clients of a type.
	profile(typ string) profile
	// layout returns what gives the blocks of one call their places; nil if its messages have none.
	layout() *layout
	// answers returns how many messages of the request are answers.
	answers(r *request) int
	// component is the kind of model for callback handlers, the others are what they get of requests, chunks and
	// answers.
	component() components.Component
	runInput(r *request) einocallbacks.CallbackInput
	runOutput(c chunk) einocallbacks.CallbackOutput
	runAnswer(answer any) einocallbacks.CallbackOutput
	// ending returns what a whole answer says of its end.
	ending(answer any) (finish string, usage snapshot.Usage)
	// fingerprint writes what is asked. stored adds to cp, which is normalized behind it, what a checkpoint needs beside the
	// core's view of the answer. It returns about how many bytes that takes, and what is left to be done beside the stream;
	// nil if nothing. restored returns the chunks that a checkpoint holds.
	fingerprint(h hash.Hash, r *request)
	stored(c *carry, cp *checkpointstore.Checkpoint) (int, completion)
	restored(cp *checkpointstore.Checkpoint) []chunk
	// tellAgent sends an event of the agent whose model is called.
	tellAgent(ctx context.Context, e callbacks.Event)
}

// unknownName stands in events for a provider or model that does not say who it is.
const unknownName = "unknown"

// newEngine returns the engine of a decorator of inner.
func newEngine(s speech, cfg *config, inner any) *engine {
	typ, _ := components.GetType(inner)
	e := &engine{speech: s, cfg: cfg, learned: new(learned), typ: typ, fires: components.IsCallbacksEnabled(inner)}
	p := s.profile(e.provider())
	e.profile = &p

	return e
}

// baseRequest returns what the caller asks for: as it is, unless a message that this decorator made must be mended or a
// cut off tool call be spoken of.
func (e *engine) baseRequest(asked *request) *request {
	place := e.cfg.hint
	if e.learned.refusesHint.Load() {
		place = hintOff
	}

	return e.speech.base(asked, place)
}

func (e *engine) refuseHint(ctx context.Context, to *emitter, err error) {
	e.learned.refusesHint.Store(true)
	to.emit(ctx, callbacks.Notice{
		Call: to.source(), Kind: callbacks.NoticeHintRefused, Message: callbacks.BoundMessage(err.Error()),
	})
}

// knownProfile returns the profile of the wrapped model's type, or that which its chunks have shown.
func (e *engine) knownProfile() *profile {
	if p := e.learned.profile.Load(); p != nil && !e.profile.known {
		return p
	}

	return e.profile
}

// provider returns the wrapped model's type as far as it is known.
func (e *engine) provider() string {
	if e.cfg.provider != "" {
		return e.cfg.provider
	}

	return e.typ
}

// modelName returns the model's name as far as it is known.
func (e *engine) modelName(opts []model.Option) string {
	if e.cfg.model != "" {
		return e.cfg.model
	}
	if o := model.GetCommonOptions(nil, opts...); o.Model != nil {
		return *o.Model
	}

	return ""
}

// newEmitter returns the emitter of a call; told is its run for Eino's handlers, if there are any.
func (e *engine) newEmitter(ctx context.Context, asked *request, told *run) *emitter {
	handlers := e.cfg.handlers
	if told != nil {
		handlers = append(slices.Clip(handlers), told.events(e))
	}
	if h := agentEvents(ctx, e.speech); h != nil {
		handlers = append(slices.Clip(handlers), h)
	}

	provider, name := e.provider(), e.modelName(asked.opts)
	if provider == "" {
		provider = unknownName
	}
	if name == "" {
		name = unknownName
	}

	return &emitter{
		handlers: handlers,
		of:       callbacks.Call{Provider: provider, Model: name, RunID: e.cfg.runID(ctx)},
		engine:   e, asked: asked,
	}
}

// passes reports whether a call goes to the wrapped model as it is.
func (e *engine) passes(ctx context.Context, asked *request) bool {
	if e.cfg.maxContinuations == 0 {
		return true
	}
	if !isNested(ctx) {
		return false
	}
	if len(e.cfg.handlers) > 0 {
		to := e.newEmitter(ctx, asked, nil)
		to.emit(ctx, callbacks.Notice{
			Call: to.source(), Kind: callbacks.NoticeNested,
			Message: "a decorator above this one recovers the stream; this one passes it through",
		})
	}

	return true
}

// isNested reports whether ctx is that of an attempt of a decorator above.
func isNested(ctx context.Context) bool { return ctx.Value(recordKey{}) != nil }
