package continuation_test

import (
	"context"
	"fmt"
	"os"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func ExampleWithCheckpoints() {
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // an example
	answer := fm.Script{fm.Text("Water boils at "), fm.Text("100 degrees."), fm.Finish("stop")}

	// The first process ends in mid answer.
	if err := answerUnder(context.Background(), fm.Continuer(answer), dir, 1); err != nil {
		panic(err)
	}
	// The next one is asked the same.
	second := fm.Continuer(answer)
	if err := answerUnder(context.Background(), second, dir, 10); err != nil {
		panic(err)
	}
	fmt.Println("its model was asked to go on from:", second.Requests()[0].Messages[1].Content)
	// Output:
	// "Water boils at "
	// "Water boils at 100 degrees."
	// its model was asked to go on from: Water boils at
}

// answerUnder prints the first chunks of an answer, and leaves it.
func answerUnder(ctx context.Context, chatModel model.BaseChatModel, dir string, chunks int) error {
	messages := []*schema.Message{schema.UserMessage("When does water boil?")}
	store, err := filestore.New(dir)
	if err != nil {
		return err
	}
	chat := continuation.Wrap(chatModel, continuation.WithCheckpoints(store))
	ctx = continuation.ContextWithRunID(ctx, "order-4711/answer")
	stream, err := chat.Stream(ctx, messages)
	if err != nil {
		return err
	}
	text := ""
	for range chunks {
		m, err := stream.Recv()
		if err != nil {
			break
		}
		text += m.Content
	}
	fmt.Printf("%q\n", text)
	stream.Close()

	return chat.Drain(ctx) // the last write is under way, and the process is about to end
}
