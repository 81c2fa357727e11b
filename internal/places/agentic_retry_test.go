package places_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

type agenticRetry = adk.TypedModelRetryConfig[*schema.AgenticMessage]

// agenticRetries are the forms of Eino's own retry that leave an exhausted call alone, and one that does not.
func agenticRetries() (alone map[string]*agenticRetry, again *agenticRetry) {
	return map[string]*agenticRetry{
		"IsRetryAble": {MaxRetries: 3, BackoffFunc: retryAtOnce, IsRetryAble: continuation.NotExhausted},
		"ShouldRetry": {
			MaxRetries: 3, BackoffFunc: retryAtOnce,
			ShouldRetry: func(ctx context.Context, c *adk.TypedRetryContext[*schema.AgenticMessage]) *adk.TypedRetryDecision[*schema.AgenticMessage] {
				return &adk.TypedRetryDecision[*schema.AgenticMessage]{Retry: continuation.NotExhausted(ctx, c.Err)}
			},
		},
	}, &agenticRetry{MaxRetries: 1, BackoffFunc: retryAtOnce}
}

// exhausted is a model that breaks more often than it is continued, and would answer after that.
func exhausted() fm.AgenticModel {
	return fm.NewAgentic(
		fm.Script{fm.BlockText(0, "Hello "), fm.Reset()},
		fm.Script{fm.BlockText(0, "wor"), fm.Reset()},
		fm.Script{fm.BlockText(0, "Hello world."), fm.StopReason("end_turn", 5, 5)},
	)
}

// playAgentic runs an agent whose model is decorated in that place.
func playAgentic(t *testing.T, place string, cfg *agenticConfig, inner fm.AgenticModel, opts ...continuation.Option) []heard {
	t.Helper()
	l := agenticTongue()
	cfg.Name, cfg.Description = "agent", "an agent"
	agent := l.agent(t, place, cfg, inner.Model, opts...)

	return l.hear(t, adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent, EnableStreaming: true}).Query(t.Context(), "hi"))
}

// TestAgenticRetry: Eino's retry around a decorated model of blocks does not see what was recovered, asks again for what
// could not be opened, and leaves alone what was given up, but only if it is told to.
func TestAgenticRetry(t *testing.T) {
	t.Parallel()
	retries, again := agenticRetries()
	for place := range agenticPlaces() {
		for name, retry := range retries {
			t.Run(place+"/"+name+"/recovered", func(t *testing.T) {
				t.Parallel()
				inner := fm.NewAgentic(
					fm.Script{fm.OpenFail(errors.New("out of the blue"))},
					fm.Script{fm.BlockText(0, "Hello "), fm.Reset()},
					fm.Script{fm.BlockText(0, "world."), fm.StopReason("end_turn", 5, 5)},
				)
				all := playAgentic(t, place, &agenticConfig{ModelRetryConfig: retry}, inner)
				require.Len(t, all, 1)
				require.NoError(t, all[0].err)
				assert.Equal(t, "Hello world.", all[0].words)
				assert.Len(t, all[0].id, 36)
				assertRequests(t, inner.Model, 3)
				letGo(t, inner.Model)
			})
			t.Run(place+"/"+name+"/exhausted", func(t *testing.T) {
				t.Parallel()
				inner := exhausted()
				all := playAgentic(t, place, &agenticConfig{ModelRetryConfig: retry}, inner, continuation.WithMaxContinuations(1))
				assertRequests(t, inner.Model, 2)
				require.Len(t, all, 2)
				assert.Equal(t, "Hello wor", all[0].words)
				for _, h := range all { // the stream's, and the run's
					var e *continuation.ExhaustedError
					require.ErrorAs(t, h.err, &e)
					assert.Equal(t, "Hello wor", e.Partial.Content)
					var will *adk.WillRetryError
					assert.NotErrorAs(t, h.err, &will)
				}
				letGo(t, inner.Model)
			})
		}
		t.Run(place+"/restarted without NotExhausted", func(t *testing.T) {
			t.Parallel()
			inner := exhausted()
			all := playAgentic(t, place, &agenticConfig{ModelRetryConfig: again}, inner, continuation.WithMaxContinuations(1))
			assertRequests(t, inner.Model, 3)
			require.Len(t, all, 2)
			var will *adk.WillRetryError
			require.ErrorAs(t, all[0].err, &will)
			assert.Equal(t, "Hello wor", all[0].words)
			assert.Equal(t, "Hello world.", all[1].words)
		})
	}
}

// TestAgenticFailover: the next model is asked for what one could not bring to its end, from the start; and what the first
// attempt left behind does not keep the agent from storing its checkpoint.
func TestAgenticFailover(t *testing.T) {
	t.Parallel()
	for place := range agenticPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			first := exhausted()
			second := fm.NewAgentic(
				fm.Script{fm.BlockText(0, "Good "), fm.Reset()},
				fm.Script{fm.BlockText(0, "day."), fm.BlockCall(1, "c1", "ask", `{"what":"it"}`), fm.StopReason("tool_use", 5, 5)},
			)
			next := model.AgenticModel(second)
			if place != "middleware" {
				one, err := continuation.NewTyped(next, now())
				require.NoError(t, err)
				next = one
			}
			cfg := &agenticConfig{ModelFailoverConfig: &adk.ModelFailoverConfig[*schema.AgenticMessage]{
				MaxRetries:     2,
				ShouldFailover: func(_ context.Context, _ *schema.AgenticMessage, err error) bool { return err != nil },
				GetFailoverModel: func(
					context.Context, *adk.FailoverContext[*schema.AgenticMessage],
				) (model.AgenticModel, []*schema.AgenticMessage, error) {
					return next, nil, nil
				},
			}}
			l, w := agenticTongue(), &worker{}
			l.places[place](t, cfg, first, continuation.WithMaxContinuations(1))
			runner := agenticAgent(t, cfg, w, &store{})
			all := l.hear(t, runner.Query(t.Context(), "hi", adk.WithCheckPointID("1")))
			require.Len(t, all, 3)
			assert.Equal(t, "Hello wor", all[0].words)
			require.ErrorIs(t, all[0].err, continuation.ErrExhausted)
			require.NoError(t, all[1].err)
			assert.Equal(t, `Good day.[ask {"what":"it"}]`, all[1].words)
			require.NoError(t, all[2].err)
			require.NotNil(t, all[2].action.Interrupted)

			events, err := runner.Resume(t.Context(), "1")
			require.NoError(t, err)
			all = l.hear(t, events)
			require.NoError(t, all[len(all)-1].err)
			assert.Equal(t, "Hello world.", all[len(all)-1].words, "after that the agent's own model is asked again")
			assert.Equal(t, []string{"ask it"}, w.did())
			assertRequests(t, first.Model, 3)
			assertRequests(t, second.Model, 2)
			assert.Equal(t, "hi", words(second.Requests()[0].Agentic()[0]), "from the start")
			letGo(t, first.Model)
			letGo(t, second.Model)
		})
	}
}
