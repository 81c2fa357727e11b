package places_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
)

// An agent takes the decorated model in the place of the bare one. It must stream: only streams are continued.
func Example_agentModel() {
	ctx, chatModel := context.Background(), exampleModel()

	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "engineer",
		Description: "answers questions about water",
		Model:       continuation.Wrap(chatModel), // was: chatModel
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	show(os.Stdout, runner.Query(ctx, "When does water boil?"))
	// Output: Water boils at 100 degrees Celsius.
}

// As a middleware the decorator stands in the agent's Handlers, and the model stays as it is.
func Example_agentMiddleware() {
	ctx, chatModel := context.Background(), exampleModel()

	carryon, err := continuation.NewMiddleware()
	if err != nil {
		fmt.Println(err)

		return
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:        "engineer",
		Description: "answers questions about water",
		Model:       chatModel,
		Handlers:    []adk.ChatModelAgentMiddleware{carryon},
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	show(os.Stdout, runner.Query(ctx, "When does water boil?"))
	// Output: Water boils at 100 degrees Celsius.
}

// show prints what the user of an agent sees.
func show(w io.Writer, events *adk.AsyncIterator[*adk.AgentEvent]) {
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		switch {
		case event.Err != nil:
			fmt.Fprintln(w, "the run failed:", event.Err)
		case event.Output == nil:
		case event.Output.MessageOutput != nil:
			stream(w, event.Output.MessageOutput.MessageStream)
		default:
			switch custom := event.Output.CustomizedOutput.(type) {
			case callbacks.StreamReset:
				fmt.Fprintln(w, "forget the thoughts that broke off")
			case callbacks.ToolCallCancel:
				fmt.Fprintln(w, "will not run:", custom.ToolName)
			}
		}
	}
}

// stream prints one answer.
func stream(w io.Writer, reader *schema.StreamReader[*schema.Message]) {
	defer reader.Close()
	for {
		chunk, err := reader.Recv()
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(w)

			return
		}
		if exhausted, ok := errors.AsType[*continuation.ExhaustedError](err); ok {
			fmt.Fprintf(w, " [broke off: %s]\n", exhausted.Reason)

			return
		}
		if err != nil {
			fmt.Fprintln(w, err)

			return
		}
		if chunk.ReasoningContent != "" {
			fmt.Fprintf(w, "(%s)", chunk.ReasoningContent)
		}
		fmt.Fprint(w, chunk.Content)
	}
}

// What users see of a bad day.
func Example_users() {
	ctx, chatModel := context.Background(), exampleBadDay()
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "engineer", Model: continuation.Wrap(chatModel, now())})
	if err != nil {
		fmt.Println(err)

		return
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	show(os.Stdout, runner.Query(ctx, "When does water boil?"))
	// Output:
	// (They want the )(They ask at which temperature.)Water boils at 100 degrees Celsius.
	// forget the thoughts that broke off
	// will not run: measure
}

// Eino's own retry leaves alone what was given up, and asks again for what failed otherwise.
func Example_retry() {
	ctx, chatModel := context.Background(), exampleGoneModel()

	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name:  "engineer",
		Model: continuation.Wrap(chatModel, continuation.WithMaxContinuations(1)),
		ModelRetryConfig: &adk.ModelRetryConfig{
			MaxRetries: 2,
			ShouldRetry: func(ctx context.Context, call *adk.RetryContext) *adk.RetryDecision {
				return &adk.RetryDecision{Retry: continuation.NotExhausted(ctx, call.Err)}
			},
		},
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true})
	events := runner.Query(ctx, "When does water boil?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err == nil {
			stream(os.Stdout, event.Output.MessageOutput.MessageStream)
		}
	}
	// Output: Water boils at 100 degrees [broke off: max_continuations]
}

// Agents and graphs of agentic messages are the same under other names.
func Example_agentic() {
	ctx, agenticModel := context.Background(), exampleAgentic()

	carryon, err := continuation.NewTypedMiddleware[*schema.AgenticMessage]()
	if err != nil {
		fmt.Println(err)

		return
	}
	agent, err := adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[*schema.AgenticMessage]{
		Name:     "engineer",
		Model:    agenticModel,
		Handlers: []adk.TypedChatModelAgentMiddleware[*schema.AgenticMessage]{carryon},
	})
	if err != nil {
		fmt.Println(err)

		return
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[*schema.AgenticMessage]{Agent: agent, EnableStreaming: true})

	events := runner.Query(ctx, "When does water boil?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		message, err := event.Output.MessageOutput.GetMessage()
		fmt.Println(message.ContentBlocks[0].AssistantGenText.Text, err)
	}
	// Output: Water boils at 100 degrees Celsius. <nil>
}

// Without a middleware, the model of agentic messages is decorated by NewTyped.
func Example_agenticModel() {
	ctx, agenticModel := context.Background(), exampleAgentic()

	chat, err := continuation.NewTyped(agenticModel)
	if err != nil {
		fmt.Println(err)

		return
	}
	reader, err := chat.Stream(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("When does water boil?")})
	if err != nil {
		fmt.Println(err)

		return
	}
	defer reader.Close()

	for {
		chunk, err := reader.Recv()
		if err != nil {
			break // io.EOF after the whole answer
		}
		for _, block := range chunk.ContentBlocks {
			if block.AssistantGenText != nil {
				fmt.Print(block.AssistantGenText.Text)
			}
		}
	}
	// Output: Water boils at 100 degrees Celsius.
}
