package memstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

func ExampleNew() {
	ctx := context.Background()
	store := memstore.New()
	if err := store.Put(ctx, checkpointstore.Checkpoint{RunID: "run-7", Text: "The answer is"}); err != nil {
		panic(err)
	}
	c, err := store.Get(ctx, "run-7")
	fmt.Println(c.Text, err)
	_, err = store.Get(ctx, "run-8")
	fmt.Println(errors.Is(err, checkpointstore.ErrNotFound))
	// Output:
	// The answer is <nil>
	// true
}
