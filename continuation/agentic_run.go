package continuation

import (
	"context"

	"github.com/cloudwego/eino/adk"
	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

func (s agentic) component() components.Component { return components.ComponentOfAgenticModel }

// runInput is what callback handlers get of a request.
func (s agentic) runInput(r *request) einocallbacks.CallbackInput {
	o := model.GetCommonOptions(nil, r.opts...)
	in := &model.AgenticCallbackInput{Messages: r.agentic, Tools: o.Tools}
	if c := runConfig(o); c != nil {
		in.Config = &model.AgenticConfig{Model: c.Model, MaxTokens: c.MaxTokens, Temperature: c.Temperature, TopP: c.TopP}
	}

	return in
}

// runOutput is what callback handlers get of a chunk: a copy, since they and the consumer may write to theirs.
func (s agentic) runOutput(c chunk) einocallbacks.CallbackOutput {
	return s.runAnswer(copyAgentic(c.origin.of))
}

// runAnswer is what callback handlers get of a whole answer.
func (s agentic) runAnswer(answer any) einocallbacks.CallbackOutput {
	m, _ := answer.(*schema.AgenticMessage)
	out := &model.AgenticCallbackOutput{Message: m}
	if m != nil && m.ResponseMeta != nil {
		out.TokenUsage = runUsage(m.ResponseMeta.TokenUsage)
	}

	return out
}

func (s agentic) ending(answer any) (finish string, usage snapshot.Usage) {
	m, _ := answer.(*schema.AgenticMessage)
	if m == nil || m.ResponseMeta == nil {
		return "", usage
	}

	return agenticFinish(m.ResponseMeta), snapshot.UsageOf(m.ResponseMeta.TokenUsage)
}

// tellAgent sends e as an event of the agent. Nobody needs to know if there is none to send to any more.
func (s agentic) tellAgent(ctx context.Context, e callbacks.Event) {
	_ = adk.TypedSendEvent(ctx, &adk.TypedAgentEvent[*schema.AgenticMessage]{
		Output: &adk.TypedAgentOutput[*schema.AgenticMessage]{CustomizedOutput: e},
	})
}
