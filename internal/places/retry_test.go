package places_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func retryAtOnce(context.Context, int) time.Duration { return 0 }

// retries are the forms of Eino's own retry that leave an exhausted call alone.
func retries() map[string]*adk.ModelRetryConfig {
	return map[string]*adk.ModelRetryConfig{
		"IsRetryAble": {MaxRetries: 3, BackoffFunc: retryAtOnce, IsRetryAble: continuation.NotExhausted},
		"ShouldRetry": {MaxRetries: 3, BackoffFunc: retryAtOnce, ShouldRetry: func(ctx context.Context, c *adk.RetryContext) *adk.RetryDecision {
			return &adk.RetryDecision{Retry: continuation.NotExhausted(ctx, c.Err)}
		}},
	}
}

// TestRetryLeavesExhaustedCallsAlone: the user sees the text once, and the error with what came of it.
func TestRetryLeavesExhaustedCallsAlone(t *testing.T) {
	t.Parallel()
	for name, retry := range retries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				inner := fm.New(
					fm.Script{fm.Text("Hello "), fm.Reset()},
					fm.Script{fm.Text("wor"), fm.Reset()},
					fm.Script{fm.Text("never asked for"), fm.Finish("stop")},
				)
				cfg := &adk.ChatModelAgentConfig{ModelRetryConfig: retry}
				decorate(cfg, inner, continuation.WithMaxContinuations(1))
				all := run1(t, newAgent(t, cfg))
				assertRequests(t, inner, 2)
				require.Len(t, all, 2)
				assert.Equal(t, "Hello wor", all[0].message.Content)
				for _, s := range all { // the stream's, and the run's
					var exhausted *continuation.ExhaustedError
					require.ErrorAs(t, s.err, &exhausted)
					assert.Equal(t, "Hello wor", exhausted.Partial.Content)
					var again *adk.WillRetryError
					assert.NotErrorAs(t, s.err, &again)
				}
				letGo(t, inner)
			})
		})
	}
}

// TestRetryDoesNotSeeWhatWasRecovered, but asks again for what could not be opened.
func TestRetryDoesNotSeeWhatWasRecovered(t *testing.T) {
	t.Parallel()
	for name, retry := range retries() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyAgent(t, func(t *testing.T, decorate decorator) {
				t.Helper()
				inner := fm.New(
					fm.Script{fm.OpenFail(errors.New("out of the blue"))},
					fm.Script{fm.Text("Hello "), fm.Reset()},
					fm.Script{fm.Text("world."), fm.Finish("stop")},
				)
				cfg := &adk.ChatModelAgentConfig{ModelRetryConfig: retry}
				decorate(cfg, inner)
				all := run1(t, newAgent(t, cfg))
				require.Len(t, all, 1)
				require.NoError(t, all[0].err)
				assert.Equal(t, "Hello world.", all[0].message.Content)
				assert.Len(t, all[0].message.Extra[idKey], 36)
				assertRequests(t, inner, 3)
				letGo(t, inner)
			})
		})
	}
}

// TestRetryWithoutNotExhausted shows what NotExhausted is for.
func TestRetryWithoutNotExhausted(t *testing.T) {
	t.Parallel()
	inner := fm.New(
		fm.Script{fm.Text("Hello "), fm.Reset()},
		fm.Script{fm.Text("Hello world."), fm.Finish("stop")},
	)
	cfg := &adk.ChatModelAgentConfig{
		Name: "agent", Model: continuation.Wrap(inner, now(), continuation.WithMaxContinuations(1), continuation.WithMaxElapsed(time.Nanosecond)),
		ModelRetryConfig: &adk.ModelRetryConfig{MaxRetries: 1, BackoffFunc: retryAtOnce},
	}
	all := run1(t, newAgent(t, cfg))
	require.Len(t, all, 2)
	var again *adk.WillRetryError
	require.ErrorAs(t, all[0].err, &again)
	require.ErrorIs(t, all[0].err, continuation.ErrExhausted)
	assert.Equal(t, "Hello ", all[0].message.Content)
	assert.Equal(t, "Hello world.", all[1].message.Content, "from the start, in an event of its own")
}

// failover asks second when first fails.
func failover(first, second model.BaseChatModel) *adk.ModelFailoverConfig[*schema.Message] {
	return &adk.ModelFailoverConfig[*schema.Message]{
		MaxRetries:     2,
		ShouldFailover: func(_ context.Context, _ *schema.Message, err error) bool { return err != nil },
		GetFailoverModel: func(_ context.Context, c *adk.FailoverContext[*schema.Message]) (model.BaseChatModel, []*schema.Message, error) {
			if c.FailoverAttempt == 1 {
				return first, nil, nil
			}

			return second, nil, nil
		},
	}
}

