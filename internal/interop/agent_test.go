package interop

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// port is the input of both tools.
type port struct {
	Port string `json:"port"`
}

// harbour has two tools and counts what they do.
type harbour struct {
	mu   sync.Mutex
	runs []string
}

func (h *harbour) tools(t *testing.T) []tool.BaseTool {
	t.Helper()
	var all []tool.BaseTool
	for _, name := range []string{"lookup", "order"} {
		one, err := utils.InferTool(name, "The tool "+name+".", func(_ context.Context, in port) (string, error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.runs = append(h.runs, name+" "+in.Port)

			return name + " is done", nil
		})
		require.NoError(t, err)
		all = append(all, one)
	}

	return all
}

// runner makes an agent of m.
func (h *harbour) runner(t *testing.T, m model.BaseChatModel) *adk.Runner {
	t.Helper()
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "sailor", Description: "Knows the tides.", Instruction: "You help sailors.", Model: m,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: h.tools(t)}},
	})
	require.NoError(t, err)

	return adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true})
}

// said is one event of a run: a whole message, and whether it came as a stream.
type said struct {
	streamed bool
	message  *schema.Message
}

func collect(t *testing.T, events *adk.AsyncIterator[*adk.AgentEvent]) []said {
	t.Helper()
	var all []said
	for {
		e, ok := events.Next()
		if !ok {
			return all
		}
		require.NoError(t, e.Err)
		if e.Output == nil || e.Output.MessageOutput == nil {
			continue
		}
		m, err := e.Output.MessageOutput.GetMessage()
		require.NoError(t, err)
		all = append(all, said{streamed: e.Output.MessageOutput.IsStreaming, message: m})
	}
}

// call is what the model of these tests says when it wants a tool.
func call(id, name string) faultllm.Part { return faultllm.Call(id, name, `{"port":`, `"Oban"`, `}`) }

// TestAnAgentRunsWhatArrivedAndHearsOfTheRest cuts the second of two calls off. The first runs once, the model is told
// of the second and calls it again, and the answer after that breaks in its text. The user sees one stream an answer.
func TestAnAgentRunsWhatArrivedAndHearsOfTheRest(t *testing.T) {
	last := faultllm.Answer{Name: "last", Parts: []faultllm.Part{faultllm.Say("Both ", "are ", "done.")}}
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{
			{Answer: faultllm.Answer{Name: "two", Parts: []faultllm.Part{
				faultllm.Say("I see ", "to it. "), call("call_a", "lookup"), call("call_b", "order"),
			}}},
			{Answer: faultllm.Answer{Name: "one", Parts: []faultllm.Part{call("call_c", "order")}}},
			{Answer: last},
			{Says: "Thank you", Answer: faultllm.Answer{Name: "bye", Parts: []faultllm.Part{faultllm.Say("Fair winds.")}}},
		},
		Plan: faultllm.ByAnswer(map[string][]faultllm.Fault{
			"two":  {faultllm.Reset(faultllm.InTool(1, 8))},
			"one":  {faultllm.CleanEnd(faultllm.AfterTool(0))},
			"last": {faultllm.CutChunked(faultllm.InText(2))},
		}),
	})
	h := &harbour{}
	runner := h.runner(t, r.wrap())
	history := []adk.Message{schema.UserMessage("Look it up and order.")}
	events := collect(t, runner.Run(t.Context(), history))

	assert.Equal(t, []string{"lookup Oban", "order Oban"}, h.runs, "what arrived runs exactly once")
	var streams []string
	for _, e := range events {
		if e.message.Role == schema.Assistant {
			assert.True(t, e.streamed)
			streams = append(streams, e.message.Content)
		}
		history = append(history, e.message)
	}
	assert.Equal(t, []string{"I see to it. ", "", "Both are done."}, streams, "one stream event a model call")
	require.Len(t, events, 5)
	require.Len(t, events[0].message.ToolCalls, 1)
	assert.Equal(t, "call_a", events[0].message.ToolCalls[0].ID)
	assert.Equal(t, "call_c", events[2].message.ToolCalls[0].ID)

	records := r.ledger(t).Records
	require.Len(t, records, 4)
	assertHint(t, records[1].Request, "order")
	assertNoHint(t, records[2].Request)
	checkPair(t, records[2].Request, records[3].Request, "Both are", "")
	for i, rec := range records {
		assert.Equal(t, 200, rec.Status, "the provider refuses request %d", i)
	}

	// The next turn of the conversation hears nothing of it any more.
	collect(t, runner.Run(t.Context(), append(history, schema.UserMessage("Thank you."))))
	records = r.ledger(t).Records
	require.Len(t, records, 5)
	assert.Equal(t, 200, records[4].Status)
	assertNoHint(t, records[4].Request)
}

// assertHint wants a user message behind the tool results that names the tool.
func assertHint(t *testing.T, r faultllm.Request, name string) {
	t.Helper()
	last := r.Messages[len(r.Messages)-1]
	assert.Equal(t, "user", last.Role)
	assert.Contains(t, last.Text, name)
	assert.Contains(t, last.Text, "cut off")
	assert.Equal(t, "tool", r.Messages[len(r.Messages)-2].Role)
}

func assertNoHint(t *testing.T, r faultllm.Request) {
	t.Helper()
	for _, m := range r.Messages {
		assert.False(t, strings.Contains(m.Text, "cut off"), "a hint in %q", m.Text)
	}
}

