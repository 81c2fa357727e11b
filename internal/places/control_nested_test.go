package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/stretchr/testify/require"

	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// nest is where an agent stands whose model call is under control: the expert, perhaps below another agent, the asker.
type nest[M adk.MessageType] struct {
	name  string
	asks  []fm.Script // of the asker, until the expert is at work
	after []fm.Script // of the asker, when the expert is done
	words string      // the last that is said
	whole bool        // the agent does not stream
	stuck bool        // Eino v0.9.13 fails to go on from such a checkpoint, with the bare model as well
	build func(t *testing.T, c *controlled[M], asker, expert *fm.Model, handlers ...adk.TypedChatModelAgentMiddleware[M]) adk.TypedAgent[M]
}

// alone is the agent that is cancelled itself.
func alone[M adk.MessageType]() nest[M] {
	return nest[M]{
		name: "alone", words: "Done.",
		build: func(t *testing.T, c *controlled[M], _, expert *fm.Model, handlers ...adk.TypedChatModelAgentMiddleware[M]) adk.TypedAgent[M] {
			t.Helper()

			return c.expert(t, expert, handlers)
		},
	}
}

// unstreamed is an agent that asks by Generate. Eino tells its model nothing, so that its user ends the context as well.
func unstreamed[M adk.MessageType]() nest[M] {
	n := alone[M]()
	n.name, n.whole = "not streaming", true

	return n
}

// below are the ways to stand below another agent that hold for either type of messages.
func below[M adk.MessageType](s steps) []nest[M] {
	asks := func(tool, args string) []fm.Script {
		return []fm.Script{{s.text("I ask. "), s.call("c0", tool, args), s.finish("tool_calls")}}
	}
	after := []fm.Script{{s.text("It is done."), s.finish("stop")}}

	return []nest[M]{
		{
			name: "a tool", asks: asks("expert", `{"request":"what?"}`), after: after, words: "It is done.",
			build: func(t *testing.T, c *controlled[M], asker, expert *fm.Model, handlers ...adk.TypedChatModelAgentMiddleware[M]) adk.TypedAgent[M] {
				t.Helper()
				cfg := &adk.TypedChatModelAgentConfig[M]{Name: "asker", Description: "asks"}
				cfg.ToolsConfig.Tools = append(cfg.ToolsConfig.Tools, adk.NewTypedAgentTool[M](t.Context(), c.expert(t, expert, handlers)))
				cfg.ToolsConfig.EmitInternalEvents = true

				return c.agent(t, c.place, cfg, asker, now())
			},
		},
		{
			name: "a task of the deep agent", asks: asks("task", `{"subagent_type":"expert","description":"look"}`), after: after, words: "It is done.",
			build: func(t *testing.T, c *controlled[M], asker, expert *fm.Model, handlers ...adk.TypedChatModelAgentMiddleware[M]) adk.TypedAgent[M] {
				t.Helper()
				cfg := &adk.TypedChatModelAgentConfig[M]{}
				c.places[c.place](t, cfg, c.model(asker), now())
				agent, err := deep.NewTyped(t.Context(), &deep.TypedConfig[M]{
					Name: "asker", Description: "digs", ChatModel: cfg.Model, Handlers: cfg.Handlers,
					SubAgents: []adk.TypedAgent[M]{c.expert(t, expert, handlers)}, WithoutGeneralSubAgent: true,
				})
				require.NoError(t, err)

				return agent
			},
		},
	}
}

// beside are the ways to stand below another agent that Eino has for messages only.
func beside(s steps) []nest[adk.Message] {
	asker := func(t *testing.T, c *controlled[adk.Message], m *fm.Model) adk.Agent {
		t.Helper()

		return c.agent(t, c.place, &adk.ChatModelAgentConfig{Name: "asker", Description: "asks"}, m, now())
	}

	return []nest[adk.Message]{
		{
			name:  "a sub-agent",
			asks:  []fm.Script{{s.text("I ask. "), s.call("c0", "transfer_to_agent", `{"agent_name":"expert"}`), s.finish("tool_calls")}},
			words: "Done.",
			build: func(t *testing.T, c *controlled[adk.Message], m, expert *fm.Model, handlers ...adk.ChatModelAgentMiddleware) adk.Agent {
				t.Helper()
				agent, err := adk.SetSubAgents(t.Context(), asker(t, c, m), []adk.Agent{c.expert(t, expert, handlers)})
				require.NoError(t, err)

				return agent
			},
		},
		{
			name:  "a step of a workflow",
			asks:  []fm.Script{{s.text("I begin."), s.finish("stop")}},
			stuck: true,
			build: func(t *testing.T, c *controlled[adk.Message], m, expert *fm.Model, handlers ...adk.ChatModelAgentMiddleware) adk.Agent {
				t.Helper()
				agent, err := adk.NewSequentialAgent(t.Context(), &adk.SequentialAgentConfig{
					Name: "flow", SubAgents: []adk.Agent{asker(t, c, m), c.expert(t, expert, handlers)},
				})
				require.NoError(t, err)

				return agent
			},
		},
	}
}
