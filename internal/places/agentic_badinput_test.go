package places_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// brokenAgentic is a model of blocks whose first answer breaks.
func brokenAgentic() fm.AgenticModel {
	return fm.NewAgentic(
		fm.Script{fm.BlockText(0, "Hello "), fm.Reset()},
		fm.Script{fm.BlockText(0, "world."), fm.StopReason("end_turn", 7, 3)},
	)
}

// TestAgenticBadHandlers: what a handler of ours does, or does not, is nothing to an agent of blocks.
func TestAgenticBadHandlers(t *testing.T) {
	t.Parallel()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	for name, handle := range map[string]func(context.Context, callbacks.Event){
		"it panics":           func(context.Context, callbacks.Event) { panic("oops") },
		"it blocks":           func(context.Context, callbacks.Event) { <-forever },
		"it ends its routine": func(context.Context, callbacks.Event) { runtime.Goexit() },
	} {
		for place := range agenticPlaces() {
			t.Run(name+"/"+place, func(t *testing.T) {
				t.Parallel()
				inner := brokenAgentic()
				all := playAgentic(t, place, &agenticConfig{}, inner, continuation.WithHandler(callbacks.HandlerFunc(handle)))
				require.Len(t, all, 1)
				require.NoError(t, all[0].err)
				assert.Equal(t, "Hello world.", all[0].words)
				letGo(t, inner.Model)
			})
		}
	}
}

// blockScribbler is scribbler for messages of blocks.
type blockScribbler struct {
	*adk.TypedBaseChatModelAgentMiddleware[*schema.AgenticMessage]
}

func scribbleBlocks(m *schema.AgenticMessage) {
	m.Extra = map[string]any{"scribble": true}
	if m.ResponseMeta != nil {
		m.ResponseMeta.ClaudeExtension = nil
	}
	for _, b := range m.ContentBlocks {
		switch {
		case b.AssistantGenText != nil:
			b.AssistantGenText.Text = "scribble"
		case b.FunctionToolCall != nil:
			b.FunctionToolCall.Arguments, b.FunctionToolCall.Name = "scribble", "scribble"
		}
		if b.StreamingMeta != nil {
			b.StreamingMeta.Index += 7
		}
	}
}

// WrapModel writes into the chunks behind the consumer's back: the consumer gets copies.
func (blockScribbler) WrapModel(
	_ context.Context, m model.AgenticModel, _ *adk.TypedModelContext[*schema.AgenticMessage],
) (model.AgenticModel, error) {
	return blockScribbling{m}, nil
}

type blockScribbling struct{ model.AgenticModel }

func (s blockScribbling) Stream(
	ctx context.Context, in []*schema.AgenticMessage, opts ...model.Option,
) (*schema.StreamReader[*schema.AgenticMessage], error) {
	r, err := s.AgenticModel.Stream(ctx, in, opts...)
	if err != nil {
		return nil, err
	}

	return schema.StreamReaderWithConvert(r, func(m *schema.AgenticMessage) (*schema.AgenticMessage, error) {
		cp := *m
		if m.ResponseMeta != nil {
			meta := *m.ResponseMeta
			cp.ResponseMeta = &meta
		}
		cp.ContentBlocks = nil
		for _, b := range m.ContentBlocks {
			cp.ContentBlocks = append(cp.ContentBlocks, copyBlock(b))
		}
		scribbleBlocks(m)

		return &cp, nil
	}), nil
}

func copyBlock(b *schema.ContentBlock) *schema.ContentBlock {
	cp := *b
	if b.AssistantGenText != nil {
		text := *b.AssistantGenText
		cp.AssistantGenText = &text
	}
	if b.FunctionToolCall != nil {
		call := *b.FunctionToolCall
		cp.FunctionToolCall = &call
	}
	if b.StreamingMeta != nil {
		meta := *b.StreamingMeta
		cp.StreamingMeta = &meta
	}

	return &cp
}

