package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// sabotage is one entry of the table: a change of one line, and the test that has to notice it.
type sabotage struct {
	line int    // where the entry starts in the table
	name string // what is broken, in words
	file string // slash-separated, from the root of the tree
	old  string // occurs exactly once in file
	new  string // takes its place; may be empty
	test target // must fail with the change and pass without it
}

// suite is what one test binary is built for.
type suite struct {
	pkg  string // "./continuation"; default: the package of the sabotaged file
	race bool   // run with the race detector
}

// target names tests the way `go test` takes them.
type target struct {
	suite

	run string // as for -run, but each part matches the whole name
}

func (t target) String() string { return t.pkg + " " + t.run }

// matches reports whether t names test or a parent of it.
func (t target) matches(test string) bool {
	patterns, names := strings.Split(exact(t.run), "/"), strings.Split(test, "/")
	for i, p := range patterns {
		if i == len(names) {
			return false
		}
		if ok, err := regexp.MatchString(p, names[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// readTable parses a table; sabotage.txt describes the format. It reports every fault it finds, not only the first.
func readTable(r io.Reader) ([]sabotage, error) {
	p := parser{names: map[string]bool{}}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p.line++
		p.add(strings.TrimSpace(lines.Text()))
	}
	p.finish()
	if err := lines.Err(); err != nil {
		p.errs = append(p.errs, fmt.Errorf("reading the table: %w", err))
	}
	if len(p.table) == 0 && len(p.errs) == 0 {
		p.errs = append(p.errs, errors.New("the table is empty: nothing would be proven"))
	}
	return p.table, errors.Join(p.errs...)
}

type parser struct {
	line  int
	entry *sabotage
	seen  map[string]bool // keys of the entry
	names map[string]bool // of all entries
	table []sabotage
	errs  []error
}

func (p *parser) fail(line int, format string, args ...any) {
	p.errs = append(p.errs, fmt.Errorf("line %d: %s", line, fmt.Sprintf(format, args...)))
}

func (p *parser) add(text string) {
	if strings.HasPrefix(text, "#") {
		return
	}
	if text == "" {
		p.finish()
		return
	}
	if p.entry == nil {
		p.entry, p.seen = &sabotage{line: p.line}, map[string]bool{}
	}
	key, value, _ := strings.Cut(text, " ")
	if p.seen[key] {
		p.fail(p.line, "%q is there twice in one entry", key)
	}
	p.seen[key] = true
	p.set(key, strings.TrimSpace(value))
}

func (p *parser) set(key, value string) {
	switch key {
	case "name":
		p.entry.name = value
	case "file":
		p.entry.file = value
	case "old":
		p.entry.old = value
	case "new":
		p.entry.new = value
	case "package":
		p.entry.test.pkg = value
	case "test":
		p.entry.test.run = value
	case "race":
		p.entry.test.race = true
	default:
		p.fail(p.line, "unknown key %q", key)
	}
}

// finish closes the entry that is open, if one is.
func (p *parser) finish() {
	s := p.entry
	if s == nil {
		return
	}
	p.entry = nil
	for _, key := range []string{"name", "file", "old", "new", "test"} {
		if !p.seen[key] {
			p.fail(s.line, "the entry has no %q", key)
		}
	}
	if s.old == "" || s.old == s.new {
		p.fail(s.line, "old must be neither empty nor the same as new")
	}
	if s.test.run == "" || slices.ContainsFunc(strings.Split(exact(s.test.run), "/"), isNoPattern) {
		p.fail(s.line, "test %q is not a regular expression for -run", s.test.run)
	}
	if !filepath.IsLocal(filepath.FromSlash(s.file)) {
		p.fail(s.line, "file %q is not below the root", s.file)
	}
	if p.names[s.name] {
		p.fail(s.line, "the name %q is taken", s.name)
	}
	p.names[s.name] = true
	if s.test.pkg == "" {
		s.test.pkg = s.ownPackage()
	}
	p.table = append(p.table, *s)
}

func isNoPattern(text string) bool {
	_, err := regexp.Compile(text)
	return err != nil
}

// ownPackage is the package of the sabotaged file.
func (s sabotage) ownPackage() string { return "./" + path.Dir(s.file) }

// apply changes the file below root and returns a function that puts it back as it was.
func (s sabotage) apply(root string) (restore func() error, err error) {
	name := filepath.Join(root, filepath.FromSlash(s.file))
	before, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("sabotage %q: %w", s.name, err)
	}
	if n := strings.Count(string(before), s.old); n != 1 {
		return nil, fmt.Errorf("sabotage %q: the old text occurs %d times in %s, want once", s.name, n, s.file)
	}
	after := strings.Replace(string(before), s.old, s.new, 1)
	if err := os.WriteFile(name, []byte(after), 0o600); err != nil {
		return nil, fmt.Errorf("sabotage %q: %w", s.name, err)
	}
	return func() error { return os.WriteFile(name, before, 0o600) }, nil
}
