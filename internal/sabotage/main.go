// Command sabotage checks that the tests bite. It copies the tree, breaks one line at a time as sabotage.txt says, and
// demands that the test named for that line goes red. A sabotage that no test notices, that does not compile, or whose
// old text is gone makes the command fail.
//
// Run it in the root of the repository, with git and the go command at hand:
//
//	go run ./internal/sabotage
//	go run ./internal/sabotage -only 'prefix|budget'
//
// It works in two copies at once, since much of what the go command does for one sabotage keeps a single core busy.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sabotage:", err)
		os.Exit(1)
	}
}

// run is main without the process: it returns an error where the command would exit with 1.
func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("sabotage", flag.ContinueOnError)
	root := flags.String("root", ".", "root of the repository")
	file := flags.String("table", "internal/sabotage/sabotage.txt", "the table")
	only := flags.String("only", "", "regular expression: only the sabotages whose name matches")
	limit := flags.Duration("timeout", 2*time.Minute, "limit of one test run; a hang counts as red")
	copies := flags.Int("copies", 2, "copies of the tree that are sabotaged at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *copies < 1 {
		return fmt.Errorf("-copies: %d is less than 1", *copies)
	}
	table, err := loadTable(*file, *only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "sabotage")
	if err != nil {
		return fmt.Errorf("making a folder for the copy: %w", err)
	}
	runners := make([]runner, min(*copies, len(table)))
	for i := range runners {
		runners[i] = runner{dir: filepath.Join(dir, strconv.Itoa(i)), limit: *limit, out: out}
	}
	err = sabotageCopies(ctx, *root, runners, table)
	return errors.Join(err, os.RemoveAll(dir))
}

func loadTable(file, only string) ([]sabotage, error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-only: %w", err)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	table, err := readTable(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	table = slices.DeleteFunc(table, func(s sabotage) bool { return !pattern.MatchString(s.name) })
	if len(table) == 0 {
		return nil, fmt.Errorf("%s: no name matches %q", file, only)
	}
	return table, nil
}

func sabotageCopies(ctx context.Context, root string, runners []runner, table []sabotage) error {
	for _, r := range runners {
		if err := copyTree(ctx, root, r.dir); err != nil {
			return err
		}
	}
	out := runners[0].out
	fmt.Fprintf(out, "sabotage: %d entries; first their tests without any\n", len(table))
	if err := runners[0].baseline(ctx, table); err != nil {
		return err
	}
	results, err := tryAll(ctx, runners, table)
	if err != nil {
		return err
	}
	return report(out, results)
}

// report prints why the rows that are not caught are not, and the count. One of them is an error.
func report(out io.Writer, results []result) error {
	counts := map[verdict]int{}
	for _, res := range results {
		counts[res.verdict]++
		if res.verdict != caught {
			fmt.Fprintf(out, "\n%s: %s (table line %d, %s, %s)\n%s\n",
				res.verdict, res.name, res.line, res.file, res.test, indent(res.output))
		}
	}
	fmt.Fprintf(out, "sabotage: %d caught, %d survived, %d invalid, of %d\n",
		counts[caught], counts[survived], counts[invalid], len(results))
	if counts[caught] < len(results) {
		return fmt.Errorf("%d of %d sabotages were not caught", len(results)-counts[caught], len(results))
	}
	return nil
}
