package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/eino-carryon/carryon/callbacks"
)

const (
	statsCommand = "stats"
	standardIn   = "-"
)

// stats computes what happened from a log.
func (p program) stats(ctx context.Context, args []string) error {
	asJSON, path, err := parseStats(args)
	if errors.Is(err, flag.ErrHelp) {
		writeStatsHelp(p.out)
	}
	if err != nil {
		return err
	}
	in := p.in
	if path != standardIn {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	counted := callbacks.NewStats()
	replayed, err := callbacks.Replay(ctx, in, counted)
	if err != nil {
		return err
	}
	s := logStats{models: counted.Models(), total: counted.Total(), log: replayed}
	if asJSON {
		return s.writeJSON(p.out)
	}
	s.write(p.out, newPalette(hasColours(p.out, p.getenv)))

	return nil
}

// parseStats reads what follows the word stats. The flag may stand before or behind the file.
func parseStats(args []string) (asJSON bool, path string, err error) {
	flags := flag.NewFlagSet("eino-agent stats", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&asJSON, "json", false, "")
	if err := flags.Parse(args); err != nil {
		return false, "", err
	}
	path = flags.Arg(0)
	if flags.NArg() > 1 {
		if err := flags.Parse(flags.Args()[1:]); err != nil {
			return false, "", err
		}
		if flags.NArg() > 0 {
			return false, "", fmt.Errorf("unexpected argument %q, see stats --help", flags.Arg(0))
		}
	}
	if path == "" {
		return false, "", errors.New("stats needs the name of a log, or - for the standard input")
	}

	return asJSON, path, nil
}

func writeStatsHelp(out io.Writer) {
	fmt.Fprint(out, `What a structured log tells of broken streams, by provider and model.

Usage: go run ./examples/eino-agent stats [--json] FILE

FILE is a log of JSON lines, as --log writes it, or as callbacks.Slog does with a slog.JSONHandler of a program of your
own; - is the standard input. Other records in it are passed over. Lines that cannot be read are counted and named.

  --json            the numbers as JSON; "go doc ./callbacks ModelStats" says what they are
`)
}

// logStats are the numbers of a log.
type logStats struct {
	models []callbacks.ModelStats
	total  callbacks.ModelStats
	log    callbacks.Replayed
}

// rated are the numbers of a model with their rate, which is null if it is not known.
type rated struct {
	callbacks.ModelStats
	RecoveryRate *float64 `json:"recovery_rate"`
}

func withRate(m callbacks.ModelStats) rated {
	r := rated{ModelStats: m}
	if rate, known := m.RecoveryRate(); known {
		r.RecoveryRate = &rate
	}

	return r
}

func (s logStats) writeJSON(out io.Writer) error {
	type badLine struct {
		Line  int    `json:"line"`
		Error string `json:"error"`
	}
	type log struct {
		Events   int       `json:"events"`
		Others   int       `json:"other_records"`
		BadLines int       `json:"bad_lines"`
		Bad      []badLine `json:"bad"`
	}
	doc := struct {
		Models []rated `json:"models"`
		Total  rated   `json:"total"`
		Log    log     `json:"log"`
	}{
		Models: []rated{}, Total: withRate(s.total),
		Log: log{Events: s.log.Events, Others: s.log.Others, BadLines: s.log.BadLines, Bad: []badLine{}},
	}
	for _, m := range s.models {
		doc.Models = append(doc.Models, withRate(m))
	}
	for _, b := range s.log.Bad {
		doc.Log.Bad = append(doc.Log.Bad, badLine{b.Number, b.Err.Error()})
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)

	return enc.Encode(doc)
}
