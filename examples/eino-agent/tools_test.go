package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCalculate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"1 + 2*3": "7", "(1+2)*3": "9", "1/3*3": "1", "0.1 + 0.2": "0.3", "-4 - +2": "-6", "40000 * 15 / 1000000": "0.6",
		"7/2": "3.5", "12345678901234567890 * 10": "123456789012345678900", "1.5e3": "1500",
	} {
		got, err := calculate(in)
		noError(t, err)
		equal(t, in, got, want)
	}
	for _, in := range []string{
		"", "1 +", "1/0", "1/(2-2)", "x", "f(1)", `"a" + "b"`, "1 << 70", "7 % 2", "!1", "'a'", "1i", strings.Repeat("1+", 200) + "1",
	} {
		if got, err := calculate(in); err == nil {
			t.Errorf("calculate(%q) = %s", in, got)
		}
	}
}

func TestLibrary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		noError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	noError(t, os.MkdirAll(filepath.Join(dir, "sub", "deeper"), 0o700))
	write("go.mod", modulePath)
	write("notes.txt", "a note")
	write("sub/large", strings.Repeat("x", maxFileBytes+1))
	write("sub/binary", "\xff\xfe")
	outside := filepath.Join(t.TempDir(), "secret")
	noError(t, os.WriteFile(outside, []byte("secret"), 0o600))
	noError(t, os.Symlink(outside, filepath.Join(dir, "link")))

	l := openLibrary(filepath.Join(dir, "sub", "deeper"))
	defer func() { noError(t, l.Close()) }()
	for _, path := range []string{"notes.txt", "./notes.txt", "sub/../notes.txt"} {
		text, err := l.read(path)
		noError(t, err)
		equal(t, path, text, "a note")
	}
	_, err := l.read("../secret")
	if err == nil || !strings.Contains(err.Error(), "not a path inside the repository") {
		t.Errorf("error = %v", err)
	}
	for _, path := range []string{"", ".", "sub", "missing", "../secret", outside, "link", "sub/large", "sub/binary"} {
		if text, err := l.read(path); err == nil {
			t.Errorf("read(%q) = %q", path, text)
		}
	}
}

func TestLibraryElsewhere(t *testing.T) {
	t.Parallel()
	l := openLibrary(t.TempDir())
	defer func() { noError(t, l.Close()) }()
	built, err := l.read(priceList)
	noError(t, err)
	for _, path := range []string{"README.md", ownFolder, "examples/../prices.csv", "prices.csv"} {
		if text, err := l.read(path); err == nil {
			t.Errorf("read(%q) = %q", path, text)
		}
	}

	dir, err := os.Getwd()
	noError(t, err)
	repo := openLibrary(dir)
	defer func() { noError(t, repo.Close()) }()
	if repo.root == nil {
		t.Fatal("the repository was not found")
	}
	own, err := repo.read(priceList)
	noError(t, err)
	equal(t, "price list", built, own)
}
