package continuation

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/eino-carryon/carryon/callbacks"
)

// NotExhausted is an IsRetryAble for the adk.ModelRetryConfig of an agent whose model is decorated. Without it Eino's
// retry would ask again from the start for an answer that was continued as often as the budget allows, and the user
// would see the text a second time; and it would ask again for what is refused for good. It reports whether err is an
// error that asking again may help against: ctx has not ended, and err is neither one of this package's ([ExhaustedError],
// [TakenOverError], [BufferError], [PanicError]) nor permanent to [DefaultClassifier].
func NotExhausted(ctx context.Context, err error) bool {
	taken, buffer, panicked := (*TakenOverError)(nil), (*BufferError)(nil), (*PanicError)(nil)
	ours := errors.Is(err, ErrExhausted) || errors.As(err, &taken) || errors.As(err, &buffer) || errors.As(err, &panicked)

	return err != nil && ctx.Err() == nil && !ours && !DefaultClassifier(err).Permanent()
}

// errLiveCalls says where half a tool call would be run.
var errLiveCalls = errors.New("continuation: WithLiveToolCalls: a graph or an agent needs whole tool calls")

// agentEvents returns a handler that shows what a user interface must act on as events of the agent whose model is
// called; nil if ctx is not of such a call.
func agentEvents(ctx context.Context, s speech) callbacks.Handler {
	if !inAgent(ctx) {
		return nil
	}

	return callbacks.HandlerFunc(func(ctx context.Context, e callbacks.Event) {
		switch e.(type) {
		case callbacks.ToolCallCancel, callbacks.StreamReset:
			s.tellAgent(ctx, e)
		}
	})
}

// inAgent reports whether ctx is that of an agent's own model, and the agent's events are for a user to see. Those of an
// agent that is a tool are not: Eino takes the last event of such an agent for the tool's result, and ours would come
// behind the message.
func inAgent(ctx context.Context) bool {
	in := false
	for _, segment := range compose.GetCurrentAddress(ctx) {
		switch segment.Type {
		case adk.AddressSegmentAgent:
			in = true
		case compose.AddressSegmentTool:
			return false
		}
	}

	return in
}

// tellAgent sends e as an event of the agent. Nobody needs to know if there is none to send to any more.
func (s messages) tellAgent(ctx context.Context, e callbacks.Event) {
	_ = adk.SendEvent(ctx, &adk.AgentEvent{Output: &adk.AgentOutput{CustomizedOutput: e}})
}
