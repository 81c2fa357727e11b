package continuation_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readmeFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../" + path))
	require.NoError(t, err)

	return string(text)
}

// readmeMatches returns the first group of all matches of pattern in text; there must be some.
func readmeMatches(t *testing.T, text, pattern string) []string {
	t.Helper()
	var found []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	require.NotEmpty(t, found, pattern)

	return found
}

// readmeLines returns text without the indentation of its lines.
func readmeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}

	return strings.Join(lines, "\n")
}

// The code in the README is that of the examples, which are compiled and run.
func TestReadmeCode(t *testing.T) {
	t.Parallel()
	program := readmeFile(t, "continuation/example_test.go")
	output := regexp.MustCompile(`\t// Output: (.*)\n`).FindStringSubmatch(program)
	require.NotNil(t, output)
	program = strings.Replace(program, output[0], "", 1)
	program = strings.Replace(program, "package continuation_test", "package main", 1)
	program = strings.Replace(program, "func Example()", "func main()", 1)

	readme := readmeFile(t, "README.md")
	assert.Contains(t, readme, "\n```go\n"+program+"```\n", "the program")
	assert.Contains(t, readme, "```\n\n```text\n"+output[1]+"\n```\n", "its output")

	examples := program
	for _, path := range []string{
		"continuation/example_call_test.go", "continuation/example_checkpoint_test.go", "continuation/example_options_test.go", "callbacks/example_stats_test.go",
		"callbacks/otel/example_test.go",
		"continuation/example_typed_test.go",
	} {
		examples += readmeFile(t, path)
	}
	for _, code := range readmeMatches(t, readme, "(?s)\n```go\n(.*?)```\n") {
		if code != program {
			assert.Contains(t, readmeLines(examples), "\n"+readmeLines(code))
		}
	}
}

// The table of options has all of them and no others.
func TestReadmeOptions(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var options []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() && readmeReturnsOption(f) {
				options = append(options, f.Name.Name)
			}
		}
	}
	assert.ElementsMatch(t, options, readmeMatches(t, readmeFile(t, "README.md"), "(?m)^\\| `(\\w+)\\("))
}

func readmeReturnsOption(f *ast.FuncDecl) bool {
	if f.Recv != nil || f.Type.Results == nil || len(f.Type.Results.List) != 1 {
		return false
	}
	result, ok := f.Type.Results.List[0].Type.(*ast.Ident)

	return ok && result.Name == "Option"
}

// The events that the README names are those of package callbacks.
func TestReadmeEvents(t *testing.T) {
	t.Parallel()
	names := readmeMatches(t, readmeFile(t, "callbacks/name.go"), `return "(\w+)"`)
	for _, row := range readmeMatches(t, readmeFile(t, "README.md"), "(?m)^\\| (`\\w+`(?:, `\\w+`)*) \\| ") {
		for _, name := range readmeMatches(t, row, "`(\\w+)`") {
			if strings.HasPrefix(name, "_") {
				name = "llm_stream_continuation" + name
			}
			if strings.ToLower(name) == name {
				assert.Contains(t, names, name)
			}
		}
	}
}

// Links lead to files, and `make` has the targets that people are told of.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	targets := readmeMatches(t, readmeFile(t, "Makefile"), `(?m)^([a-z-]+):`)
	for _, page := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		text := readmeFile(t, page)
		for _, link := range regexp.MustCompile(`\]\(([\w/.-]*[a-zA-Z][\w/.-]*)\)`).FindAllStringSubmatch(text, -1) {
			assert.FileExists(t, filepath.FromSlash("../"+link[1]), page)
		}
		for _, target := range regexp.MustCompile("`make (?:-s )?([a-z-]+)").FindAllStringSubmatch(text, -1) {
			assert.Contains(t, targets, target[1], page)
		}
		for _, folder := range regexp.MustCompile("(?m)^\\| `([a-z/-]+)/` \\|").FindAllStringSubmatch(text, -1) {
			assert.DirExists(t, filepath.FromSlash("../"+folder[1]), page)
		}
	}
}
