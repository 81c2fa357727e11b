package places_test

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// steps are what an answer is made of, in either type of messages.
type steps struct {
	text   func(string) fm.Step
	call   func(id, name, args string) fm.Step
	finish func(reason string) fm.Step // stop or tool_calls
}

// tongue is a type of messages, and how the tests speak it. Those with a tongue hold for both types.
type tongue[M adk.MessageType] struct {
	steps

	places map[string]func(*testing.T, *adk.TypedChatModelAgentConfig[M], model.BaseModel[M], ...continuation.Option)
	model  func(*fm.Model) model.BaseModel[M]
	user   func(string) M
	concat func(testing.TB, []M) M
	role   func(M) string // user, assistant, tool, or system
	words  func(M) string // the text, with the calls in brackets
	extra  func(M) map[string]any
}

func messageTongue() tongue[*schema.Message] {
	return tongue[*schema.Message]{
		steps: steps{
			text:   fm.Text,
			call:   func(id, name, args string) fm.Step { return fm.Call(0, id, name, args) },
			finish: fm.Finish,
		},
		places: agentPlaces(),
		model:  func(m *fm.Model) model.BaseModel[*schema.Message] { return m },
		user:   schema.UserMessage,
		concat: fm.Concat,
		role:   func(m *schema.Message) string { return string(m.Role) },
		words: func(m *schema.Message) string {
			text := m.Content
			for _, c := range m.ToolCalls {
				text += "[" + c.Function.Name + " " + c.Function.Arguments + "]"
			}

			return text
		},
		extra: func(m *schema.Message) map[string]any { return m.Extra },
	}
}

func agenticTongue() tongue[*schema.AgenticMessage] {
	return tongue[*schema.AgenticMessage]{
		steps: steps{
			text: func(s string) fm.Step { return fm.BlockText(0, s) },
			call: func(id, name, args string) fm.Step { return fm.BlockCall(1, id, name, args) },
			finish: func(reason string) fm.Step {
				return fm.StopReason(map[string]string{"stop": "end_turn", "tool_calls": "tool_use"}[reason], 5, 5)
			},
		},
		places: agenticPlaces(),
		model:  func(m *fm.Model) model.BaseModel[*schema.AgenticMessage] { return fm.AgenticModel{Model: m} },
		user:   schema.UserAgenticMessage,
		concat: fm.ConcatAgentic,
		role: func(m *schema.AgenticMessage) string {
			for _, b := range m.ContentBlocks {
				if b.FunctionToolResult != nil {
					return string(schema.Tool)
				}
			}

			return string(m.Role)
		},
		words: words,
		extra: func(m *schema.AgenticMessage) map[string]any { return m.Extra },
	}
}

// words is the text of a message, its calls by name in brackets.
func words(m *schema.AgenticMessage) (text string) {
	for _, b := range m.ContentBlocks {
		switch {
		case b.AssistantGenText != nil:
			text += b.AssistantGenText.Text
		case b.UserInputText != nil:
			text += b.UserInputText.Text
		case b.FunctionToolCall != nil:
			text += "[" + b.FunctionToolCall.Name + " " + b.FunctionToolCall.Arguments + "]"
		case b.FunctionToolResult != nil:
			text += "[" + b.FunctionToolResult.Name + " is done]"
		}
	}

	return text
}

// agent returns an agent whose model is decorated in that place.
func (l tongue[M]) agent(
	t *testing.T, place string, cfg *adk.TypedChatModelAgentConfig[M], inner *fm.Model, opts ...continuation.Option,
) *adk.TypedChatModelAgent[M] {
	t.Helper()
	l.places[place](t, cfg, l.model(inner), opts...)
	agent, err := adk.NewTypedChatModelAgent(t.Context(), cfg)
	require.NoError(t, err)

	return agent
}

// heard is what the user of an agent gets of one event, in words.
type heard struct {
	by, role, words string
	streamed        bool
	id              any
	custom          any
	err             error // of the stream, or of the event
	action          *adk.AgentAction
}

// hear reads an agent's events to their end.
func (l tongue[M]) hear(t *testing.T, events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (all []heard) {
	t.Helper()
	for {
		e, ok := events.Next()
		if !ok {
			return all
		}
		h := heard{by: e.AgentName, err: e.Err, action: e.Action}
		if e.Output != nil {
			h.custom = e.Output.CustomizedOutput
		}
		if e.Output != nil && e.Output.MessageOutput != nil {
			out := e.Output.MessageOutput
			m := out.Message
			if h.streamed = out.IsStreaming; h.streamed {
				var chunks []M
				chunks, h.err = fm.CollectAny(out.MessageStream)
				m = l.concat(t, chunks)
			}
			h.role, h.words, h.id = l.role(m), l.words(m), l.extra(m)[idKey]
		}
		all = append(all, h)
	}
}
