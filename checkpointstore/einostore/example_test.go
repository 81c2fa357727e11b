package einostore_test

import (
	"context"
	"fmt"
	"log"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore/einostore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// One store serves Eino, which keeps the graph that is interrupted on purpose, and carryon, which keeps the answer.
func Example() {
	shared := deleting{newEino()} // what you give Eino
	store := einostore.New(shared)
	chat := continuation.Wrap(fm.New(fm.Script{fm.Text("Water boils at 100 degrees."), fm.Finish("stop")}),
		continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))

	ctx := continuation.ContextWithRunID(context.Background(), "order-1")
	graph := compose.NewChain[[]*schema.Message, *schema.Message]().AppendChatModel(chat).
		AppendLambda(compose.InvokableLambda(func(_ context.Context, m *schema.Message) (*schema.Message, error) { return m, nil }), compose.WithNodeKey("approve"))
	run, err := graph.Compile(ctx, compose.WithCheckPointStore(shared), compose.WithInterruptBeforeNodes([]string{"approve"}))
	if err != nil {
		log.Fatal(err)
	}
	_, err = run.Stream(ctx, []*schema.Message{schema.UserMessage("When does water boil?")}, compose.WithCheckPointID("order-1"))
	_, interrupted := compose.ExtractInterruptInfo(err)
	fmt.Println("interrupted:", interrupted)
	for _, id := range shared.ids() {
		fmt.Println(id)
	}

	out, err := run.Stream(ctx, nil, compose.WithCheckPointID("order-1")) // approved
	if err != nil {
		log.Fatal(err)
	}
	defer out.Close()
	m, err := out.Recv()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Content)
	if err := continuation.Commit(ctx, store, "order-1"); err != nil {
		log.Fatal(err)
	}
	for _, id := range shared.ids() {
		fmt.Println(id)
	}
	// Output:
	// interrupted: true
	// carryon/order-1/e2eaf4280db4
	// order-1
	// Water boils at 100 degrees.
	// order-1
}
