package places_test

import (
	"context"
	"testing"
	"time"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// patience bounds what must happen at once.
const patience = 20 * time.Second

// now is the back-off of tests that are not about time.
func now() continuation.Option {
	return continuation.WithBackoff(func(int) time.Duration { return 0 })
}

func hi() []*schema.Message { return []*schema.Message{schema.UserMessage("hi")} }

// firing is a model that tells of its runs itself, as the clients of eino-ext do.
type firing struct{ *fm.Model }

func (firing) IsCallbacksEnabled() bool { return true }

// WithTools returns a model that fires as well.
func (m firing) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	bound, err := m.Model.WithTools(tools)
	if err != nil {
		return nil, err
	}
	inner, ok := bound.(*fm.Model)
	if !ok {
		panic("no scripted model")
	}

	return firing{inner}, nil
}

func (m firing) begin(ctx context.Context, in []*schema.Message) context.Context {
	ctx = einocallbacks.EnsureRunInfo(ctx, m.GetType(), components.ComponentOfChatModel)

	return einocallbacks.OnStart(ctx, &model.CallbackInput{Messages: in})
}

func (m firing) Generate(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	ctx = m.begin(ctx, in)
	answer, err := m.Model.Generate(ctx, in, opts...)
	if err != nil {
		einocallbacks.OnError(ctx, err)

		return nil, err
	}
	einocallbacks.OnEnd(ctx, &model.CallbackOutput{Message: answer})

	return answer, nil
}

func (m firing) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	ctx = m.begin(ctx, in)
	r, err := m.Model.Stream(ctx, in, opts...)
	if err != nil {
		einocallbacks.OnError(ctx, err)

		return nil, err
	}
	_, r = einocallbacks.OnEndWithStreamOutput(ctx, r)

	return r, nil
}

// broken is a model whose first answer breaks, and its text.
func broken() *fm.Model {
	return fm.New(
		fm.Script{fm.Text("Hello "), fm.Reset()},
		fm.Script{fm.Text("world."), fm.FinishUsage("stop", 7, 3)},
	).TypeName("Acme")
}

// brokenRows is how the run of [broken] looks as a node of that name.
func brokenRows(node string) []string {
	node = "ChatModel/" + node

	return []string{
		node + `: "Hello world." end`,
		node + ` > ContinuationAttempt/attempt-0: "Hello " error: ` + fm.ResetError().Error(),
		node + ` > ContinuationEvent/llm_stream_interrupted: "" end`,
		node + ` > ContinuationEvent/llm_stream_continuation_started: "" end`,
		node + ` > ContinuationAttempt/attempt-1: "world." end`,
		node + ` > ContinuationEvent/llm_stream_joined: "" end`,
		node + ` > ContinuationEvent/llm_stream_continuation_completed: "" end`,
	}
}

// letGo waits until inner was let go of: every script over, every reader closed.
func letGo(t *testing.T, inner *fm.Model) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	err := inner.Wait(ctx, func(all []fm.Request) bool {
		for _, r := range all {
			if r.Running || r.Opened && !r.Closed {
				return false
			}
		}

		return true
	})
	require.NoError(t, err)
}

// text reads a stream to its end.
func text(t *testing.T, r *schema.StreamReader[*schema.Message]) string {
	t.Helper()
	chunks, err := fm.Collect(r)
	require.NoError(t, err)

	return fm.Concat(t, chunks).Content
}

func assertRequests(t *testing.T, inner *fm.Model, n int) {
	t.Helper()
	assert.Len(t, inner.Requests(), n)
}