// TestFailover: another model is asked only for what one could not bring to its end; and what the first attempt left
// behind does not keep the agent from storing its checkpoint.
func TestFailover(t *testing.T) {
	t.Parallel()
	for place, decorate := range map[string]func(cfg *adk.ChatModelAgentConfig, first, second *fm.Model){
		"Model": func(cfg *adk.ChatModelAgentConfig, first, second *fm.Model) {
			one := func(m *fm.Model) model.BaseChatModel {
				return continuation.Wrap(m, now(), continuation.WithMaxContinuations(1))
			}
			cfg.ModelFailoverConfig, cfg.Model = failover(one(first), one(second)), one(first)
		},
		"middleware": func(cfg *adk.ChatModelAgentConfig, first, second *fm.Model) {
			m, err := continuation.NewMiddleware(now(), continuation.WithMaxContinuations(1))
			if err != nil {
				panic(err)
			}
			cfg.ModelFailoverConfig, cfg.Model = failover(first, second), first
			cfg.Handlers = append(cfg.Handlers, m)
		},
	} {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			first := fm.New(
				fm.Script{fm.Text("Hello "), fm.Reset()},
				fm.Script{fm.Text("wor"), fm.Reset()},
			)
			second := fm.New(
				fm.Script{fm.Text("Good "), fm.Reset()},
				fm.Script{fm.Text("day."), fm.Call(0, "c1", "ask", `{"what":"it"}`), fm.Finish("tool_calls")},
				fm.Script{fm.Text("Do"), fm.Reset()},
				fm.Script{fm.Text("ne."), fm.Finish("stop")},
			)
			w, s, seen := &worker{}, &store{}, &tree{}
			cfg := &adk.ChatModelAgentConfig{Name: "agent"}
			cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, w.approval(t))
			decorate(cfg, first, second)
			runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: true, CheckPointStore: s})
			all := read(t, runner.Query(t.Context(), "hi", adk.WithCheckPointID("1"), adk.WithCallbacks(seen.handler())))
			require.Len(t, all, 3)
			assert.Equal(t, "Hello wor", all[0].message.Content)
			require.ErrorIs(t, all[0].err, continuation.ErrExhausted)
			require.NoError(t, all[1].err)
			assert.Equal(t, "Good day.", all[1].message.Content)
			assert.Equal(t, "user", roles(second.Requests()[0].Messages), "from the start")
			require.NoError(t, all[2].err)
			require.NotNil(t, all[2].action.Interrupted)
			for _, row := range seen.ours(t) {
				assert.NotContains(t, row, "nil")
			}

			events, err := runner.Resume(t.Context(), "1")
			require.NoError(t, err)
			said := answers(t, read(t, events))
			require.Len(t, said, 1)
			assert.Equal(t, "Done.", said[0].Content)
			assert.Equal(t, []string{"ask it"}, w.did())
			letGo(t, first)
			letGo(t, second)
		})
	}
}

// lenient is an agent that goes on when its model could not.
type lenient struct{ adk.Agent }

func (l lenient) Run(ctx context.Context, in *adk.AgentInput, opts ...adk.AgentRunOption) *adk.AsyncIterator[*adk.AgentEvent] {
	from := l.Agent.Run(ctx, in, opts...)
	events, to := adk.NewAsyncIteratorPair[*adk.AgentEvent]()
	go func() {
		defer to.Close()
		for {
			e, ok := from.Next()
			if !ok {
				return
			}
			if e.Err == nil {
				to.Send(e)
			}
		}
	}()

	return events
}

// TestCheckpointHoldsWhatEndedAStream: an agent beside one that was given up is interrupted, and the checkpoint holds the
// events of both, with the error that ended a stream.
func TestCheckpointHoldsWhatEndedAStream(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		left := &adk.ChatModelAgentConfig{Name: "left", Description: "left"}
		decorate(left, fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}), continuation.WithMaxContinuations(1), continuation.WithMaxElapsed(time.Nanosecond))
		w, s := &worker{}, &store{}
		right := &adk.ChatModelAgentConfig{Name: "right", Description: "right"}
		right.ToolsConfig.Tools = append(right.ToolsConfig.Tools, w.approval(t))
		inner := fm.New(
			fm.Script{fm.Call(0, "c1", "ask", `{"what":"it"}`), fm.Finish("tool_calls")},
			fm.Script{fm.Text("Done."), fm.Finish("stop")},
		)
		decorate(right, inner)
		agent, err := adk.NewParallelAgent(t.Context(), &adk.ParallelAgentConfig{
			Name: "both", SubAgents: []adk.Agent{lenient{newAgent(t, left)}, newAgent(t, right)},
		})
		require.NoError(t, err)
		runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true, CheckPointStore: s})
		all := read(t, runner.Query(t.Context(), "hi", adk.WithCheckPointID("1")))
		ended := 0
		for _, e := range all {
			if e.err != nil {
				require.ErrorIs(t, e.err, continuation.ErrExhausted)
				ended++
			}
		}
		assert.Equal(t, 1, ended)
		require.Len(t, s.all, 1, "there is a checkpoint")
		events, err := runner.Resume(t.Context(), "1")
		require.NoError(t, err)
		texts := said(t, read(t, events))
		assert.Equal(t, "right assistant: Done.", texts[len(texts)-1])
		assert.Equal(t, []string{"ask it"}, w.did())
	})
}