// TestAgenticScribblers: who writes into a chunk of blocks spoils neither the next request nor what others get.
func TestAgenticScribblers(t *testing.T) {
	t.Parallel()
	l := agenticTongue()
	for place, put := range agenticPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			inner := fm.NewAgentic(
				fm.Script{fm.BlockText(0, "Let me "), fm.BlockText(0, "look"), fm.Reset()},
				fm.Script{
					fm.BlockText(0, " at it."), fm.BlockCall(1, "c1", "look", `{"what":`), fm.BlockCall(1, "", "", `"here"}`),
					fm.StopReason("tool_use", 5, 5),
				},
				fm.Script{fm.BlockText(0, "Do"), fm.Reset()},
				fm.Script{fm.BlockText(0, "ne."), fm.StopReason("end_turn", 5, 5)},
			)
			w, cfg := &worker{}, &agenticConfig{Handlers: []agenticMiddleware{
				blockScribbler{&adk.TypedBaseChatModelAgentMiddleware[*schema.AgenticMessage]{}},
			}}
			put(t, cfg, inner)
			var said []string
			for _, h := range l.hear(t, agenticAgent(t, cfg, w, &store{}).Query(t.Context(), "hi")) {
				require.NoError(t, h.err)
				if h.role == "assistant" {
					said = append(said, h.words)
				}
			}
			assert.Equal(t, []string{`Let me look at it.[look {"what":"here"}]`, "Done."}, said)
			assert.Equal(t, []string{"look here"}, w.did())
			requests := inner.Requests()
			require.Len(t, requests, 4)
			assert.Equal(t, "Let me look", words(requests[1].Agentic()[1]))
			letGo(t, inner.Model)
		})
	}
}

// TestAgenticCallbackThatScribbles: a callback handler writes into each chunk of blocks that it gets, the consumer looks
// when it has done so, and finds none of it.
func TestAgenticCallbackThatScribbles(t *testing.T) {
	t.Parallel()
	var writing sync.WaitGroup
	scribbler := scribbles(&writing, components.ComponentOfAgenticModel, func(o einocallbacks.CallbackOutput) {
		if m := model.ConvAgenticCallbackOutput(o); m != nil && m.Message != nil {
			scribbleBlocks(m.Message)
		}
	})
	inner := fm.NewAgentic(
		fm.Script{fm.BlockText(0, "Let me "), fm.BlockText(0, "look"), fm.Reset()},
		fm.Script{
			fm.BlockText(0, " at it."), fm.BlockCall(1, "c1", "look", `{"what":`), fm.BlockCall(1, "", "", `"here"}`),
			fm.StopReason("tool_use", 5, 5),
		},
	)
	m, err := continuation.NewTyped[*schema.AgenticMessage](inner, now())
	require.NoError(t, err)
	r := compile(t, graphOf(t, m))
	reader, err := r.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")}, compose.WithCallbacks(scribbler))
	require.NoError(t, err)
	chunks, err := fm.CollectAny(reader)
	require.NoError(t, err)
	writing.Wait()
	answer := fm.ConcatAgentic(t, chunks)
	assert.Equal(t, `Let me look at it.[look {"what":"here"}]`, words(answer))
	assert.NotContains(t, answer.Extra, "scribble")
	assert.Equal(t, "tool_use", answer.ResponseMeta.ClaudeExtension.StopReason)
	requests := inner.Requests()
	require.Len(t, requests, 2)
	assert.Equal(t, "Let me look", words(requests[1].Agentic()[1]))
	letGo(t, inner.Model)
}

// TestAgenticCallbackThatNeverCloses: a callback handler's copy of a stream of blocks keeps nothing going.
func TestAgenticCallbackThatNeverCloses(t *testing.T) {
	t.Parallel()
	for place, put := range agenticPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			inner, cfg := brokenAgentic(), &agenticConfig{}
			put(t, cfg, inner)
			all := agenticTongue().hear(t, agenticAgent(t, cfg, &worker{}, &store{}).Query(t.Context(), "hi", adk.WithCallbacks(never())))
			require.Len(t, all, 1)
			require.NoError(t, all[0].err)
			assert.Equal(t, "Hello world.", all[0].words)
			stopped(t, inner.Model)
		})
	}
}

// TestAgenticStreamThatIsDropped: a graph's node takes the stream of blocks and throws it away, unread and open.
func TestAgenticStreamThatIsDropped(t *testing.T) {
	t.Parallel()
	inner := fm.NewAgentic(fm.Script{fm.BlockText(0, "Hello "), fm.Stall()})
	m, err := continuation.NewTyped[*schema.AgenticMessage](inner, now())
	require.NoError(t, err)
	g := compose.NewGraph[[]*schema.AgenticMessage, string]()
	addModel(t, g, m)
	require.NoError(t, g.AddLambdaNode("l", compose.TransformableLambda(
		func(context.Context, *schema.StreamReader[*schema.AgenticMessage]) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray([]string{"Never mind."}), nil
		})))
	require.NoError(t, g.AddEdge("chat", "l"))
	require.NoError(t, g.AddEdge("l", compose.END))
	r, err := g.Compile(t.Context())
	require.NoError(t, err)
	reader, err := r.Stream(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("hi")})
	require.NoError(t, err)
	chunks, err := fm.CollectAny(reader)
	require.NoError(t, err)
	assert.Equal(t, []string{"Never mind."}, chunks)
	stopped(t, inner.Model)
}
