package continuation

import (
	"context"
	"errors"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"

	"github.com/eino-carryon/carryon/callbacks"
)

// NotExhausted is an IsRetryAble for the adk.ModelRetryConfig of an agent whose model is decorated. Without it Eino's
// retry would ask again from the start for an answer that was continued as often as the budget allows, and the user
// would see the text a second time. It reports whether err is an error, and no [ExhaustedError].
func NotExhausted(_ context.Context, err error) bool {
	return err != nil && !errors.Is(err, ErrExhausted)
}

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

// inAgent reports whether ctx is that of an agent's own model, and not of one that a tool of it calls.
func inAgent(ctx context.Context) bool {
	for _, segment := range slices.Backward(compose.GetCurrentAddress(ctx)) {
		switch segment.Type {
		case adk.AddressSegmentAgent:
			return true
		case compose.AddressSegmentTool:
			return false
		}
	}

	return false
}

// tellAgent sends e as an event of the agent. Nobody needs to know if there is none to send to any more.
func (s messages) tellAgent(ctx context.Context, e callbacks.Event) {
	_ = adk.SendEvent(ctx, &adk.AgentEvent{Output: &adk.AgentOutput{CustomizedOutput: e}})
}
