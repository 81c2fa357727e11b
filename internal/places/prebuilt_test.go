package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/adk/prebuilt/planexecute"
	"github.com/cloudwego/eino/adk/prebuilt/supervisor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// said are the texts that agents and tools said, by who spoke.
func said(t *testing.T, all []shown) (texts []string) {
	t.Helper()
	for _, s := range all {
		require.NoError(t, s.err)
		if s.message != nil {
			texts = append(texts, s.by+" "+string(s.message.Role)+": "+s.message.Content)
		}
	}

	return texts
}

// TestDeepAgent: the deep agent and its sub-agent share the model and the middleware, and the sub-agent is a tool.
func TestDeepAgent(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		inner := fm.New(
			fm.Script{fm.Text("I dele"), fm.Reset()},
			fm.Script{fm.Text("gate."), fm.Call(0, "c1", "task", `{"subagent_type":"general-purpose","description":"look"}`), fm.Finish("tool_calls")},
			fm.Script{fm.Call(0, "c2", "look", `{"what":"here"}`), fm.Call(1, "c3", "look", `{"wh`), fm.Reset()},
			fm.Script{fm.Text("Fou"), fm.Call(0, "c4", "look", `{"wh`), fm.Reset()},
			fm.Script{fm.Text("nd."), fm.Finish("stop")},
			fm.Script{fm.Text("It is "), fm.Reset()},
			fm.Script{fm.Text("found."), fm.Finish("stop")},
		)
		w, cfg, seen := &worker{}, &adk.ChatModelAgentConfig{}, &tree{}
		decorate(cfg, inner)
		agent, err := deep.New(t.Context(), &deep.Config{
			Name: "deep", Description: "digs", ChatModel: cfg.Model, Handlers: cfg.Handlers, ToolsConfig: w.tools(t, "look"),
		})
		require.NoError(t, err)
		all := run1(t, agent, adk.WithCallbacks(seen.handler()))
		assert.Equal(t, []string{"deep assistant: I delegate.", "deep tool: Found.", "deep assistant: It is found."}, said(t, all))
		assert.Equal(t, []string{"look here"}, w.did())
		assert.Empty(t, customs(all), "nobody sees what the sub-agent says")
		seen.ours(t)
		assert.Equal(t, 4, seen.chatModelRuns())
		letGo(t, inner)
	})
}

// TestPlanExecute: the planner and the replanner are chains of their own, the executor is an agent.
func TestPlanExecute(t *testing.T) {
	t.Parallel()
	for kind, of := range inners() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(
				fm.Script{fm.Call(0, "p1", "plan", `{"steps":["o`), fm.Reset()},
				fm.Script{fm.Call(0, "p2", "plan", `{"steps":`), fm.Call(0, "", "", `["one"]}`), fm.Reset()},
				fm.Script{fm.Text("Done "), fm.Call(0, "x", "nothing", `{`), fm.Reset()},
				fm.Script{fm.Text("one."), fm.Finish("stop")},
				fm.Script{fm.Call(0, "r1", "respond", `{"response":"All is done."}`), fm.Reset()},
			)
			m, w, seen := continuation.Wrap(of(inner), now()), &worker{}, &tree{}
			planner, err := planexecute.NewPlanner(t.Context(), &planexecute.PlannerConfig{ToolCallingChatModel: m})
			require.NoError(t, err)
			executor, err := planexecute.NewExecutor(t.Context(), &planexecute.ExecutorConfig{Model: m, ToolsConfig: w.tools(t, "look")})
			require.NoError(t, err)
			replanner, err := planexecute.NewReplanner(t.Context(), &planexecute.ReplannerConfig{ChatModel: m})
			require.NoError(t, err)
			agent, err := planexecute.New(t.Context(), &planexecute.Config{Planner: planner, Executor: executor, Replanner: replanner})
			require.NoError(t, err)
			all := run1(t, agent, adk.WithCallbacks(seen.handler()))
			assert.Equal(t, []string{
				`planner assistant: {"steps":["one"]}`, "executor assistant: Done one.", `replanner assistant: {"response":"All is done."}`,
			}, said(t, all))
			custom := customs(all)
			require.Len(t, custom, 1)
			assert.Equal(t, "executor", custom[0].by)
			assert.Equal(t, []string{"plan_execute_replan", "executor"}, []string{custom[0].path[0], custom[0].path[len(custom[0].path)-1]})
			seen.ours(t)
			assert.Equal(t, 3, seen.chatModelRuns())
			letGo(t, inner)
		})
	}
}

