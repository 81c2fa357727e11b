package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcome is what one `go test -json` run showed.
type outcome struct {
	tests          []target // others, and the parents of these, do not count below
	ran, ended     []string // names of tests
	passed, failed []string // some of ended
	buildFailed    bool
	timedOut       bool
	exit           error // not nil: the command did not succeed
	output         string
}

// crashed names the test that was running when its process ended, and is empty if none was.
func (o outcome) crashed() string {
	for _, t := range slices.Backward(o.ran) {
		if o.exit != nil && !slices.Contains(o.ended, t) {
			return t
		}
	}
	return ""
}

// green reports whether at least one test passed and none failed.
func (o outcome) green() bool { return o.exit == nil && len(o.passed) > 0 && len(o.failed) == 0 }

// goTest runs tests, which are of one suite, in the tree at dir. The test binary ends itself after limit. A red test is
// not an error.
func goTest(ctx context.Context, dir string, tests []target, limit time.Duration) (outcome, error) {
	patterns := make([]string, len(tests))
	for i, t := range tests {
		patterns[i] = exact(t.run)
	}
	of := tests[0].suite
	args := []string{
		"test", "-json", "-count=1", "-timeout=" + limit.String(), "-run=" + strings.Join(patterns, "|"),
		"-vet=off", "-gcflags=-N -l -dwarf=false", "-ldflags=-w", // what is run once must be built fast, not run fast
	}
	if of.race {
		args = append(args, "-race")
	}
	cmd := goCommand(ctx, dir, append(args, of.pkg)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	exit := cmd.Run()
	if ctx.Err() != nil {
		return outcome{}, context.Cause(ctx)
	}
	if failed := (*exec.ExitError)(nil); exit != nil && !errors.As(exit, &failed) {
		return outcome{}, fmt.Errorf("go test %s: %w", of.pkg, exit)
	}
	o, err := readEvents(&stdout, tests)
	if err != nil {
		return outcome{}, fmt.Errorf("go test %s: %w\n%s", of.pkg, err, stderr.String())
	}
	o.exit = exit
	o.output += stderr.String()
	return o, nil
}

// exact makes a pattern for -run match whole names, so that TestJoin does not stand in for TestJoinEmpty.
func exact(run string) string {
	parts := strings.Split(run, "/")
	for i, part := range parts {
		parts[i] = "^(?:" + part + ")$"
	}
	return strings.Join(parts, "/")
}

// goBuild compiles pkg and its dependencies; the error holds what the compiler said.
func goBuild(ctx context.Context, dir, pkg string) error {
	out, err := goCommand(ctx, dir, "build", pkg).CombinedOutput()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return nil
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK="+workspace(dir))
	cmd.WaitDelay = 5 * time.Second // a test binary left behind may hold the pipe
	return cmd
}

// workspace is the value of GOWORK that keeps the go command inside the tree, whatever it is outside.
func workspace(dir string) string {
	file, err := filepath.Abs(filepath.Join(dir, "go.work"))
	if err != nil {
		return "off"
	}
	if _, err := os.Stat(file); err != nil {
		return "off"
	}
	return file
}

// event is one line of `go test -json`, as `go doc test2json` describes it.
type event struct {
	Action, Test, Output string
}

func readEvents(r io.Reader, tests []target) (outcome, error) {
	o := outcome{tests: tests}
	var output strings.Builder
	for lines := json.NewDecoder(r); ; {
		var e event
		err := lines.Decode(&e)
		if err == io.EOF {
			break
		}
		if err != nil {
			return outcome{}, fmt.Errorf("reading the test events: %w", err)
		}
		output.WriteString(e.Output)
		o.add(e)
	}
	o.output = output.String()
	o.timedOut = strings.Contains(o.output, "panic: test timed out after")
	return o, nil
}

func (o *outcome) add(e event) {
	if e.Action == "build-fail" {
		o.buildFailed = true
	}
	if !slices.ContainsFunc(o.tests, func(t target) bool { return t.matches(e.Test) }) { // of the package, or of a parent
		return
	}
	switch e.Action {
	case "run":
		o.ran = append(o.ran, e.Test)
	case "pass":
		o.passed = append(o.passed, e.Test)
		o.ended = append(o.ended, e.Test)
	case "fail":
		o.failed = append(o.failed, e.Test)
		o.ended = append(o.ended, e.Test)
	case "skip":
		o.ended = append(o.ended, e.Test)
	}
}
