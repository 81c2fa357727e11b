package checkpointstore_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

// Two processes find the same unfinished run. Both claim it; one of them has it.
func Example_claim() {
	ctx := context.Background()
	store := memstore.New()
	if err := store.Put(ctx, checkpointstore.Checkpoint{RunID: "run-7", Owner: "dead", Epoch: 1, Seq: 12, Text: "The answer"}); err != nil {
		panic(err)
	}

	found, err := store.Get(ctx, "run-7")
	if err != nil {
		panic(err)
	}
	for _, process := range []string{"host-1", "host-2"} {
		claim := found
		claim.Owner, claim.Epoch, claim.Seq = process, found.Epoch+1, 0
		err := store.Put(ctx, claim)
		fmt.Println(process, "lost:", errors.Is(err, checkpointstore.ErrStale))
	}
	// Output:
	// host-1 lost: false
	// host-2 lost: true
}

// What a store would leave out is told before.
func ExampleNormalize() {
	c, leftOut := checkpointstore.Normalize(checkpointstore.Checkpoint{
		RunID: "run-7",
		Extra: map[string]any{"signature": []byte{1}, "retries": 3, "clock": make(chan int)},
	})
	fmt.Printf("%T %T %v\n", c.Extra["signature"], c.Extra["retries"], leftOut)
	// Output: []uint8 int64 [Extra["clock"]]
}
