package places_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// runnable is what the tests make of graphs, chains and workflows.
type runnable = compose.Runnable[[]*schema.Message, *schema.Message]

// composed are the ways to put a model into a graph; its node is called "model".
func composed() map[string]func(*testing.T, model.BaseChatModel) runnable {
	ways := composedOf[*schema.Message]()
	ways["lambda that streams"] = func(t *testing.T, m model.BaseChatModel) runnable {
		t.Helper()
		g := graphOf(t, m)

		return compile(t, through(t, g, compose.TransformableLambda(
			func(_ context.Context, in *schema.StreamReader[*schema.Message]) (*schema.StreamReader[*schema.Message], error) {
				return schema.StreamReaderWithConvert(in, func(m *schema.Message) (*schema.Message, error) { return m, nil }), nil
			})))
	}

	return ways
}

// through returns a graph that runs g and then l.
func through(t *testing.T, g compose.AnyGraph, l *compose.Lambda) *compose.Graph[[]*schema.Message, *schema.Message] {
	t.Helper()
	all := compose.NewGraph[[]*schema.Message, *schema.Message]()
	require.NoError(t, all.AddGraphNode("g", g))
	require.NoError(t, all.AddLambdaNode("l", l))
	require.NoError(t, all.AddEdge(compose.START, "g"))
	require.NoError(t, all.AddEdge("g", "l"))
	require.NoError(t, all.AddEdge("l", compose.END))

	return all
}

// inners are the two kinds of models there are: those that tell handlers of their runs, and those that do not.
func inners() map[string]func(*fm.Model) model.BaseChatModel {
	return map[string]func(*fm.Model) model.BaseChatModel{
		"the model fires callbacks":    func(m *fm.Model) model.BaseChatModel { return firing{m} },
		"the model fires no callbacks": func(m *fm.Model) model.BaseChatModel { return m },
	}
}

// asked calls a runnable in one of the ways there are, and returns the answer's text.
func asked() map[string]func(*testing.T, runnable, ...compose.Option) string {
	return map[string]func(*testing.T, runnable, ...compose.Option) string{
		"Stream": func(t *testing.T, r runnable, opts ...compose.Option) string {
			t.Helper()
			reader, err := r.Stream(t.Context(), hi(), opts...)
			require.NoError(t, err)

			return text(t, reader)
		},
		"Transform": func(t *testing.T, r runnable, opts ...compose.Option) string {
			t.Helper()
			reader, err := r.Transform(t.Context(), schema.StreamReaderFromArray([][]*schema.Message{hi()}), opts...)
			require.NoError(t, err)

			return text(t, reader)
		},
	}
}

// TestComposeTree: wherever a model stands in a graph, handlers see one run of it, with the attempts and events in it.
func TestComposeTree(t *testing.T) {
	t.Parallel()
	for place, build := range composed() {
		for kind, of := range inners() {
			for way, ask := range asked() {
				t.Run(place+"/"+kind+"/"+way, func(t *testing.T) {
					t.Parallel()
					inner, seen := broken(), &tree{}
					r := build(t, continuation.Wrap(of(inner), now()))
					assert.Equal(t, "Hello world.", ask(t, r, compose.WithCallbacks(seen.handler())))
					assert.Equal(t, brokenRows("model"), seen.ours(t))
					assert.Equal(t, 10, seen.tokens(), "a token meter counts the answer once")
					letGo(t, inner)
				})
			}
		}
	}
}

// TestComposeTreeOfGenerate: Invoke asks the model by Generate, and a request that failed is one attempt of its run.
func TestComposeTreeOfGenerate(t *testing.T) {
	t.Parallel()
	for place, build := range composed() {
		for kind, of := range inners() {
			t.Run(place+"/"+kind, func(t *testing.T) {
				t.Parallel()
				inner, seen := fm.New(
					fm.Script{fm.OpenFail(fm.ResetError())},
					fm.Script{fm.Text("Hello world."), fm.FinishUsage("stop", 7, 3)},
				).TypeName("Acme"), &tree{}
				r := build(t, continuation.Wrap(of(inner), now()))
				answer, err := r.Invoke(t.Context(), hi(), compose.WithCallbacks(seen.handler()))
				require.NoError(t, err)
				assert.Equal(t, "Hello world.", answer.Content)
				assert.Equal(t, []string{
					`ChatModel/model: "Hello world." end`,
					`ChatModel/model > ContinuationAttempt/attempt-0: "" error: ` + fm.ResetError().Error(),
					`ChatModel/model > ContinuationEvent/llm_stream_open_retried: "" end`,
					`ChatModel/model > ContinuationAttempt/attempt-1: "Hello world." end`,
				}, seen.ours(t))
				assert.Equal(t, 10, seen.tokens())
				for _, q := range inner.Requests() {
					assert.True(t, q.Generate)
				}
			})
		}
	}
}

// TestComposeTreeOfStreamingGenerate: with WithStreamingGenerate a graph that is invoked recovers as well.
func TestComposeTreeOfStreamingGenerate(t *testing.T) {
	t.Parallel()
	for kind, of := range inners() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			inner, seen := broken(), &tree{}
			r := compile(t, graphOf(t, continuation.Wrap(of(inner), now(), continuation.WithStreamingGenerate())))
			answer, err := r.Invoke(t.Context(), hi(), compose.WithCallbacks(seen.handler()))
			require.NoError(t, err)
			assert.Equal(t, "Hello world.", answer.Content)
			assert.Equal(t, brokenRows("model"), seen.ours(t))
			assert.Equal(t, 10, seen.tokens())
		})
	}
}

// TestComposeTreeOfFailures: every run that begins ends, also when the answer does not come.
func TestComposeTreeOfFailures(t *testing.T) {
	t.Parallel()
	refused := errors.New("no such model")
	for name, tt := range map[string]struct {
		scripts []fm.Script
		want    []string
		is      error
	}{
		"refused": {
			[]fm.Script{{fm.OpenFail(refused)}},
			[]string{`ChatModel/model: "" error: no such model`, `ChatModel/model > ContinuationAttempt/attempt-0: "" error: no such model`},
			refused,
		},
		"exhausted": {
			[]fm.Script{{fm.Text("Hello "), fm.Reset()}, {fm.Text("wor"), fm.Reset()}},
			nil, continuation.ErrExhausted,
		},
	} {
		for kind, of := range inners() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				inner, seen := fm.New(tt.scripts...), &tree{}
				r := compile(t, graphOf(t, continuation.Wrap(of(inner), now(), continuation.WithMaxContinuations(1))))
				reader, err := r.Stream(t.Context(), hi(), compose.WithCallbacks(seen.handler()))
				if err == nil {
					_, err = fm.Collect(reader)
				}
				require.ErrorIs(t, err, tt.is)
				rows := seen.ours(t)
				if tt.want != nil {
					assert.Equal(t, tt.want, rows)
				}
				assert.Equal(t, 1, seen.chatModelRuns())
				letGo(t, inner)
			})
		}
	}
}
