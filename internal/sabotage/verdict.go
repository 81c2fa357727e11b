package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// verdict says what became of one sabotage.
type verdict int

const (
	caught   verdict = iota // the named test went red
	survived                // the named test stayed green
	invalid                 // the entry proves nothing: it does not compile, or its test did not run
)

func (v verdict) String() string {
	switch v {
	case caught:
		return "caught"
	case survived:
		return "SURVIVED"
	case invalid:
		return "INVALID"
	default:
		return fmt.Sprintf("verdict(%d)", int(v))
	}
}

// result is one row of the report.
type result struct {
	sabotage
	verdict verdict
	detail  string // one line
	output  string // what the go command printed, for what was not caught
	took    time.Duration
}

// runner applies sabotages to the tree at dir, one at a time. The tree is the runner's own.
type runner struct {
	dir   string
	limit time.Duration // for one run of a test
	out   io.Writer
}

// tryAll lets the runners share the table. The results are in its order; the rows are printed as they come.
func tryAll(ctx context.Context, runners []runner, table []sabotage) ([]result, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		results  = make([]result, len(table))
		next     atomic.Int64
		printing sync.Mutex
		all      sync.WaitGroup
	)
	for _, r := range runners {
		all.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(table) {
					return
				}
				res, err := r.try(ctx, table[i])
				if err != nil {
					cancel(fmt.Errorf("sabotage %q: %w", table[i].name, err))
					return
				}
				results[i] = res
				printing.Lock()
				fmt.Fprintf(r.out, "%-8s  %5.1fs  %-60s  %s\n", res.verdict, res.took.Seconds(), res.name, res.detail)
				printing.Unlock()
			}
		})
	}
	all.Wait()
	return results, context.Cause(ctx)
}

// tries is how often a test may run before it is said to stay green: one of a race sees it in most of its runs, not in all.
const tries = 3

// try applies one sabotage, runs its test and puts the file back. An error means that the run cannot go on.
func (r runner) try(ctx context.Context, s sabotage) (res result, err error) {
	start := time.Now()
	res.sabotage = s
	restore, err := s.apply(r.dir)
	if err != nil {
		return res, err
	}
	defer func() {
		err = errors.Join(err, restore())
		res.took = time.Since(start)
	}()
	var o outcome
	for range tries {
		if o, err = goTest(ctx, r.dir, []target{s.test}, r.limit); err != nil {
			return res, err
		}
		res.verdict, res.detail = judge(o)
		if res.output = o.output; res.verdict != survived {
			break
		}
	}
	if o.buildFailed { // of the changed code, or of its test?
		if err := goBuild(ctx, r.dir, s.ownPackage()); err != nil {
			res.detail, res.output = "does not compile", err.Error()
		}
	}
	return res, context.Cause(ctx)
}

// judge reads a test run as a verdict on the sabotage that was in place.
func judge(o outcome) (verdict, string) {
	switch {
	case o.buildFailed:
		return invalid, "the test does not compile"
	case len(o.ran) == 0:
		return invalid, "the named test did not run"
	case o.timedOut:
		return caught, "hang in " + o.ran[len(o.ran)-1]
	case len(o.failed) > 0:
		return caught, deepest(o.failed)
	case o.crashed() != "":
		return caught, "crash in " + o.crashed()
	default:
		return survived, o.ran[0] + " stayed green" // also if the process failed after it: that was not the test
	}
}

// deepest picks the subtest that failed first: it says more than its parent.
func deepest(tests []string) string {
	best := tests[0]
	for _, t := range tests {
		if strings.Count(t, "/") > strings.Count(best, "/") {
			best = t
		}
	}
	return best
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n\t")
}
