package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// baseline demands that every named test exists and passes while nothing is broken.
func (r runner) baseline(ctx context.Context, table []sabotage) error {
	var errs []error
	suites := map[suite][]target{}
	for _, s := range table {
		restore, err := s.apply(r.dir) // finds a stale entry before the slow part starts
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := restore(); err != nil {
			return fmt.Errorf("restoring %s: %w", s.file, err)
		}
		if of := s.test.suite; !slices.Contains(suites[of], s.test) {
			suites[of] = append(suites[of], s.test)
		}
	}
	for _, tests := range suites {
		err := r.baselineOf(ctx, tests)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// baselineOf runs all tests of a suite at once. Only if something is wrong it runs each of them alone, to tell which.
func (r runner) baselineOf(ctx context.Context, tests []target) error {
	o, err := goTest(ctx, r.dir, tests, r.limit)
	if err != nil {
		return err
	}
	if o.green() && !slices.ContainsFunc(tests, func(t target) bool { return !slices.ContainsFunc(o.passed, t.matches) }) {
		return nil
	}
	var errs []error
	for _, t := range tests {
		o, err := goTest(ctx, r.dir, []target{t}, r.limit)
		if err != nil {
			return err
		}
		if !o.green() {
			errs = append(errs, fmt.Errorf("%s is not green without a sabotage (%d ran, %d passed)\n%s",
				t, len(o.ran), len(o.passed), indent(o.output)))
		}
	}
	return errors.Join(errs...)
}
