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

// An agentic model searches and answers; the stream breaks in the middle of the answer. The search is not made again.
func ExampleNewTyped() {
	var agenticModel model.AgenticModel = &flakyAgentic{}
	chat, err := continuation.NewTyped(agenticModel)
	if err != nil {
		log.Fatal(err)
	}

	reader, err := chat.Stream(context.Background(), []*schema.AgenticMessage{schema.UserAgenticMessage("When does water boil?")})
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()

	chunk, err := reader.Recv()
	for ; err == nil; chunk, err = reader.Recv() {
		for _, block := range chunk.ContentBlocks {
			fmt.Printf("%d %s%s\n", block.StreamingMeta.Index, block.Type, blockText(block))
		}
	}
	fmt.Println(err)
	// Output:
	// 0 server_tool_call
	// 1 server_tool_result
	// 2 assistant_gen_text "Water boils at 100 deg"
	// 2 assistant_gen_text "rees Celsius."
	// EOF
}

func blockText(b *schema.ContentBlock) string {
	if b.AssistantGenText == nil {
		return ""
	}

	return fmt.Sprintf(" %q", b.AssistantGenText.Text)
}

// flakyAgentic is an agentic model that loses its connection in mid word. Asked for the rest, it goes on.
type flakyAgentic struct {
	model.AgenticModel
	asked int
}

func (f *flakyAgentic) Stream(
	context.Context, []*schema.AgenticMessage, ...model.Option,
) (*schema.StreamReader[*schema.AgenticMessage], error) {
	r, w := schema.Pipe[*schema.AgenticMessage](4)
	defer w.Close()
	if f.asked++; f.asked == 1 {
		send(w, 0, schema.NewContentBlock(&schema.ServerToolCall{Name: "web_search", CallID: "1", Arguments: "boiling point"}))
		send(w, 1, schema.NewContentBlock(&schema.ServerToolResult{Name: "web_search", CallID: "1", Content: "100 °C"}))
		send(w, 2, schema.NewContentBlock(&schema.AssistantGenText{Text: "Water boils at 100 deg"}))
		w.Send(nil, syscall.ECONNRESET)
	} else {
		send(w, 0, schema.NewContentBlock(&schema.AssistantGenText{Text: "rees Celsius."}))
		w.Send(&schema.AgenticMessage{ResponseMeta: &schema.AgenticResponseMeta{Extension: &ended{FinishReason: "stop"}}}, nil)
	}

	return r, nil
}

// ended is what this model says of its response.
type ended struct{ FinishReason string }

func send(w *schema.StreamWriter[*schema.AgenticMessage], index int, b *schema.ContentBlock) {
	b.StreamingMeta = &schema.StreamingMeta{Index: index}
	w.Send(&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{b}}, nil)
}
