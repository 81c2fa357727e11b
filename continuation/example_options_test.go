package continuation_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// Events are structs: a handler picks those that it wants.
func ExampleWithHandler() {
	chatModel := exampleModel()

	handler := callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
		switch e := e.(type) {
		case callbacks.Interrupted:
			fmt.Println("broke:", e.Cause, "plan:", e.Plan)
		case callbacks.Joined:
			fmt.Println("joined:", e.Kind, e.Confidence)
		case callbacks.Completed:
			fmt.Println("whole:", e.CompletionReason)
		}
	})
	chat := continuation.Wrap(chatModel, continuation.WithHandler(handler), exampleNoWait())

	fmt.Println(exampleAsk(context.Background(), chat))
	// Output:
	// broke: connection_reset plan: ContinueText
	// joined: plain medium
	// whole: stop
	// Water boils at 100 degrees Celsius. <nil>
}

// The run id of the context is on every event.
func ExampleContextWithRunID() {
	handler := callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) { fmt.Println(e.Name(), e.Of().RunID) })
	chat := continuation.Wrap(exampleModel(), continuation.WithHandler(handler), exampleNoWait())

	ctx := continuation.ContextWithRunID(context.Background(), "run-7")
	if _, err := exampleAsk(ctx, chat); err != nil {
		fmt.Println(err)
	}
	// Output:
	// llm_stream_interrupted run-7
	// llm_stream_continuation_started run-7
	// llm_stream_joined run-7
	// llm_stream_continuation_completed run-7
	// llm_stream_ended run-7
}

// An agent that speaks another language is asked in it.
func ExampleWithPrompt() {
	chatModel := exampleModel()

	chat := continuation.Wrap(chatModel, continuation.WithPrompt(func(i continuation.Interruption) string {
		return fmt.Sprintf("Die Verbindung ist abgebrochen (%s). Schreib genau dort weiter.", i.Cause)
	}), exampleNoWait())

	fmt.Println(exampleAsk(context.Background(), chat))
	for _, m := range chatModel.Requests()[1].Messages {
		fmt.Printf("%s: %s\n", m.Role, m.Content)
	}
	// Output:
	// Water boils at 100 degrees Celsius. <nil>
	// user: When does water boil?
	// assistant: Water boils at 100 deg
	// user: Die Verbindung ist abgebrochen (connection_reset). Schreib genau dort weiter.
}

// A provider that writes on from a trailing assistant message needs no prompt. Some want that message marked.
func ExamplePrefillWith() {
	chatModel := exampleModel()

	mark := func(m *schema.Message) { m.Extra = map[string]any{"prefix": true} }
	chat := continuation.Wrap(chatModel, continuation.WithDialect(continuation.PrefillWith(mark)), exampleNoWait())

	fmt.Println(exampleAsk(context.Background(), chat))
	for _, m := range chatModel.Requests()[1].Messages {
		fmt.Println(m.Role, m.Content, m.Extra)
	}
	// Output:
	// Water boils at 100 degrees Celsius. <nil>
	// user When does water boil? map[]
	// assistant Water boils at 100 deg map[prefix:true]
}

// errGatewayDrained is what a gateway of one's own says when it is about to stop.
var errGatewayDrained = errors.New("gateway drained")

// A classifier of one's own knows one's own errors and leaves the others to the default one.
func ExampleWithClassifier() {
	chatModel := faultmodel.New(
		faultmodel.Script{faultmodel.OpenFail(errGatewayDrained)},
		faultmodel.Script{faultmodel.Text("At 100 degrees Celsius."), faultmodel.Finish("stop")},
	)

	classify := func(err error) continuation.Class {
		if errors.Is(err, errGatewayDrained) {
			return continuation.Class{Kind: continuation.Transient, Cause: callbacks.CauseConnectionReset}
		}

		return continuation.DefaultClassifier(err)
	}
	chat := continuation.Wrap(chatModel, continuation.WithClassifier(classify), exampleNoWait())

	fmt.Println(exampleAsk(context.Background(), chat))
	// Output: At 100 degrees Celsius. <nil>
}

// Generate is recovered only if it may stream below.
func ExampleWithStreamingGenerate() {
	chatModel := exampleModel()

	chat := continuation.Wrap(chatModel, continuation.WithStreamingGenerate(), exampleNoWait())

	message, err := chat.Generate(context.Background(), []*schema.Message{schema.UserMessage("When does water boil?")})
	if err != nil {
		fmt.Println(err)

		return
	}
	fmt.Println(message.Content)
	fmt.Println("continuations:", message.Extra[continuation.ExtraContinuations])
	// Output:
	// Water boils at 100 degrees Celsius.
	// continuations: 1
}
