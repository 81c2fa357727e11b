package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/eino-carryon/carryon/callbacks"
)

// logged plays the conversation and returns its log.
func logged(t *testing.T, args ...string) (path, text string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "run.jsonl")
	play(t, exitOK, append(args, "--log", path)...)
	b, err := os.ReadFile(path)
	noError(t, err)

	return path, string(b)
}

// statsJSON is what stats --json writes, as far as the tests look at it.
type statsJSON struct {
	Models []map[string]any
	Total  struct {
		callbacks.ModelStats
		Rate *float64 `json:"recovery_rate"`
	}
	Log struct {
		Events, Others int
		BadLines       int `json:"bad_lines"`
		Bad            []struct {
			Line  int
			Error string
		}
	}
}

func parsedStats(t *testing.T, out string) statsJSON {
	t.Helper()
	var s statsJSON
	noError(t, json.Unmarshal([]byte(out), &s))

	return s
}

func TestStatsOfARun(t *testing.T) {
	t.Parallel()
	path, _ := logged(t)
	out := play(t, exitOK, "stats", path)
	has(t, out, "OpenAI/scripted-1", "7          7  100 %", "connection_reset", "rate_limited", "SynthesizeToolUse", "open retry",
		"0 other records, 0 lines that cannot be read.")
	hasNot(t, out, "\nall ")

	s := parsedStats(t, play(t, exitOK, "stats", "--json", path))
	equal(t, "models", len(s.Models), 1)
	equal(t, "model", s.Models[0]["model"], any("scripted-1"))
	equal(t, "interrupted calls", s.Total.Interrupted, 7)
	equal(t, "recovered calls", s.Total.Recovered, 7)
	equal(t, "rate", *s.Total.Rate, 1)
	equal(t, "discarded tool calls", s.Total.DiscardedToolCalls, 2)
	equal(t, "breaks, as the screen counts them", s.Total.Continuations+s.Total.OpenRetries, 9)
}

// TestStatsOfTheLogAreThoseOfTheRun compares with a Stats that heard the same run.
func TestStatsOfTheLogAreThoseOfTheRun(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s, tools := newStage(), toolsOf(t)
			log, err := openRecordLog(filepath.Join(t.TempDir(), "run.jsonl"))
			noError(t, err)
			set := settings{fault: faultAll, seed: seed, provider: providerEmbedded}
			unbroken, err := rehearse(t.Context(), tools)
			noError(t, err)
			b, err := s.open(t.Context(), set)
			noError(t, err)
			defer closing(t, b)
			live := callbacks.NewStats()
			_, err = s.perform(t.Context(), set, b, tools, unbroken, append(log.handlers(), live)...)
			noError(t, err)
			noError(t, log.Close())

			var want bytes.Buffer
			noError(t, logStats{models: live.Models(), total: live.Total()}.writeJSON(&want))
			got := parsedStats(t, play(t, exitOK, "stats", log.file.Name(), "--json"))
			equal(t, "numbers", fmt.Sprintf("%+v", got.Total.ModelStats), fmt.Sprintf("%+v", parsedStats(t, want.String()).Total.ModelStats))
		})
	}
}

func TestStatsOfAMixedLog(t *testing.T) {
	t.Parallel()
	_, text := logged(t, "--fault", "cut")
	mixed := `{"level":"INFO","msg":"listening"}` + "\npanic: \x1b[31mout of luck\n" + text + `{"msg":"stream_reset","reason":7}` + "\n" +
		`{"msg":"llm_stream_open_retried","provider":"\u001b[2J","model":"\u001b[31mred","cause":"\u001b]0;title\u0007"}`
	s := newStage()
	s.in = iotest.HalfReader(strings.NewReader(mixed))
	equal(t, "exit code", s.run(t.Context(), []string{"stats", "-"}), exitOK)
	last := 3 + strings.Count(text, "\n")
	has(t, s.out.String(), "1 other record, 2 lines that cannot be read.", "line 2: callbacks: not a JSON object",
		fmt.Sprintf("line %d: callbacks: stream_reset: reason", last))
	hasNot(t, s.out.String(), "\x1b")

	s = newStage()
	s.in = strings.NewReader(mixed)
	equal(t, "exit code", s.run(t.Context(), []string{"stats", "--json", "-"}), exitOK)
	got := parsedStats(t, s.out.String())
	equal(t, "bad lines", got.Log.BadLines, 2)
	equal(t, "number of the second", got.Log.Bad[1].Line, last)
}

