package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const goodEntry = "name n\nfile a/b.go\nold x\nnew y\ntest TestX\n"

func TestReadTable(t *testing.T) {
	table, err := readTable(strings.NewReader(`# A comment.

name  the first
file  a/b/c.go
old   if err != nil { return err }
new
test  TestFirst/case_one
# A comment inside an entry.
race

name    the second
file    main.go
old     x  :=  1
new     x  :=  2
package ./other
test    TestSecond`))
	require.NoError(t, err)
	require.Equal(t, []sabotage{
		{
			line: 3, name: "the first", file: "a/b/c.go", old: "if err != nil { return err }",
			test: target{suite: suite{pkg: "./a/b", race: true}, run: "TestFirst/case_one"},
		},
		{
			line: 11, name: "the second", file: "main.go", old: "x  :=  1", new: "x  :=  2",
			test: target{suite: suite{pkg: "./other"}, run: "TestSecond"},
		},
	}, table)
}

func TestReadTableErrors(t *testing.T) {
	for name, tt := range map[string]struct{ table, want string }{
		"empty":       {"# nothing\n", "the table is empty"},
		"unknown key": {goodEntry + "colour red\n", `line 6: unknown key "colour"`},
		"missing key": {"name n\nfile a.go\nold x\ntest T\n", `line 1: the entry has no "new"`},
		"key twice":   {goodEntry + "old z\n", `line 6: "old" is there twice`},
		"name twice":  {goodEntry + "\n" + goodEntry, `line 7: the name "n" is taken`},
		"no change":   {strings.Replace(goodEntry, "new y", "new x", 1), "the same as new"},
		"no old text": {strings.Replace(goodEntry, "old x", "old", 1), "neither empty"},
		"bad regexp":  {strings.Replace(goodEntry, "TestX", "Test(", 1), "not a regular expression"},
		"bad part":    {strings.Replace(goodEntry, "TestX", "Test(a/b)", 1), "not a regular expression"},
		"no test":     {strings.Replace(goodEntry, "TestX", "", 1), "not a regular expression"},
		"outside":     {strings.Replace(goodEntry, "a/b.go", "../b.go", 1), "not below the root"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readTable(strings.NewReader(tt.table))
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestTargetMatches(t *testing.T) {
	for run, tests := range map[string]struct{ in, out []string }{
		"TestA":       {[]string{"TestA", "TestA/b", "TestA/b/c"}, []string{"", "TestAB", "XTestA"}},
		"TestA/b.*":   {[]string{"TestA/b", "TestA/bc/d"}, []string{"TestA", "TestA/c", "TestB/b"}},
		"TestA|TestB": {[]string{"TestA", "TestB/b"}, []string{"TestAB"}},
	} {
		for _, name := range tests.in {
			require.True(t, target{run: run}.matches(name), "%s: %s", run, name)
		}
		for _, name := range tests.out {
			require.False(t, target{run: run}.matches(name), "%s: %s", run, name)
		}
	}
}

// TestTheTable keeps stale entries from waiting for the slow run.
func TestTheTable(t *testing.T) {
	table, err := loadTable("sabotage.txt", "")
	require.NoError(t, err)
	for _, s := range table {
		text, err := os.ReadFile("../../" + s.file)
		require.NoError(t, err)
		require.Equal(t, 1, strings.Count(string(text), s.old), "%s: %q in %s", s.name, s.old, s.file)
	}
}
