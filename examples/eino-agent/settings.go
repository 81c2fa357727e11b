package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/eino-carryon/carryon/checkpointstore"
)

const (
	providerEmbedded = "embedded"
	providerOpenAI   = "openai"
)

// settings are what the command line says.
type settings struct {
	fault    string
	seed     uint64
	noColour bool
	plain    bool
	breaker  bool
	log      string // the file's path; empty if none is wanted
	provider string

	checkpoint string // the kind of store; empty if nothing is kept
	store      string // where it is; empty if the environment or nobody says
	runID      string
	crashAfter int // chunks; 0 if it is not to crash
}

// parseSettings reads the command line. Asked for help, it writes it to out and returns [flag.ErrHelp].
func parseSettings(args []string, out io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("eino-agent", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors are returned, and help is written below
	flags.StringVar(&s.fault, "fault", faultAll, "")
	flags.Uint64Var(&s.seed, "seed", 1, "")
	flags.BoolVar(&s.noColour, "no-color", false, "")
	flags.BoolVar(&s.plain, "plain", false, "")
	flags.BoolVar(&s.breaker, "breaker", false, "")
	flags.StringVar(&s.log, "log", "", "")
	flags.StringVar(&s.provider, "provider", providerEmbedded, "")
	flags.StringVar(&s.checkpoint, "checkpoint", "", "")
	flags.StringVar(&s.store, "store", "", "")
	flags.StringVar(&s.runID, "run-id", "", "")
	flags.IntVar(&s.crashAfter, "crash-after", 0, "")
	if err := flags.Parse(args); err != nil {
		if err == flag.ErrHelp { //nolint:errorlint // it is returned as it is
			writeHelp(out)
		}

		return s, err
	}

	return s, s.check(flags.Args())
}

func (s settings) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q, see --help", rest[0])
	case s.plain && s.log != "":
		return errors.New("--plain has no events that --log could write")
	case s.breaker && (s.plain || s.provider != providerEmbedded || s.fault != faultAll):
		return errors.New("--breaker is a show of its own: it goes with --log and --no-color only")
	case s.checkpoint != "" || s.store != "" || s.runID != "" || s.crashAfter != 0:
		return s.checkTakeover()
	case s.provider != providerEmbedded && s.provider != providerOpenAI:
		return fmt.Errorf("unknown provider %q: it is %s or %s", s.provider, providerEmbedded, providerOpenAI)
	case !slices.Contains(faultNames(), s.fault):
		return fmt.Errorf("unknown fault %q: it is one of %s", s.fault, strings.Join(faultNames(), ", "))
	}

	return nil
}

func (s settings) checkTakeover() error {
	switch {
	case s.checkpoint == "":
		return errors.New("--store, --run-id and --crash-after need --checkpoint")
	case !slices.Contains(storeNames(), s.checkpoint):
		return fmt.Errorf("unknown store %q: it is one of %s", s.checkpoint, strings.Join(storeNames(), ", "))
	case s.plain || s.breaker || s.provider != providerEmbedded || s.fault != faultAll:
		return errors.New("--checkpoint is a show of its own: it goes with --run-id, --crash-after, --store, --log and --no-color only")
	case s.crashAfter < 0:
		return errors.New("--crash-after is less than 0")
	default:
		if err := checkpointstore.ValidateRunID(s.runID); err != nil {
			return fmt.Errorf("--run-id: %w", err)
		}

		return nil
	}
}

func writeHelp(out io.Writer) {
	fmt.Fprint(out, `An Eino agent whose model breaks off again and again, and whose answers arrive whole.

Usage: go run ./examples/eino-agent [flags]
       go run ./examples/eino-agent stats [--json] FILE    what a log of --log tells; see stats --help

  --fault kind      how answers break (default all):
                      all             a different way in each turn
                      none            not at all
`)
	for _, k := range faultKinds() {
		fmt.Fprintf(out, "                      %-15s %s\n", k.name, k.help)
	}
	fmt.Fprint(out, `  --seed n          where they break (default 1); the same number breaks them at the same bytes
  --plain           the same without carryon, to see it fail
  --breaker         something else: a circuit breaker before a provider that is ill for a while
  --checkpoint kind something else: an answer that outlives its process, kept under --run-id in a store:
                    sqlite, file, redis, nats or postgres
  --run-id id       which answer; the same one again goes on with it
  --crash-after n   kills the process behind n chunks
  --store address   where the store is: a path, or the address of the server (default: in the temporary
                    directory; of REDIS_ADDR, NATS_URL or DATABASE_URL; on localhost)
  --log file        writes the structured log there, as JSON lines
  --provider name   embedded (default) or openai: a real endpoint, which breaks when it pleases; reads
                    OPENAI_API_KEY, OPENAI_BASE_URL (default: the vendor's) and OPENAI_MODEL (default: gpt-4o-mini)
  --no-color        no colours; NO_COLOR does the same, and so does a pipe
`)
}
