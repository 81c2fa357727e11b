package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheReadmeHasTheTable compares the heads and the names of the rows with those of the command. The numbers are those of
// the day on which they were written.
func TestTheReadmeHasTheTable(t *testing.T) {
	readme, err := os.ReadFile("../../../../README.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(readme), "<!-- go run ./internal/interop/cmd/compare -->\n")
	require.True(t, found, "README.md has no table")
	shown, _, found := strings.Cut(rest, "\n<!-- end -->")
	require.True(t, found, "the table in README.md has no end")
	var made strings.Builder
	var rows []row
	for _, w := range ways() {
		rows = append(rows, row{name: w.name})
	}
	require.NoError(t, table(&made, rows))
	want, got := strings.Split(strings.TrimSpace(made.String()), "\n"), strings.Split(strings.TrimSpace(shown), "\n")
	require.Len(t, got, len(want))
	assert.Equal(t, want[:2], got[:2])
	for i := range want[2:] {
		a, b := strings.Split(want[2+i], "|"), strings.Split(got[2+i], "|")
		assert.Len(t, b, len(a))
		assert.Equal(t, a[1], b[1])
	}
}

// TestCarryonCompletesWhatTheOthersDoNot runs a small comparison: the same for the same seed, and as it is promised.
func TestCarryonCompletesWhatTheOthersDoNot(t *testing.T) {
	cases := scenario(3, 9)
	assert.Equal(t, cases, scenario(3, 9))
	assert.NotEqual(t, cases, scenario(4, 9))
	results := map[string]row{}
	for _, w := range ways() {
		r, err := measure(t.Context(), w, cases)
		require.NoError(t, err)
		results[w.name] = r
	}
	bare, retry, carryon := results["bare client"], results["Eino's ModelRetryConfig"], results["carryon"]
	assert.Equal(t, 9, carryon.whole)
	assert.Equal(t, carryon.answered, carryon.shown, "nothing is shown twice")
	assert.Less(t, carryon.written, carryon.neededOutput*11/10, "what was written is not written again")
	assert.Equal(t, 3, bare.whole, "a third does not break")
	assert.Equal(t, 9, bare.requests)
	assert.GreaterOrEqual(t, retry.whole, bare.whole)
	assert.Greater(t, retry.shown, retry.neededOutput, "what is asked again is shown again")
}