func TestStatsOfManyModels(t *testing.T) {
	t.Parallel()
	lines := ""
	for i := range 30 {
		lines += fmt.Sprintf(`{"msg":"stream_reset","provider":"Claude","model":"m-%02d"}`+"\n?\n", i)
	}
	s := newStage()
	s.in = strings.NewReader(lines)
	equal(t, "exit code", s.run(t.Context(), []string{"stats", "-"}), exitOK)
	has(t, s.out.String(), "Claude/m-00", "Claude/m-29", "\nall ", "  -  ", "30 lines that cannot be read.", "line 2:", "and 10 more")
}

func TestStatsOfNothing(t *testing.T) {
	t.Parallel()
	equal(t, "text", play(t, exitOK, "stats", "-"), "0 events, 0 other records, 0 lines that cannot be read.\n")
	s := parsedStats(t, play(t, exitOK, "stats", "--json", "-"))
	equal(t, "models", len(s.Models), 0)
	if s.Models == nil || s.Total.Rate != nil {
		t.Errorf("models %v, rate %v: want an empty list and null", s.Models, s.Total.Rate)
	}
}

func TestStatsCommandLine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"--json"}, {"--typo", "x"}, {"-", "x"}, {"-", "--typo"}, {filepath.Join(t.TempDir(), "missing")}, {t.TempDir()},
	} {
		s := newStage()
		equal(t, fmt.Sprintf("exit code of %q", args), s.run(t.Context(), append([]string{"stats"}, args...)), exitFailure)
		has(t, s.errOut.String(), "eino-agent: ")
		equal(t, "output", s.out.String(), "")
	}
	has(t, play(t, exitOK, "stats", "--help"), "stats [--json] FILE", "standard input")
	s := newStage()
	s.in = iotest.ErrReader(io.ErrUnexpectedEOF)
	equal(t, "exit code of a broken pipe", s.run(t.Context(), []string{"stats", "-"}), exitFailure)
}

func TestLog(t *testing.T) {
	t.Parallel()
	path, text := logged(t, "--fault", "reset")
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			t.Errorf("%q is no JSON", line)
		}
		for _, turn := range script() { // the log is for others to read
			if words := turn.Answer.Text(); len(words) > 60 {
				hasNot(t, line, words[:20], words[len(words)-20:])
			}
		}
	}
	info, err := os.Stat(path)
	noError(t, err)
	equal(t, "mode", info.Mode().Perm(), 0o600)
	play(t, exitOK, "--fault", "none", "--log", path)
	again, err := os.ReadFile(path)
	noError(t, err)
	hasNot(t, string(again), "llm_stream_interrupted", "llm_stream_continuation")

	for _, args := range [][]string{
		{"--log", filepath.Join(t.TempDir(), "no", "folder")}, {"--log", t.TempDir()}, {"--log", path, "--plain"},
	} {
		s := newStage()
		equal(t, fmt.Sprintf("exit code of %q", args), s.run(t.Context(), args), exitFailure)
		has(t, s.errOut.String(), "--log")
		equal(t, "output", s.out.String(), "")
	}
}

func TestALogThatCannotBeWrittenIsTold(t *testing.T) {
	t.Parallel()
	l, err := openRecordLog(filepath.Join(t.TempDir(), "log"))
	noError(t, err)
	noError(t, l.file.Close())
	l.handlers()[0].Handle(t.Context(), callbacks.StreamReset{})
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), "write") {
		t.Errorf("Close() = %v, want the error of the write", err)
	}
}
