package continuation_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckAgent is an agent whose run id stands in its session.
type ckAgent struct {
	model      model.BaseChatModel
	middleware adk.ChatModelAgentMiddleware // nil: none
	run        string
	look       func() // what its tool does
}

// ask runs the agent and returns the texts that its user sees.
func (a ckAgent) ask(t *testing.T) (texts []string, err error) {
	t.Helper()
	look, err := utils.InferTool("look", "looks", func(context.Context, struct{}) (string, error) {
		a.look()

		return "blue", nil
	})
	require.NoError(t, err)
	cfg := &adk.ChatModelAgentConfig{
		Name: "agent", Description: "an agent", Model: a.model,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{look}}},
	}
	if a.middleware != nil {
		cfg.Handlers = []adk.ChatModelAgentMiddleware{a.middleware}
	}
	agent, err := adk.NewChatModelAgent(t.Context(), cfg)
	require.NoError(t, err)
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	events := runner.Query(t.Context(), "hi", adk.WithSessionValues(map[string]any{"run": a.run}))
	for {
		e, ok := events.Next()
		switch {
		case !ok:
			return texts, err
		case e.Err != nil:
			err = e.Err
		case e.Output != nil && e.Output.MessageOutput != nil:
			m, failed := e.Output.MessageOutput.GetMessage()
			if failed != nil {
				err = failed
			} else {
				texts = append(texts, m.Content)
			}
		}
	}
}

// TestRunIDOfAFunction: with run ids from WithRunID an answer is taken over, and goes when it is committed.
func TestRunIDOfAFunction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, _ := ckDie(t, ckAnswers()["text"], 2)
		inner := fm.Continuer(ckAnswers()["text"])
		id := continuation.WithRunID(func(context.Context) string { return "run-7" })
		m := continuation.Wrap(inner, ctNow(), id, continuation.WithCheckpoints(left, continuation.KeepUntilCommit()))
		got := ctStream(t.Context(), m)
		require.NoError(t, got.err)
		assert.Equal(t, "Water boils at 100 degrees Celsius.", got.text())
		require.Len(t, inner.Requests(), 1)
		assert.Equal(t, "Water boils at", strings.TrimSpace(inner.Requests()[0].Messages[1].Content), "it is not paid for again")
		c, err := left.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.True(t, c.Done)
		require.NoError(t, m.Commit(t.Context()))
		_, err = left.Get(t.Context(), "run-7")
		require.ErrorIs(t, err, checkpointstore.ErrNotFound)
		require.NoError(t, m.Commit(t.Context()), "nothing there is no error")
		none := continuation.Wrap(inner, continuation.WithCheckpoints(left))
		require.ErrorIs(t, none.Commit(t.Context()), checkpointstore.ErrInvalidRunID)
		require.NoError(t, continuation.Wrap(inner).Commit(t.Context()))
	})
}

// TestRunIDOfASession: an agent with its run id in the session takes an answer over, and its end leaves nothing.
func TestRunIDOfASession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		option := continuation.WithRunID(continuation.RunIDFromSession("run"))
		ask := func(run string, scripts ...fm.Script) ([]string, *fm.Model, error) {
			m, err := continuation.NewMiddleware(ctNow(), option, continuation.WithCheckpoints(store))
			require.NoError(t, err)
			inner := fm.New(scripts...)
			texts, err := ckAgent{inner, m, run, func() {}}.ask(t)

			return texts, inner, err
		}
		_, _, err := ask("run-7", fm.Script{fm.Text("It "), fm.Fail(brRefusal{StatusCode: 401})})
		require.Error(t, err)
		synctest.Wait()
		texts, other, err := ask("run-8", fm.Script{fm.Text("Blue."), fm.Finish("stop")})
		require.NoError(t, err)
		assert.Equal(t, []string{"Blue."}, texts)
		assert.Len(t, other.Requests()[0].Messages, 1, "another run's answer is not gone on with")
		texts, inner, err := ask("run-7", fm.Script{fm.Text("is blue."), fm.Finish("stop")})
		require.NoError(t, err)
		assert.Equal(t, []string{"It is blue."}, texts)
		assert.Equal(t, "It", strings.TrimSpace(inner.Requests()[0].Messages[1].Content))
		n, err := store.DeleteOlderThan(t.Context(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		assert.Zero(t, n, "nothing stays")
	})
}

