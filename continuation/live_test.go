package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestLiveToolCalls: pieces pass as they come, and one index never holds the pieces of two calls.
func TestLiveToolCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, fm.New(
			fm.Script{fm.Text("I look. "), fm.Call(0, "c1", "look", `{"a`), fm.Call(0, "", "", `":`), fm.Reset()},
			fm.Script{fm.Text("Again: "), fm.Call(0, "c2", "look", `{"a":`), fm.Call(0, "", "", `1}`), fm.Finish("tool_calls")},
		), ctNow(), continuation.WithLiveToolCalls())
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		var pieces []string
		for _, c := range r.chunks {
			for _, call := range c.ToolCalls {
				pieces = append(pieces, call.ID+string(rune('0'+*call.Index))+call.Function.Arguments)
			}
		}
		assert.Equal(t, []string{`c10{"a`, `0":`, `c21{"a":`, `11}`}, pieces)
		assert.Equal(t, "c1", ctOnly[callbacks.ToolCallCancel](t, events).ID)
		assert.Equal(t, "I look. Again: ", r.text())
	})
}

// TestLiveToolCallsRun: calls that came whole end the answer as ever, the empty one with its object.
func TestLiveToolCallsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Call(0, "c1", "f", ""), fm.Call(1, "c2", "g", `{"a":1}`), fm.Reset()})
		m, _ := ctWrap(t, inner, continuation.WithLiveToolCalls())
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		msg := fm.Concat(t, r.chunks)
		require.Len(t, msg.ToolCalls, 2)
		assert.Equal(t, "{}", msg.ToolCalls[0].Function.Arguments)
		assert.Equal(t, `{"a":1}`, msg.ToolCalls[1].Function.Arguments)
		assert.Len(t, inner.Requests(), 1)
	})
}

// TestLiveToolCallsRefused: nothing that runs tools may get half a call.
func TestLiveToolCallsRefused(t *testing.T) {
	t.Parallel()
	_, err := continuation.NewMiddleware(continuation.WithLiveToolCalls())
	require.ErrorContains(t, err, "WithLiveToolCalls")
	_, err = continuation.NewTyped[*schema.AgenticMessage](nil, continuation.WithLiveToolCalls())
	require.ErrorContains(t, err, "WithLiveToolCalls")

	g := compose.NewGraph[[]*schema.Message, *schema.Message]()
	m := continuation.Wrap(fm.New(fm.Script{fm.Text("Hi."), fm.Finish("stop")}), continuation.WithLiveToolCalls())
	require.NoError(t, g.AddChatModelNode("model", m))
	require.NoError(t, g.AddEdge(compose.START, "model"))
	require.NoError(t, g.AddEdge("model", compose.END))
	run, err := g.Compile(t.Context())
	require.NoError(t, err)
	_, err = run.Stream(t.Context(), ctInput())
	require.ErrorContains(t, err, "WithLiveToolCalls")
}
