package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toyTree is a repository that holds testdata/toy.
func toyTree(t *testing.T) string {
	t.Helper()
	t.Setenv("GOWORK", filepath.Join(t.TempDir(), "go.work")) // must not reach the copy
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/toy")))
	initRepository(t, dir)
	return dir
}

func initRepository(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "init", "--quiet", dir)
	cmd.Env = withoutGit(os.Environ())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// entry is a table of one sabotage of toy.go.
func entry(change, with, test string) string {
	return "name " + change + " -> " + with + "\nfile toy.go\nold " + change + "\nnew " + with + "\ntest " + test + "\n"
}

// runTable runs the command over a toy tree.
func runTable(t *testing.T, table string, args ...string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "table.txt")
	require.NoError(t, os.WriteFile(file, []byte(table), 0o600))
	var out bytes.Buffer
	err := run(t.Context(), append([]string{"-root", toyTree(t), "-table", file}, args...), &out)
	return out.String(), err
}

func TestVerdicts(t *testing.T) {
	for name, tt := range map[string]struct {
		change, with, test string
		verdict, detail    string // of the row
	}{
		"caught":           {"sum += numbers[i]", "sum -= numbers[i]", "TestSum", "caught", "TestSum/three"},
		"crash":            {"i < len(numbers)", "i <= len(numbers)", "TestSum", "caught", "TestSum/three"},
		"exit":             {"sum := 0", `sum := 0; go func() { panic("x") }(); select {}`, "TestSum", "caught", "crash in TestSum/three"},
		"hang":             {"i++", "i += 0", "TestSum", "caught", "hang in TestSum/three"},
		"survived":         {"if a > b {", "if a < b {", "TestSum", "SURVIVED", "stayed green"},
		"seen in the end":  {"if a > b {", "if a < b {", "TestThirdTime", "caught", "TestThirdTime"},
		"only the parent":  {"return a", `panic("x")`, "TestMax/equal", "INVALID", "the named test did not run"},
		"does not compile": {"return b", "return c", "TestSum", "INVALID", "does not compile"},
		"test is broken":   {"// Sum adds up.", "func TestSum() {}", "TestSum", "INVALID", "the test does not compile"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runTable(t, entry(tt.change, tt.with, tt.test), "-timeout", "3s")
			require.Contains(t, out, tt.verdict+" ")
			require.Contains(t, out, tt.detail)
			if tt.verdict == "caught" {
				require.NoError(t, err)
				require.Contains(t, out, "1 caught, 0 survived, 0 invalid, of 1")
			} else {
				require.ErrorContains(t, err, "1 of 1 sabotages were not caught")
				require.Contains(t, out, "0 caught,")
			}
		})
	}
}

func TestEachSabotageIsAlone(t *testing.T) {
	table := entry("sum += numbers[i]", "sum -= numbers[i]", "TestSum") + "\n" + entry("if a > b {", "if a < b {", "TestSum")
	for _, copies := range []string{"1", "2", "9"} {
		t.Run(copies, func(t *testing.T) {
			out, err := runTable(t, table, "-copies", copies)
			require.Error(t, err)
			require.Contains(t, out, "1 caught, 1 survived, 0 invalid, of 2",
				"the first change must be gone when the second is tried")
		})
	}
	_, err := runTable(t, table, "-copies", "0")
	require.ErrorContains(t, err, "-copies")
}

func TestBaseline(t *testing.T) {
	for name, tt := range map[string]struct{ table, want string }{
		"old text is gone":     {entry("no such text", "x", "TestSum"), "occurs 0 times"},
		"old text is twice":    {entry("return", "x", "TestSum"), "occurs 3 times"},
		"test is red":          {entry("sum := 0", "sum := 1", "TestSumRed"), "is not green without a sabotage"},
		"test does not exist":  {entry("sum := 0", "sum := 1", "TestSu"), "is not green without a sabotage (0 ran, 0 passed)"},
		"file does not exist":  {strings.Replace(entry("a", "b", "TestSum"), "toy.go", "gone.go", 1), "gone.go"},
		"subtest is not there": {entry("sum := 0", "sum := 1", "TestSum/four"), "is not green without a sabotage"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := runTable(t, tt.table)
			require.ErrorContains(t, err, tt.want)
			require.NotContains(t, out, "caught")
		})
	}
}

