//go:build unix

package crash

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgram: the example dies in mid answer with each store, and the same command goes on: what both have shown is the
// answer of one that did not die.
func TestProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "eino-agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	build.Dir = filepath.FromSlash("../../../examples/eino-agent")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	run := func(t *testing.T, kind, address, runID string, more ...string) (string, int) {
		t.Helper()
		args := append([]string{"--checkpoint", kind, "--store", address, "--run-id", runID}, more...)
		cmd := exec.CommandContext(t.Context(), program, args...)
		out, _ := cmd.CombinedOutput() // it may be killed

		return string(out), cmd.ProcessState.ExitCode()
	}
	whole, code := run(t, "file", t.TempDir(), "whole")
	require.Zero(t, code, "%s", whole)
	require.Greater(t, len(shownText(whole)), 300, "%s", whole)
	for kind, start := range places() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			address := start(t).Address
			if kind == "sqlite" {
				address = filepath.Join(t.TempDir(), "db")
			}
			died, code := run(t, kind, address, "demo", "--crash-after", "60")
			require.Equal(t, -1, code, "%s", died)
			require.Contains(t, died, "✝ killed  behind 60 chunks, 360 bytes")
			out, code := run(t, kind, address, "demo")
			require.Zero(t, code, "%s", out)
			for _, want := range []string{"▣ checkpoint  another process had delivered this", "↻ ContinueText", "✓ The answer is byte for byte"} {
				assert.Contains(t, out, want)
			}
			assert.NotContains(t, out, "not again for 0.")
			assert.Equal(t, shownText(whole), shownText(out))
			assert.True(t, strings.HasPrefix(shownText(whole), shownText(died)), "%s", died)

			out, code = run(t, kind, address, "demo")
			require.Zero(t, code)
			assert.NotContains(t, out, "▣", "nothing has stayed in the store")
			assert.Contains(t, out, "not again for 0.")
		})
	}
}

// shownText is the answer as the program shows it, without what it draws around it and without white space.
func shownText(out string) string {
	out = regexp.MustCompile(`(?m)^ +(▣|↻|✝).*\n?`).ReplaceAllString(out, "")
	_, answer, _ := strings.Cut(out, "dies?")
	answer, _, _ = strings.Cut(answer, "✓")

	return strings.Join(strings.Fields(answer), "")
}
