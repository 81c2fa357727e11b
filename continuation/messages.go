package continuation

import (
	"context"
	"maps"
	"slices"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
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
	if err == nil {
		c.run.push(c.engine, m)
	}

	return m.Message, err
}

func (s messages) component() components.Component { return components.ComponentOfChatModel }

// runInput is what callback handlers get of a request.
func (s messages) runInput(r *request) einocallbacks.CallbackInput {
	o := model.GetCommonOptions(nil, r.opts...)

	return &model.CallbackInput{Messages: r.messages, Tools: o.Tools, ToolChoice: o.ToolChoice, Config: runConfig(o)}
}

// runOutput is what callback handlers get of a chunk: a copy, since they and the consumer may write to theirs.
func (s messages) runOutput(c chunk) einocallbacks.CallbackOutput {
	return s.runAnswer(copyMessage(c.Message))
}

// runAnswer is what callback handlers get of a whole answer.
func (s messages) runAnswer(answer any) einocallbacks.CallbackOutput {
	m, _ := answer.(*schema.Message)
	out := &model.CallbackOutput{Message: m}
	if m != nil && m.ResponseMeta != nil {
		out.TokenUsage = runUsage(m.ResponseMeta.Usage)
	}

	return out
}

func (s messages) ending(answer any) (finish string, usage snapshot.Usage) {
	m, _ := answer.(*schema.Message)
	if m == nil || m.ResponseMeta == nil {
		return "", usage
	}

	return snapshot.FinishReason(m), snapshot.UsageOf(m.ResponseMeta.Usage)
}

// runConfig is what callback handlers get of a request's options; nil if they say nothing.
func runConfig(o *model.Options) *model.Config {
	c := model.Config{Stop: o.Stop}
	if o.Model != nil {
		c.Model = *o.Model
	}
	if o.MaxTokens != nil {
		c.MaxTokens = *o.MaxTokens
	}
	if o.Temperature != nil {
		c.Temperature = *o.Temperature
	}
	if o.TopP != nil {
		c.TopP = *o.TopP
	}
	if c.Model == "" && c.MaxTokens == 0 && c.Temperature == 0 && c.TopP == 0 && c.Stop == nil {
		return nil
	}

	return &c
}

// runUsage is what callback handlers get of a provider's record.
func runUsage(u *schema.TokenUsage) *model.TokenUsage {
	if u == nil {
		return nil
	}

	return &model.TokenUsage{
		PromptTokens:            u.PromptTokens,
		PromptTokenDetails:      model.PromptTokenDetails(u.PromptTokenDetails),
		CompletionTokens:        u.CompletionTokens,
		TotalTokens:             u.TotalTokens,
		CompletionTokensDetails: model.CompletionTokensDetails(u.CompletionTokensDetails),
	}
}

// stored adds in which parts the text came.
func (s messages) stored(c *carry, cp *checkpointstore.Checkpoint) (int, completion) {
	return c.parts.store(cp), nil
}

// restored returns what a checkpoint holds as a client would have sent it.
func (s messages) restored(cp *checkpointstore.Checkpoint) []chunk {
	var chunks []chunk
	extra := maps.Clone(cp.Extra)
	maps.DeleteFunc(extra, func(key string, _ any) bool { return isPart(key) })
	if cp.Reasoning != "" || len(extra) > 0 {
		chunks = append(chunks, made(&schema.Message{Role: schema.Assistant, ReasoningContent: cp.Reasoning, Extra: extra}))
	}
	if cp.Text != "" {
		chunks = append(chunks, made(&schema.Message{Role: schema.Assistant, Content: cp.Text, AssistantGenMultiContent: partsOf(cp)}))
	}
	if calls := restoredCalls(cp); len(calls) > 0 {
		chunks = append(chunks, made(&schema.Message{Role: schema.Assistant, ToolCalls: calls}))
	}

	return chunks
}

// restoredCalls returns the calls of a checkpoint, the open one last.
func restoredCalls(cp *checkpointstore.Checkpoint) []schema.ToolCall {
	all := cp.ToolCalls
	if cp.OpenToolCall != nil {
		all = append(slices.Clip(all), *cp.OpenToolCall)
	}
	calls := make([]schema.ToolCall, len(all))
	for i, t := range all {
		index := t.Index
		calls[i] = schema.ToolCall{
			Index: &index, ID: t.ID, Type: t.Type, Extra: t.Extra,
			Function: schema.FunctionCall{Name: t.Name, Arguments: t.Arguments},
		}
	}

	return calls
}
