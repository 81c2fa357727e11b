package places_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
)

// Stand-alone, the decorated model is asked as the bare one was.
func Example_standAlone() {
	ctx, chatModel, question := context.Background(), exampleModel(), exampleQuestion()

	chat := continuation.Wrap(chatModel)

	reader, err := chat.Stream(ctx, question)
	if err != nil {
		fmt.Println("not even opened:", err)

		return
	}
	defer reader.Close()

	for {
		chunk, err := reader.Recv()
		if errors.Is(err, io.EOF) {
			break // the answer is whole
		}
		if exhausted, ok := errors.AsType[*continuation.ExhaustedError](err); ok {
			fmt.Println("given up after:", exhausted.Partial.Content)

			break
		}
		if err != nil {
			fmt.Println(err)

			break
		}
		fmt.Print(chunk.Content)
	}
	// Output: Water boils at 100 degrees Celsius.
}

// In a graph the decorated model is a node as any other.
func Example_graph() {
	ctx, chatModel, question := context.Background(), exampleModel(), exampleQuestion()

	graph := compose.NewGraph[[]*schema.Message, *schema.Message]()
	_ = graph.AddChatModelNode("chat", continuation.Wrap(chatModel)) // was: chatModel
	_ = graph.AddEdge(compose.START, "chat")
	_ = graph.AddEdge("chat", compose.END)
	run, err := graph.Compile(ctx)
	if err != nil {
		fmt.Println(err)

		return
	}

	reader, err := run.Stream(ctx, question)
	if err != nil {
		fmt.Println(err)

		return
	}
	answer, err := schema.ConcatMessageStream(reader)
	fmt.Println(answer.Content, err)
	// Output: Water boils at 100 degrees Celsius. <nil>
}

// A graph that is invoked asks by Generate, which has no stream to continue, unless the model is told to stream.
func Example_invoke() {
	ctx, chatModel, question := context.Background(), exampleModel(), exampleQuestion()

	chain := compose.NewChain[[]*schema.Message, *schema.Message]()
	chain.AppendChatModel(continuation.Wrap(chatModel, continuation.WithStreamingGenerate()))
	run, err := chain.Compile(ctx)
	if err != nil {
		fmt.Println(err)

		return
	}

	answer, err := run.Invoke(ctx, question)
	fmt.Println(answer.Content, err)
	// Output: Water boils at 100 degrees Celsius. <nil>
}

// A ReAct agent binds its tools to the decorated model.
func Example_react() {
	ctx, chatModel, question, tools := context.Background(), exampleModel(), exampleQuestion(), exampleTools()

	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: continuation.Wrap(chatModel), // was: chatModel
		ToolsConfig:      compose.ToolsNodeConfig{Tools: tools},
	})
	if err != nil {
		fmt.Println(err)

		return
	}

	reader, err := agent.Stream(ctx, question)
	if err != nil {
		fmt.Println(err)

		return
	}
	answer, err := schema.ConcatMessageStream(reader)
	fmt.Println(answer.Content, err)
	// Output: Water boils at 100 degrees Celsius. <nil>
}

// A handler hears of breaks wherever the model stands.
func Example_handler() {
	ctx, chatModel, question := context.Background(), exampleModel(), exampleQuestion()

	chat := continuation.Wrap(chatModel, continuation.WithHandler(callbacks.HandlerFunc(
		func(_ context.Context, event callbacks.Event) {
			if broke, ok := event.(callbacks.Interrupted); ok {
				fmt.Println(broke.Provider, "broke:", broke.Cause)
			}
		})))

	reader, err := chat.Stream(ctx, question)
	if err != nil {
		fmt.Println(err)

		return
	}
	_, _ = schema.ConcatMessageStream(reader)
	// Output: Acme broke: connection_reset
}