// TestSubAgents: agents that hand over to one another; each event tells whose it is.
func TestSubAgents(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		boss := fm.New(
			fm.Script{fm.Text("Ask "), fm.Reset()},
			fm.Script{fm.Text("her."), fm.Call(0, "c1", "transfer_to_agent", `{"agent_name":"clerk"}`), fm.Call(1, "c2", "look", `{`), fm.Reset()},
		)
		clerk := fm.New(
			fm.Script{fm.Text("It is "), fm.Call(0, "c1", "look", `{`), fm.Reset()},
			fm.Script{fm.Text("here."), fm.Finish("stop")},
		)
		upper := &adk.ChatModelAgentConfig{Name: "boss", Description: "asks"}
		lower := &adk.ChatModelAgentConfig{Name: "clerk", Description: "answers"}
		decorate(upper, boss)
		decorate(lower, clerk)
		agent, err := adk.SetSubAgents(t.Context(), newAgent(t, upper), []adk.Agent{newAgent(t, lower)})
		require.NoError(t, err)
		all := run1(t, agent)
		texts := said(t, all)
		assert.Equal(t, "boss assistant: Ask her.", texts[0])
		assert.Equal(t, "clerk assistant: It is here.", texts[len(texts)-1])
		custom := customs(all)
		require.Len(t, custom, 2)
		assert.Equal(t, "boss", custom[0].by)
		assert.Equal(t, []string{"boss"}, custom[0].path)
		assert.Equal(t, "clerk", custom[1].by)
		assert.Equal(t, []string{"boss", "clerk"}, custom[1].path)
		for _, r := range clerk.Requests() {
			for _, m := range r.Messages[:3] {
				assert.NotContains(t, m.Content, "cut off")
			}
		}
		letGo(t, boss)
		letGo(t, clerk)
	})
}

// TestSupervisor: sub-agents that report back, each with a broken answer.
func TestSupervisor(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		boss := fm.New(
			fm.Script{fm.Text("Ask "), fm.Reset()},
			fm.Script{fm.Text("her."), fm.Call(0, "c1", "transfer_to_agent", `{"agent_name":"clerk"}`), fm.Finish("tool_calls")},
			fm.Script{fm.Text("So it "), fm.Reset()},
			fm.Script{fm.Text("is."), fm.Finish("stop")},
		)
		clerk := fm.New(
			fm.Script{fm.Text("It is "), fm.Call(0, "c1", "look", `{`), fm.Reset()},
			fm.Script{fm.Text("here."), fm.Finish("stop")},
		)
		upper := &adk.ChatModelAgentConfig{Name: "boss", Description: "asks"}
		lower := &adk.ChatModelAgentConfig{Name: "clerk", Description: "answers"}
		decorate(upper, boss)
		decorate(lower, clerk)
		agent, err := supervisor.New(t.Context(), &supervisor.Config{Supervisor: newAgent(t, upper), SubAgents: []adk.Agent{newAgent(t, lower)}})
		require.NoError(t, err)
		all := run1(t, agent)
		texts := said(t, all)
		assert.Contains(t, texts, "clerk assistant: It is here.")
		assert.Equal(t, "boss assistant: So it is.", texts[len(texts)-1])
		assert.Len(t, customs(all), 1)
		letGo(t, boss)
		letGo(t, clerk)
	})
}

// TestParallelAgents: agents side by side do not mix up their events.
func TestParallelAgents(t *testing.T) {
	t.Parallel()
	everyAgent(t, func(t *testing.T, decorate decorator) {
		t.Helper()
		var agents []adk.Agent
		for _, name := range []string{"left", "right"} {
			cfg := &adk.ChatModelAgentConfig{Name: name, Description: name}
			decorate(cfg, fm.New(
				fm.Script{fm.Text(name + " is "), fm.Call(0, name, "look", `{`), fm.Reset()},
				fm.Script{fm.Text("done."), fm.Finish("stop")},
			))
			agents = append(agents, newAgent(t, cfg))
		}
		agent, err := adk.NewParallelAgent(t.Context(), &adk.ParallelAgentConfig{Name: "both", SubAgents: agents})
		require.NoError(t, err)
		all := run1(t, agent)
		assert.ElementsMatch(t, []string{"left assistant: left is done.", "right assistant: right is done."}, said(t, all))
		custom := customs(all)
		require.Len(t, custom, 2)
		for _, c := range custom {
			e, ok := c.custom.(callbacks.ToolCallCancel)
			require.True(t, ok)
			assert.Equal(t, e.ID, c.by)
			assert.Equal(t, e.ID, c.path[len(c.path)-1])
		}
	})
}
