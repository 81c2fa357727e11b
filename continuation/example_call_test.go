package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exampleModel is reset in mid word; asked for the rest, it goes on.
func exampleModel() *faultmodel.Model {
	return faultmodel.New(
		faultmodel.Script{faultmodel.Text("Water boils at 100 deg"), faultmodel.Reset()},
		faultmodel.Script{faultmodel.Text("rees Celsius."), faultmodel.Finish("stop")},
	)
}

// exampleNoWait keeps the examples fast.
func exampleNoWait() continuation.Option {
	return continuation.WithBackoff(func(int) time.Duration { return 0 })
}

// exampleAsk returns the text that arrived, and how the stream ended; nil is a clean end.
func exampleAsk(ctx context.Context, chat *continuation.Model) (string, error) {
	reader, err := chat.Stream(ctx, []*schema.Message{schema.UserMessage("When does water boil?")})
	if err != nil {
		return "", err
	}
	chunks, err := faultmodel.Collect(reader)
	text := ""
	for _, c := range chunks {
		text += c.Content
	}

	return text, err
}

// An agent takes the decorated model in the place of the bare one. It must stream: only streams are recovered.
func ExampleWrap() {
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

	events := runner.Query(ctx, "When does water boil?")
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Output == nil || event.Output.MessageOutput == nil { // an event of another kind
			continue
		}
		message, err := event.Output.MessageOutput.GetMessage()
		fmt.Println(message.Content, err)
	}
	// Output: Water boils at 100 degrees Celsius. <nil>
}

// New is for options that are not known when the program is written.
func ExampleNew() {
	chatModel := exampleModel()
	limit := -time.Second // from a configuration file

	_, err := continuation.New(chatModel, continuation.WithIdleTimeout(limit))
	fmt.Println(err)
	// Output: continuation: WithIdleTimeout: -1s is not more than zero
}

// When the budget is used up, the error tells what has arrived and why it ends there.
func ExampleExhaustedError() {
	chat := continuation.Wrap(faultmodel.New(
		faultmodel.Script{faultmodel.Text("Water boils "), faultmodel.Reset()},
		faultmodel.Script{faultmodel.Text("at 100 deg"), faultmodel.UnexpectedEOF()},
	), continuation.WithMaxContinuations(1), exampleNoWait())

	_, err := exampleAsk(context.Background(), chat)

	exhausted := (*continuation.ExhaustedError)(nil)
	if errors.As(err, &exhausted) {
		fmt.Printf("%s after %d: %q\n", exhausted.Reason, exhausted.Attempts, exhausted.Partial.Content)
	}
	fmt.Println(errors.Is(err, continuation.ErrExhausted))
	// Output:
	// max_continuations after 1: "Water boils at 100 deg"
	// true
}

// The retry of an agent stands around the decorated model. It would ask for the whole answer again.
func ExampleExhaustedError_retry() {
	ctx := context.Background()
	chatModel := faultmodel.New(faultmodel.Script{faultmodel.Text("Water boils "), faultmodel.Reset()})

	chat := continuation.Wrap(chatModel, continuation.WithMaxContinuations(1), exampleNoWait())
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "engineer", Description: "answers questions about water", Model: chat,
		ModelRetryConfig: &adk.ModelRetryConfig{
			MaxRetries: 3,
			ShouldRetry: func(_ context.Context, r *adk.RetryContext) *adk.RetryDecision {
				return &adk.RetryDecision{Retry: r.Err != nil && !errors.Is(r.Err, continuation.ErrExhausted)}
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
		fmt.Println(errors.Is(event.Err, continuation.ErrExhausted))
	}
	fmt.Println("requests:", len(chatModel.Requests()))
	// Output:
	// false
	// true
	// requests: 2
}

// Most clients keep Retry-After and the reason of a broken body to themselves. The transport tells the decorator; it
// goes below the client, which hands every request and response through as before.
func ExampleNewTransport() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()

	client := &http.Client{Transport: continuation.NewTransport(http.DefaultTransport)}

	response, err := client.Get(server.URL) // as the chat model's client does
	if err != nil {
		fmt.Println(err)

		return
	}
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
	// Output: 418
}

// A thought that broke off before anything was said is followed by a new one. The message tells how much to skip.
func ExampleRepair() {
	message := &schema.Message{
		Role:             schema.Assistant,
		ReasoningContent: "They want the boiThey want the boiling point.",
		Content:          "100 degrees Celsius.",
		Extra:            map[string]any{continuation.ExtraReasoningSkip: len("They want the boi")},
	}

	fmt.Println(continuation.Repair(message).ReasoningContent)
	// Output: They want the boiling point.
}