// TestZombieOfAFunction: with run ids from WithRunID, too, a process that was stopped between two calls neither takes its
// run back nor deletes what its successor has finished. What it asks after it was told is a run of its own.
func TestZombieOfAFunction(t *testing.T) {
	t.Parallel()
	for _, next := range []string{"two", "three"} {
		synctest.Test(t, func(t *testing.T) {
			store := memstore.New()
			id := continuation.WithRunID(func(context.Context) string { return "run-7" })
			process := func(inner *fm.Model) *continuation.Model {
				return continuation.Wrap(inner, id, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
			}
			stopped := fm.Continuer(ckAnswers()["text"])
			zombie := process(stopped)
			require.NoError(t, ctStreamOf(t.Context(), zombie, ckUser("one")).err)
			heir := process(fm.New(fm.Script{fm.Text("Heir "), fm.Idle(time.Second), fm.Text("goes "), fm.Idle(time.Minute), fm.Text("on."), fm.Finish("stop")}))
			require.NoError(t, ctStreamOf(t.Context(), heir, ckUser("one")).err, "it is answered from the store")
			errs := make(chan error, 1)
			go func() { errs <- ctStreamOf(t.Context(), heir, ckUser("two")).err }()
			<-time.After(5 * time.Second)
			require.ErrorIs(t, ctStreamOf(t.Context(), zombie, ckUser(next)).err, checkpointstore.ErrStale)
			assert.Len(t, stopped.Requests(), 1, "it asks for nothing")
			require.NoError(t, <-errs)
			c, err := store.Get(t.Context(), "run-7")
			require.NoError(t, err)
			assert.Equal(t, "Heir goes on.", c.Text)
		})
	}
}

// TestZombieThatCommits: what a process that was stopped commits is its own.
func TestZombieThatCommits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		id := continuation.WithRunID(func(context.Context) string { return "run-7" })
		k := continuation.WithCheckpoints(store, continuation.KeepUntilCommit())
		zombie, heir := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), k, id), continuation.Wrap(fm.Continuer(ckAnswers()["text"]), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()), id)
		require.NoError(t, ctStreamOf(t.Context(), zombie, ckUser("one")).err)
		require.NoError(t, ctStreamOf(t.Context(), heir, ckUser("two")).err)
		require.NoError(t, zombie.Commit(t.Context()))
		_, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err, "the successor's answer stands")
		require.NoError(t, heir.Commit(t.Context()))
		_, err = store.Get(t.Context(), "run-7")
		require.ErrorIs(t, err, checkpointstore.ErrNotFound)
		require.NoError(t, ctStreamOf(t.Context(), heir, ckUser("three")).err)
		require.NoError(t, ctStreamOf(t.Context(), zombie, ckUser("three")).err, "a later run of the same id is anybody's")
	})
}

