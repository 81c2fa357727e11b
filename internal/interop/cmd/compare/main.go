// Command compare breaks the same answers in the same ways for three models: the bare client, the client under Eino's own
// retry, and the client under carryon, each as the model of an agent, and prints what came of them side by side.
//
//	go run ./internal/interop/cmd/compare            # as README.md has it
//	go run ./internal/interop/cmd/compare -seed 7    # other faults
//
// Everything but the time is the same in every run with one seed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "compare:", err) // there is nobody else to tell.
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, w io.Writer) error {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	seed := flags.Uint64("seed", 1, "which faults")
	answers := flags.Int("answers", 60, "how many answers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cases := scenario(*seed, *answers)
	var rows []row
	for _, way := range ways() {
		r, err := measure(ctx, way, cases)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		rows = append(rows, r)
	}

	return table(w, rows)
}