// TestAnAgentOfManyBrokenTurns breaks every answer of a run once, each at another place, without a tool call lost.
func TestAnAgentOfManyBrokenTurns(t *testing.T) {
	for name, opts := range map[string][]continuation.Option{
		"hint as a message":       nil,
		"hint in the tool result": {continuation.HintInToolResult()},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, plainTransport, faultllm.Config{
				Script: faultllm.Script{
					{Answer: faultllm.Answer{Name: "a", Parts: []faultllm.Part{faultllm.Think("Hm, ", "well."), call("call_a", "lookup")}}},
					{Answer: faultllm.Answer{Name: "b", Parts: []faultllm.Part{faultllm.Say("More. "), call("call_b", "order")}}},
					{Answer: faultllm.Answer{Name: "c", Parts: []faultllm.Part{call("call_c", "lookup"), call("call_d", "order")}}},
					{Answer: faultllm.Answer{Name: "d", Parts: []faultllm.Part{faultllm.Think("So."), faultllm.Say("All ", "done.")}}},
				},
				Plan: faultllm.ByAnswer(map[string][]faultllm.Fault{
					"a": {faultllm.Reset(faultllm.InReasoning(1))},
					"b": {faultllm.CutChunked(faultllm.InTool(0, 8))},
					"c": {faultllm.CleanEnd(faultllm.InTool(1, 8))},
					"d": {faultllm.Reset(faultllm.BeforeHeaders()), faultllm.MalformedJSON(faultllm.InText(1))},
				}),
			})
			h := &harbour{}
			events := collect(t, h.runner(t, r.wrap(opts...)).Query(t.Context(), "Do it all."))
			assert.Equal(t, []string{"lookup Oban", "order Oban", "lookup Oban"}, h.runs)
			require.Len(t, events, 7)
			assert.Equal(t, "All done.", events[6].message.Content)
			var refused []int
			for _, rec := range r.ledger(t).Records {
				if rec.Status >= 400 {
					refused = append(refused, rec.N)
				}
				if rec.Name == "b" {
					assert.Equal(t, "Hm, well.", rec.Request.Messages[2].Reasoning, "half a thought is not sent back")
				}
			}
			assert.Empty(t, refused, "the provider refuses a request")
			assert.Empty(t, eventsOf[callbacks.Exhausted](r.events))
		})
	}
}

// TestAReactAgentKeepsItsTools binds the tools to the decorated model, and looks at the first chunk for a call.
func TestAReactAgentKeepsItsTools(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{
			{Answer: faultllm.Answer{Name: "two", Parts: []faultllm.Part{call("call_a", "lookup"), call("call_b", "order")}}},
			{Answer: faultllm.Answer{Name: "last", Parts: []faultllm.Part{faultllm.Say("Looked ", "up.")}}},
		},
		Plan: faultllm.ByAnswer(map[string][]faultllm.Fault{
			"two": {faultllm.Reset(faultllm.InTool(1, 8))}, "last": {faultllm.CleanEnd(faultllm.InText(1))},
		}),
	})
	h := &harbour{}
	agent, err := react.NewAgent(t.Context(), &react.AgentConfig{
		ToolCallingModel: r.wrap(), ToolsConfig: compose.ToolsNodeConfig{Tools: h.tools(t)},
	})
	require.NoError(t, err)
	reader, err := agent.Stream(t.Context(), question())
	require.NoError(t, err)
	defer reader.Close()
	chunks, err := drain(reader)
	require.NoError(t, err)
	assert.Equal(t, "Looked up.", concat(t, chunks).Content)
	assert.Equal(t, []string{"lookup Oban"}, h.runs)
	records := r.ledger(t).Records
	require.Len(t, records, 3)
	assertHint(t, records[1].Request, "order")
	assert.Equal(t, []string{"lookup", "order"}, records[2].Request.Tools)
}

// TestAGraphStreamsOneMessage runs a decorated model as a node of a compose graph.
func TestAGraphStreamsOneMessage(t *testing.T) {
	a := textAnswer().answer
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(faultllm.Reset(faultllm.InText(2)), faultllm.CleanEnd(faultllm.InText(2))),
	})
	g := compose.NewGraph[[]*schema.Message, *schema.Message]()
	require.NoError(t, g.AddChatModelNode("model", r.wrap()))
	require.NoError(t, g.AddEdge(compose.START, "model"))
	require.NoError(t, g.AddEdge("model", compose.END))
	run, err := g.Compile(t.Context())
	require.NoError(t, err)

	reader, err := run.Stream(t.Context(), question())
	require.NoError(t, err)
	defer reader.Close()
	chunks, err := drain(reader)
	require.NoError(t, err)
	got := concat(t, chunks)
	assert.Equal(t, a.Text(), got.Content)
	assert.Equal(t, "stop", got.ResponseMeta.FinishReason)
	assert.Equal(t, 3, r.ledger(t).Requests)
}

// TestAClosedGraphStreamStopsTheProvider closes the graph's reader while the provider is silent.
func TestAClosedGraphStreamStopsTheProvider(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}}, Plan: faultllm.Every(faultllm.Stall(faultllm.InText(1))),
	})
	g := compose.NewGraph[[]*schema.Message, *schema.Message]()
	require.NoError(t, g.AddChatModelNode("model", r.wrap()))
	require.NoError(t, g.AddEdge(compose.START, "model"))
	require.NoError(t, g.AddEdge("model", compose.END))
	run, err := g.Compile(t.Context())
	require.NoError(t, err)
	reader, err := run.Stream(t.Context(), question())
	require.NoError(t, err)
	_, err = reader.Recv()
	require.NoError(t, err)
	reader.Close()
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, err = r.server.WaitDisconnect(limit, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, r.ledger(t).Requests)
}