// TestZombieOfASession: an agent that was stopped in its tool and wakes when another process has taken its run over ends,
// and does not end the other one; the decorator may be a middleware or around the agent's model.
func TestZombieOfASession(t *testing.T) {
	t.Parallel()
	for _, wrapped := range []bool{false, true} {
		store := memstore.New()
		process := func(look func(), answer fm.Script) ckAgent {
			inner := fm.Respond(func(_ int, in []*schema.Message) fm.Script {
				if in[len(in)-1].Role == schema.Tool {
					return answer
				}

				return fm.Script{fm.Text("Look. "), fm.Call(0, "c1", "look", `{}`), fm.Finish("tool_calls")}
			})
			opts := []continuation.Option{
				continuation.WithRunID(continuation.RunIDFromSession("run")),
				continuation.WithCheckpoints(store, continuation.KeepUntilCommit(), continuation.FlushEvery(time.Nanosecond, 1)),
			}
			if wrapped {
				return ckAgent{continuation.Wrap(inner, opts...), nil, "run-7", look}
			}
			m, err := continuation.NewMiddleware(opts...)
			require.NoError(t, err)

			return ckAgent{inner, m, "run-7", look}
		}
		asleep, wake, zombie := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		go func() {
			_, err := process(func() { close(asleep); <-wake }, fm.Script{fm.Text("It is blue."), fm.Finish("stop")}).ask(t)
			zombie <- err
		}()
		<-asleep
		reached, release, heir := make(chan struct{}, 1), make(chan struct{}), make(chan error, 1)
		go func() {
			slow := fm.Script{fm.Text("It is "), fm.Gate(reached, release), fm.Text("blue"), fm.Text("."), fm.Finish("stop")}
			texts, err := process(func() {}, slow).ask(t)
			assert.Contains(t, texts, "It is blue.")
			heir <- err
		}()
		<-reached
		close(wake)
		require.ErrorIs(t, <-zombie, checkpointstore.ErrStale)
		close(release)
		require.NoError(t, <-heir)
	}
}

// TestUnusableCheckpoints: what no call can begin with costs the checkpoint of the call, not its answer.
func TestUnusableCheckpoints(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]checkpointstore.Checkpoint{
		"the last epoch": {RunID: "run-7", Epoch: math.MaxUint64, Owner: "x"},
		"another run":    {RunID: "run-8", Epoch: 1, Owner: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &ckFixed{Store: memstore.New(), c: c}
				events := &ctEvents{}
				m := continuation.Wrap(fm.Continuer(ckSlowAnswer()), continuation.WithCheckpoints(store), continuation.WithHandler(events))
				ctx := ckContext(t)
				for i := range 2 {
					got := ctStream(ctx, m)
					require.NoError(t, got.err)
					assert.Equal(t, "Water boils.", got.text())
					assert.Len(t, ctOf[callbacks.CheckpointFailed](events), i+1)
				}
			})
		})
	}
}

// TestCancelledWhileTheStoreIsAsked: that is no failure of the store.
func TestCancelledWhileTheStoreIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := &ctEvents{}
		store := &ckStore{Store: memstore.New(), delay: time.Hour}
		m := continuation.Wrap(fm.New(ckSlowAnswer()), continuation.WithCheckpoints(store), continuation.WithHandler(events))
		ctx, cancel := context.WithTimeout(ckContext(t), 100*time.Millisecond)
		defer cancel()
		_, err := m.Stream(ctx, ctInput())
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Empty(t, ctOf[callbacks.CheckpointFailed](events))
		<-time.After(2 * time.Hour)
	})
}

// TestLongRunIDInAGraph: a run id that leaves no room for a place has a key all the same.
func TestLongRunIDInAGraph(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1011, 1012, 1024} {
		synctest.Test(t, func(t *testing.T) {
			store := &ckNoted{Store: memstore.New()}
			events := &ctEvents{}
			inner := fm.New(ckSlowAnswer(), ckSlowAnswer())
			m := continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()), continuation.WithHandler(events))
			id := strings.Repeat("x", n)
			ctx := continuation.ContextWithRunID(t.Context(), id)
			chain := compose.NewChain[[]*schema.Message, *schema.Message]()
			run, err := chain.AppendChatModel(m).Compile(ctx)
			require.NoError(t, err)
			for range 2 {
				r, err := run.Stream(ctx, ctInput())
				require.NoError(t, err)
				_, err = fm.Collect(r)
				require.NoError(t, err)
			}
			assert.Len(t, inner.Requests(), 1, "the second is answered from the store")
			assert.Empty(t, ctOf[callbacks.CheckpointFailed](events))
			require.NoError(t, continuation.Commit(ctx, store, id))
			assert.Contains(t, store.noted(), "delete")
		})
	}
}
