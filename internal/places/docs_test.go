package places_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func fileText(t *testing.T, elem ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, elem...)...))
	require.NoError(t, err)

	return string(text)
}

// trimmed is text without the space around its lines and without empty lines.
func trimmed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "// "), "Output: ")
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}

	return "\n" + strings.Join(lines, "\n") + "\n"
}

// TestDocs: the code on the pages about places, and what it prints, is that of the examples; links lead somewhere; and the README leads
// to every page.
func TestDocs(t *testing.T) {
	t.Parallel()
	examples := ""
	files, err := filepath.Glob("example_*_test.go")
	require.NoError(t, err)
	for _, name := range files {
		examples += fileText(t, "internal", "places", name)
	}
	examples = trimmed(examples)
	readme := fileText(t, "README.md")
	block := regexp.MustCompile("(?s)\n```(go|text)\n(.*?)```\n")
	link := regexp.MustCompile(`\]\(([\w./-]+\.md)(#[\w-]+)?\)`)
	for _, name := range []string{
		"README.md", "stand-alone.md", "graphs.md", "agent-model.md", "agent-middleware.md", "react.md", "agentic.md", "users.md", "retry.md",
	} {
		text := fileText(t, "docs", name)
		assert.Contains(t, readme, "(docs/"+name+")", "the README leads there")
		for _, b := range block.FindAllStringSubmatch(text, -1) {
			assert.True(t, strings.Contains(examples, trimmed(b[2])), "%s: no example has this:\n%s", name, b[2])
		}
		if name != "README.md" {
			assert.NotEmpty(t, block.FindAllString(text, -1), name)
		}
		for _, l := range link.FindAllStringSubmatch(text, -1) {
			assert.FileExists(t, filepath.Join("..", "..", "docs", filepath.FromSlash(l[1])), name)
		}
	}
}
