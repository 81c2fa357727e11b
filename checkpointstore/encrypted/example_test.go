package encrypted_test

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/encrypted"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
)

func ExampleNew() {
	key := make([]byte, encrypted.KeyBytes) // from a secret manager, in earnest
	if _, err := rand.Read(key); err != nil {
		panic(err)
	}
	inner := memstore.New()
	store, err := encrypted.New(inner, key)
	if err != nil {
		panic(err)
	}

	ctx := context.Background()
	if err := store.Put(ctx, checkpointstore.Checkpoint{RunID: "run-7", Text: "The answer is"}); err != nil {
		panic(err)
	}
	below, err := inner.Get(ctx, "run-7")
	fmt.Printf("%q %v\n", below.Text, err)
	c, err := store.Get(ctx, "run-7")
	fmt.Printf("%q %v\n", c.Text, err)
	// Output:
	// "" <nil>
	// "The answer is" <nil>
}
