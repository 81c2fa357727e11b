package continuation

import (
	"context"
	"fmt"
	"runtime/debug"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
)

// Eino's callback handlers see one run for the call, as they would of the wrapped model. Nested in it are the attempts
// and the events, under component kinds of their own, so that what adds up ChatModel runs counts the call once.
const (
	// ComponentOfAttempt is the component of one attempt's run. Its name is "attempt-0" for the original request, then
	// "attempt-1" and so on; its input and output are those of a chat model: model.ConvCallbackInput reads them.
	ComponentOfAttempt components.Component = "ContinuationAttempt"
	// ComponentOfEvent is the component of an event. Its name is the event's; its input and output are a
	// [CallbackInput] and a [CallbackOutput]. The run begins and ends at once.
	ComponentOfEvent components.Component = "ContinuationEvent"
)

// CallbackInput is what Eino's callback handlers get at the start of a run of [ComponentOfEvent].
type CallbackInput struct{ Event callbacks.Event }

// CallbackOutput is what Eino's callback handlers get at the end of a run of [ComponentOfEvent].
type CallbackOutput struct{ Event callbacks.Event }

// ConvCallbackInput returns in as the input of an event's run; nil if it is of another component.
func ConvCallbackInput(in einocallbacks.CallbackInput) *CallbackInput {
	c, _ := in.(*CallbackInput)

	return c
}

// ConvCallbackOutput returns out as the output of an event's run; nil if it is of another component.
func ConvCallbackOutput(out einocallbacks.CallbackOutput) *CallbackOutput {
	c, _ := out.(*CallbackOutput)

	return c
}

// run is a call, or an attempt of it, as Eino's callback handlers see it. A nil run is one that nobody sees.
type run struct {
	ctx context.Context //nolint:containedctx // handlers pass state from the start of a run to its end in it
	tee *tee[einocallbacks.CallbackOutput]
}

// beginRun tells the handlers in ctx, if there are any, that a run begins, and returns the context for what is inside it.
func beginRun(ctx context.Context, e *engine, r *request) (context.Context, *run) {
	ensured := einocallbacks.EnsureRunInfo(ctx, e.typ, e.speech.component())
	started := einocallbacks.OnStart[einocallbacks.CallbackInput](ensured, e.speech.runInput(r))
	if started == ensured { // Eino returns what it was given if there are no handlers
		return ctx, nil
	}

	return started, &run{ctx: started}
}

// streams says that the run has a stream; what is pushed into it from now on reaches the handlers.
func (r *run) streams() {
	if r == nil {
		return
	}
	t, reader := newTee[einocallbacks.CallbackOutput]()
	r.tee = t
	_, ours := einocallbacks.OnEndWithStreamOutput(r.ctx, reader)
	ours.Close()
}

// push hands the handlers what the consumer gets.
func (r *run) push(e *engine, c chunk) {
	if r != nil {
		r.tee.push(e.speech.runOutput(c))
	}
}

// end ends the stream for the handlers; io.EOF is a clean end.
func (r *run) end(err error) {
	if r != nil {
		r.tee.end(err)
	}
}

// failed says that there is no stream, or no answer.
func (r *run) failed(err error) {
	if r != nil {
		einocallbacks.OnError(r.ctx, err)
	}
}

// attempt returns the context of the n-th attempt's run, which the wrapped model begins if it fires callbacks itself.
func (r *run) attempt(ctx context.Context, e *engine, n int) context.Context {
	if r == nil {
		return ctx
	}

	return einocallbacks.ReuseHandlers(ctx, &einocallbacks.RunInfo{
		Name: fmt.Sprintf("attempt-%d", n), Type: e.runType(), Component: ComponentOfAttempt,
	})
}

// panicked is deferred: a run that a panic goes through ends with it.
func (r *run) panicked() {
	if p := recover(); p != nil {
		r.failed(&PanicError{Value: p, Stack: debug.Stack()})
		panic(p)
	}
}

// answered says that the run has brought a whole answer.
func (r *run) answered(e *engine, answer any) {
	if r != nil {
		einocallbacks.OnEnd(r.ctx, e.speech.runAnswer(answer))
	}
}

// runType returns the wrapped model's type as far as it is known.
func (e *engine) runType() string {
	if p := e.provider(); p != "" {
		return p
	}

	return e.knownProfile().typ
}

// events returns a handler that shows the events to Eino's handlers. That the call has ended they see of its run.
func (r *run) events(e *engine) callbacks.Handler {
	return callbacks.HandlerFunc(func(ctx context.Context, ev callbacks.Event) {
		if _, last := ev.(callbacks.Ended); last {
			return
		}
		ctx = einocallbacks.ReuseHandlers(ctx, &einocallbacks.RunInfo{Name: ev.Name(), Type: e.runType(), Component: ComponentOfEvent})
		ctx = einocallbacks.OnStart(ctx, &CallbackInput{Event: ev})
		einocallbacks.OnEnd(ctx, &CallbackOutput{Event: ev})
	})
}

// seen is a stream whose chunks go to a run as well.
type seen struct {
	source
	engine *engine
	run    *run
}

func (s seen) Recv() (chunk, error) {
	c, err := s.source.Recv()
	if err != nil {
		s.run.end(err)
	} else if c.Message != nil {
		s.run.push(s.engine, c)
	}

	return c, err
}

func (s seen) Close() {
	s.run.end(errLeft)
	s.source.Close()
}

// telling asks for a whole answer and tells of the run.
func telling[M any](ctx context.Context, e *engine, r *request, ask func(context.Context) (M, error)) (M, error) {
	ctx, own := beginRun(ctx, e, r)
	defer own.panicked()
	answer, err := ask(ctx)
	if err != nil {
		own.failed(err)
	} else {
		own.answered(e, answer)
	}

	return answer, err
}

// passAnswer hands a call to the wrapped model as it is. If that fires no callbacks, its run is told of here.
func passAnswer[M any](ctx context.Context, e *engine, r *request, ask func(context.Context) (M, error)) (M, error) {
	if e.fires {
		return ask(ctx)
	}

	return telling(ctx, e, r, ask)
}

// passStream is passAnswer for a stream.
func passStream[M any](
	ctx context.Context, e *engine, r *request, ask func(context.Context) (*schema.StreamReader[M], error),
) (*schema.StreamReader[M], error) {
	if e.fires {
		return ask(ctx)
	}
	ctx, own := beginRun(ctx, e, r)
	reader, err := ask(ctx)
	switch {
	case own == nil:
	case err != nil:
		own.failed(err)
	case reader != nil:
		_, reader = einocallbacks.OnEndWithStreamOutput(own.ctx, reader)
	}

	return reader, err
}

// opener returns what asks the wrapped model. If that fires no callbacks itself, the attempt's run is told of here.
func (e *engine) opener(r *request, told *run) opener {
	if told == nil || e.fires {
		return func(ctx context.Context) (source, error) { return e.speech.open(ctx, r) }
	}

	return func(ctx context.Context) (source, error) { return e.openTold(ctx, r) }
}

func (e *engine) openTold(ctx context.Context, r *request) (source, error) {
	ctx, own := beginRun(ctx, e, r)
	src, err := e.speech.open(ctx, r)
	if err == nil && src == nil {
		err = errNilReader
	}
	if err != nil {
		own.failed(err)

		return nil, err
	}
	ok := false
	defer func() {
		if !ok { // a callback handler panicked
			src.Close()
		}
	}()
	own.streams()
	ok = true

	return seen{src, e, own}, nil
}
