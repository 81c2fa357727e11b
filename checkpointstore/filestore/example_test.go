package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
)

// One process dies in the middle of an answer, another goes on with it.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "checkpoints")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store, err := filestore.New(dir)
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	first := checkpointstore.Checkpoint{RunID: "run-7", Owner: "host-1", Epoch: 1, Seq: 12, Text: "The answer is"}
	if err := store.Put(ctx, first); err != nil {
		panic(err)
	}

	// The second process claims the run with the next epoch.
	found, err := store.Get(ctx, "run-7")
	if err != nil {
		panic(err)
	}
	found.Owner, found.Epoch, found.Seq = "host-2", found.Epoch+1, 0
	if err := store.Put(ctx, found); err != nil {
		panic(err)
	}

	// The first one was not dead. It learns of it when it writes again.
	first.Seq++
	err = store.Put(ctx, first)
	fmt.Println(found.Text, errors.Is(err, checkpointstore.ErrStale))
	// Output: The answer is true
}
