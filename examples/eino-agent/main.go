// Eino-agent is an ordinary Eino agent whose model breaks off again and again, and whose answers arrive whole all the
// same. It needs no key and no network: a provider that breaks its streams on purpose is built in.
//
//	go run ./examples/eino-agent                   # watch streams break and heal
//	go run ./examples/eino-agent --plain           # the same without carryon
//	go run ./examples/eino-agent --breaker         # a circuit breaker before a provider that is ill
//	go run ./examples/eino-agent --checkpoint sqlite --run-id demo --crash-after 40    # dies; without the last flag it goes on
//	go run ./examples/eino-agent --log run.jsonl   # writes the structured log, too
//	go run ./examples/eino-agent stats run.jsonl   # what such a log tells
//	go run ./examples/eino-agent --help            # more
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
	exitKilled    = 137
)

func main() {
	ctx, args := context.Background(), os.Args[1:]
	if !isStats(args) { // which may sit reading the terminal: there the first Ctrl-C ends it
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, os.Interrupt)
		context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	}
	p := program{in: os.Stdin, out: os.Stdout, errOut: os.Stderr, getenv: os.Getenv, tempo: defaultTempo(), die: killed}
	os.Exit(p.run(ctx, args))
}

// program is what a run depends on.
type program struct {
	in          io.Reader
	out, errOut io.Writer
	getenv      func(string) string
	tempo       tempo
	die         func() // without a chance to tidy up
}

// run returns the exit code.
func (p program) run(ctx context.Context, args []string) int {
	err := p.obey(ctx, args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintf(p.errOut, "eino-agent: %v\n", err)
	if ctx.Err() != nil {
		return exitInterrupt
	}

	return exitFailure
}

func isStats(args []string) bool { return len(args) > 0 && args[0] == statsCommand }

// obey does what the command line asks for.
func (p program) obey(ctx context.Context, args []string) (err error) {
	if isStats(args) {
		return p.stats(ctx, args[1:])
	}
	set, err := parseSettings(args, p.out)
	if err != nil {
		return err
	}
	log, err := openRecordLog(set.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if set.checkpoint != "" {
		return p.showTakeover(ctx, set, log)
	}
	if set.breaker {
		return p.showBreaker(ctx, set, log)
	}

	return p.show(ctx, set, log)
}
