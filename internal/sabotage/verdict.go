package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
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

// baseline demands that every named test exists and passes while nothing is broken.
func (r runner) baseline(ctx context.Context, table []sabotage) error {
	var errs []error
	done := map[target]bool{}
	for _, s := range table {
		restore, err := s.apply(r.dir) // finds a stale entry before the slow part starts
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := restore(); err != nil {
			return fmt.Errorf("restoring %s: %w", s.file, err)
		}
		if done[s.test] {
			continue
		}
		done[s.test] = true
		o, err := goTest(ctx, r.dir, s.test, r.limit)
		if err != nil {
			return err
		}
		if !o.green() {
			errs = append(errs, fmt.Errorf("sabotage %q: %s is not green without it (%d ran, %d passed)\n%s",
				s.name, s.test, len(o.ran), len(o.passed), indent(o.output)))
		}
	}
	return errors.Join(errs...)
}

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
	if err := goBuild(ctx, r.dir, s.ownPackage()); err != nil {
		res.verdict, res.detail, res.output = invalid, "does not compile", err.Error()
		return res, context.Cause(ctx)
	}
	o, err := goTest(ctx, r.dir, s.test, r.limit)
	if err != nil {
		return res, err
	}
	res.verdict, res.detail = judge(o)
	res.output = o.output
	return res, nil
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
