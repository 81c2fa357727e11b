package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/stretchr/testify/require"
)

// composedOf are the ways to put a model of either type into a graph; its node is called "model".
func composedOf[M adk.MessageType]() map[string]func(*testing.T, model.BaseModel[M]) compose.Runnable[[]M, M] {
	return map[string]func(*testing.T, model.BaseModel[M]) compose.Runnable[[]M, M]{
		"graph": func(t *testing.T, m model.BaseModel[M]) compose.Runnable[[]M, M] {
			t.Helper()

			return compile(t, graphOf(t, m))
		},
		"chain": func(t *testing.T, m model.BaseModel[M]) compose.Runnable[[]M, M] {
			t.Helper()
			c := compose.NewChain[[]M, M]()
			switch m := m.(type) {
			case model.BaseChatModel:
				c.AppendChatModel(m, compose.WithNodeName("model"))
			case model.AgenticModel:
				c.AppendAgenticModel(m, compose.WithNodeName("model"))
			}
			r, err := c.Compile(t.Context())
			require.NoError(t, err)

			return r
		},
		"workflow": func(t *testing.T, m model.BaseModel[M]) compose.Runnable[[]M, M] {
			t.Helper()
			w := compose.NewWorkflow[[]M, M]()
			switch m := m.(type) {
			case model.BaseChatModel:
				w.AddChatModelNode("m", m, compose.WithNodeName("model")).AddInput(compose.START)
			case model.AgenticModel:
				w.AddAgenticModelNode("m", m, compose.WithNodeName("model")).AddInput(compose.START)
			}
			w.End().AddInput("m")
			r, err := w.Compile(t.Context())
			require.NoError(t, err)

			return r
		},
		"nested graph": func(t *testing.T, m model.BaseModel[M]) compose.Runnable[[]M, M] {
			t.Helper()
			g := compose.NewGraph[[]M, M]()
			require.NoError(t, g.AddGraphNode("inner", graphOf(t, m), compose.WithNodeName("inner")))
			require.NoError(t, g.AddEdge(compose.START, "inner"))
			require.NoError(t, g.AddEdge("inner", compose.END))

			return compile(t, g)
		},
	}
}

// graphOf returns a graph of one model.
func graphOf[M adk.MessageType](t *testing.T, m model.BaseModel[M]) *compose.Graph[[]M, M] {
	t.Helper()
	g := compose.NewGraph[[]M, M]()
	addModel(t, g, m)
	require.NoError(t, g.AddEdge("chat", compose.END))

	return g
}

func compile[M any](t *testing.T, g *compose.Graph[[]M, M]) compose.Runnable[[]M, M] {
	t.Helper()
	r, err := g.Compile(t.Context())
	require.NoError(t, err)

	return r
}
