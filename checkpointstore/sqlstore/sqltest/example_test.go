package sqltest_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
)

func Example() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:example?mode=memory&cache=shared&_pragma=busy_timeout(5000)")
	if err != nil {
		panic(err)
	}
	defer func() { _ = db.Close() }()
	store, err := sqlstore.New(db, sqlstore.SQLite)
	if err != nil {
		panic(err)
	}
	if err := store.Migrate(ctx); err != nil {
		panic(err)
	}

	if err := store.Put(ctx, checkpointstore.Checkpoint{RunID: "run-7", Text: "The answer is"}); err != nil {
		panic(err)
	}
	c, err := store.Get(ctx, "run-7")
	fmt.Println(c.Text, err)
	// Output: The answer is <nil>
}