// TestBaselineOfMany has one test that is red among several of one package.
func TestBaselineOfMany(t *testing.T) {
	table := entry("sum := 0", "sum := 1", "TestSum") + "\n" + entry("if a > b {", "if a < b {", "TestMax/equal")
	out, err := runTable(t, table)
	require.Error(t, err)
	require.Contains(t, out, "1 caught, 1 survived, 0 invalid, of 2")
	_, err = runTable(t, table+"\n"+entry("sum += numbers[i]", "sum -= numbers[i]", "TestSumRed"))
	require.ErrorContains(t, err, "TestSumRed is not green")
	require.NotContains(t, err.Error(), "TestMax")
	require.NotContains(t, err.Error(), "TestSum is not green")
	_, err = runTable(t, table+"\n"+entry("sum += numbers[i]", "sum -= numbers[i]", "TestSum/four"))
	require.ErrorContains(t, err, "TestSum/four is not green")
}

func TestTreeIsLeftAlone(t *testing.T) {
	root := toyTree(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("/bin/\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "tool"), []byte("x"), 0o600))
	dir := t.TempDir()
	require.NoError(t, copyTree(t.Context(), root, dir))
	require.NoDirExists(t, filepath.Join(dir, "bin"), "what git ignores is not copied")

	table, err := readTable(strings.NewReader(entry("if a > b {", "if a < b {", "TestSum")))
	require.NoError(t, err)
	_, err = runner{dir: dir, limit: time.Minute, out: io.Discard}.try(t.Context(), table[0])
	require.NoError(t, err)
	for _, name := range []string{"go.mod", "toy.go", "toy_test.go"} {
		want, err := os.ReadFile(filepath.Join("testdata/toy", name))
		require.NoError(t, err)
		for _, tree := range []string{root, dir} {
			got, err := os.ReadFile(filepath.Join(tree, name))
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "%s in %s", name, tree)
		}
	}
}

func TestCancelStops(t *testing.T) {
	root := toyTree(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	table, err := readTable(strings.NewReader(entry("sum := 0", "sum := 1", "TestSum")))
	require.NoError(t, err)
	r := runner{dir: root, limit: time.Minute, out: io.Discard}
	require.ErrorIs(t, r.baseline(ctx, table), context.Canceled)
	_, err = r.try(ctx, table[0])
	require.ErrorIs(t, err, context.Canceled)
}

func TestOnly(t *testing.T) {
	table := entry("sum := 0", "sum := 1", "TestSum") + "\n" + entry("if a > b {", "if a < b {", "TestSum")
	out, err := runTable(t, table, "-only", "^sum")
	require.NoError(t, err)
	require.Contains(t, out, "of 1\n")
	_, err = runTable(t, table, "-only", "nothing")
	require.ErrorContains(t, err, "no name matches")
}

func TestJudgeFailureOfTheProcess(t *testing.T) {
	exit := &exec.ExitError{}
	for name, tt := range map[string]struct {
		events string
		want   verdict
	}{
		"after its tests passed": {`{"Action":"run","Test":"TestA"} {"Action":"pass","Test":"TestA"} {"Action":"fail"}`, survived},
		"in a running test":      {`{"Action":"run","Test":"TestA"} {"Action":"fail"}`, caught},
		"before any test":        {`{"Action":"fail"}`, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := readEvents(strings.NewReader(tt.events), []target{{run: "TestA"}})
			require.NoError(t, err)
			o.exit = exit
			got, detail := judge(o)
			require.Equal(t, tt.want, got, detail)
		})
	}
}
