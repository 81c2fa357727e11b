package places_test

import (
	"context"
	"fmt"

	einocallbacks "github.com/cloudwego/eino/callbacks"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
)

// Eino's callback handlers see one run of a chat model for the call. The attempts and the events are nested in it.
func Example_callbacks() {
	ctx, chatModel, question := context.Background(), exampleModel(), exampleQuestion()

	handler := einocallbacks.NewHandlerBuilder().OnStartFn(
		func(ctx context.Context, info *einocallbacks.RunInfo, input einocallbacks.CallbackInput) context.Context {
			switch info.Component {
			case components.ComponentOfChatModel:
				fmt.Println("call", info.Name, "with", len(model.ConvCallbackInput(input).Messages), "message")
			case continuation.ComponentOfAttempt:
				fmt.Println("  ", info.Name, "with", len(model.ConvCallbackInput(input).Messages))
			case continuation.ComponentOfEvent:
				fmt.Println("  ", continuation.ConvCallbackInput(input).Event.Name())
			default: // a graph, a tool, …
			}

			return ctx
		}).Build()

	graph := compose.NewGraph[[]*schema.Message, *schema.Message]()
	_ = graph.AddChatModelNode("chat", continuation.Wrap(chatModel), compose.WithNodeName("chat"))
	_ = graph.AddEdge(compose.START, "chat")
	_ = graph.AddEdge("chat", compose.END)
	run, err := graph.Compile(ctx)
	if err != nil {
		fmt.Println(err)

		return
	}
	reader, err := run.Stream(ctx, question, compose.WithCallbacks(handler))
	if err != nil {
		fmt.Println(err)

		return
	}
	_, _ = schema.ConcatMessageStream(reader)
	// Output:
	// call chat with 1 message
	//    attempt-0 with 1
	//    llm_stream_interrupted
	//    llm_stream_continuation_started
	//    attempt-1 with 3
	//    llm_stream_joined
	//    llm_stream_continuation_completed
}
