package continuation_test

import (
	"context"
	"fmt"
	"log"
	"syscall"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
)

func Example() {
	chat := continuation.Wrap(&flaky{}) // this line is all

	reader, err := chat.Stream(context.Background(), []*schema.Message{schema.UserMessage("When does water boil?")})
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()

	chunk, err := reader.Recv()
	for ; err == nil; chunk, err = reader.Recv() {
		fmt.Printf("%q ", chunk.Content)
	}
	fmt.Println(err)
	// Output: "Water boils at 100 deg" "rees Celsius." "" EOF
}

// flaky is a chat model that loses its connection in mid word. Asked for the rest, it goes on.
type flaky struct {
	model.BaseChatModel
	asked int
}

func (f *flaky) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](2)
	defer w.Close()
	if f.asked++; f.asked == 1 {
		w.Send(schema.AssistantMessage("Water boils at 100 deg", nil), nil)
		w.Send(nil, syscall.ECONNRESET)
	} else {
		w.Send(schema.AssistantMessage("rees Celsius.", nil), nil)
		w.Send(&schema.Message{ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}, nil)
	}

	return r, nil
}
