package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// A test binary that finds this in its environment is the program itself.
const programVar = "CARRYON_EINO_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(programVar) != "" {
		main()
	}
	os.Exit(m.Run())
}

// process runs the program as a process of its own.
func process(t *testing.T, args ...string) (string, *os.ProcessState) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), programVar+"=1")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}

	return string(out), cmd.ProcessState
}

// TestTakeover kills the program in mid answer; the same command goes on.
func TestTakeover(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.FromSlash("../../README.md"))
	noError(t, err)
	for _, kind := range []string{"sqlite", "file"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			args := []string{"--checkpoint", kind, "--run-id", "demo", "--store", filepath.Join(t.TempDir(), "store")}
			died, state := process(t, append(args, "--crash-after", "60")...)
			equal(t, "it ended by itself", state.Exited(), false)
			has(t, died, "✝ killed  behind 60 chunks, 360 bytes")

			out, state := process(t, args...)
			equal(t, "exit code", state.ExitCode(), exitOK)
			has(t, out, "▣ checkpoint  another process had delivered this", "↻ ContinueText", "✓ The answer is byte for byte")
			hasNot(t, out, "checkpoint put", "not again for 0.")
			drawn := regexp.MustCompile(`(?m)^ +(▣|↻).*\n`).ReplaceAllString(out, "")
			has(t, strings.Join(strings.Fields(drawn), ""), strings.Join(strings.Fields(takeoverAnswer().Text()), ""))

			for _, line := range append(marks(died), marks(out)...) { // it is what the README shows
				has(t, unnumbered(string(readme)), unnumbered(line))
			}
			out, _ = process(t, args...)
			hasNot(t, out, "▣")
			has(t, out, "not again for 0.")
		})
	}
}

// marks returns the lines that are no text of the answer.
func marks(out string) []string {
	return regexp.MustCompile(`(?m)^ *(▣|↻|✝|✓|It takes).*$`).FindAllString(out, -1)
}

// unnumbered returns text with the letter n for each number.
func unnumbered(text string) string {
	return regexp.MustCompile(`\d+`).ReplaceAllString(text, "n")
}

func TestStoreOutOfReach(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	for kind, test := range map[string]struct {
		address string
		says    []string
	}{
		"redis":    {"127.0.0.1:1", []string{"redis: the server cannot be reached; --store or REDIS_ADDR says where it is", "refused"}},
		"nats":     {"nats://127.0.0.1:1", []string{"nats: the server cannot be reached; --store or NATS_URL says where it is", "no servers"}},
		"postgres": {"postgres://127.0.0.1:1/x", []string{"postgres: the server cannot be reached; --store or DATABASE_URL says where it is", "refused"}},
		"file":     {filepath.Join(file, "dir"), []string{"file: the store cannot be opened", "not a directory"}},
		"sqlite":   {filepath.Join(file, "db"), []string{"sqlite: the store cannot be opened"}},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newStage()
			if k := storeKindOf(t, kind); k.variable != "" {
				s.env = map[string]string{k.variable: test.address}
				equal(t, "exit code", s.run(t.Context(), []string{"--checkpoint", kind, "--run-id", "x"}), exitFailure)
			} else {
				equal(t, "exit code", s.run(t.Context(), []string{"--checkpoint", kind, "--run-id", "x", "--store", test.address}), exitFailure)
			}
			has(t, s.errOut.String(), test.says...)
		})
	}
}

func storeKindOf(t *testing.T, name string) storeKind {
	t.Helper()
	for _, k := range storeKinds() {
		if k.name == name {
			return k
		}
	}
	t.Fatalf("no store is named %q", name)

	return storeKind{}
}

func TestTakeoverCommandLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ args, says string }{
		{"--checkpoint typo --run-id x", "one of sqlite, file, redis, nats, postgres"},
		{"--checkpoint file", checkpointstore.ErrInvalidRunID.Error()},
		{"--run-id x", "need --checkpoint"},
		{"--crash-after 3", "need --checkpoint"},
		{"--checkpoint file --run-id x --crash-after -1", "less than 0"},
		{"--checkpoint file --run-id x --plain", "a show of its own"},
	} {
		s := newStage()
		equal(t, "exit code of "+test.args, s.run(t.Context(), strings.Fields(test.args)), exitFailure)
		has(t, s.errOut.String(), test.says)
	}
	has(t, play(t, exitOK, "--help"), append(storeNames(), "--checkpoint", "--run-id", "--crash-after", "--store", "REDIS_ADDR", "NATS_URL", "DATABASE_URL")...)
}
