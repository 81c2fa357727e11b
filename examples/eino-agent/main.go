// Eino-agent is an ordinary Eino agent whose model breaks off again and again, and whose answers arrive whole all the
// same. It needs no key and no network: a provider that breaks its streams on purpose is built in.
//
//	go run ./examples/eino-agent           # watch streams break and heal
//	go run ./examples/eino-agent --plain   # the same without carryon
//	go run ./examples/eino-agent --help    # more
//
// It exits with 0 if every answer arrived whole, with 1 if one did not, and with 130 if it was interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const (
	exitOK        = 0
	exitFailure   = 1
	exitInterrupt = 130
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	p := program{out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv, tempo: defaultTempo()}
	os.Exit(p.run(ctx, os.Args[1:]))
}

// program is what a run depends on.
type program struct {
	out, errOut io.Writer
	getenv      func(string) string
	tempo       tempo
}

// run returns the exit code.
func (p program) run(ctx context.Context, args []string) int {
	set, err := parseSettings(args, p.out)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err == nil {
		err = p.show(ctx, set)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(p.errOut, "eino-agent: %v\n", err)
	if ctx.Err() != nil {
		return exitInterrupt
	}

	return exitFailure
}
