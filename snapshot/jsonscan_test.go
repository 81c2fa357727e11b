package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// valueReference says with encoding/json what a JSONScanner has to say of doc, and how many of its bytes are the value's.
// Where there is no whole value that number is -1. Ok is false where its depth limit gets in the way.
func valueReference(doc string) (want JSONState, n int, ok bool) {
	if strings.Trim(doc, jsonSpace) == "" {
		return JSONEmpty, -1, true
	}
	d := json.NewDecoder(strings.NewReader(doc))
	var value json.RawMessage
	switch err := d.Decode(&value); {
	case err == nil:
		return JSONWhole, int(d.InputOffset()), true
	case errors.Is(err, io.ErrUnexpectedEOF):
		return JSONOpen, -1, true
	default:
		return JSONBroken, -1, !strings.Contains(err.Error(), "max depth")
	}
}

// checkValue compares a scanner that reads doc in two pieces with encoding/json.
func checkValue(t *testing.T, doc string, cut int) {
	t.Helper()
	want, wantN, ok := valueReference(doc)
	if !ok {
		return
	}
	var s JSONScanner
	n := s.Write(doc[:cut])
	first := s.State()
	n += s.Write(doc[cut:])
	if got := s.State(); got != want {
		t.Fatalf("%q cut at %d is %v, for encoding/json %v", doc, cut, got, want)
	}
	switch {
	case want == JSONWhole && n != wantN:
		t.Fatalf("%q cut at %d: the value has %d bytes, for encoding/json %d", doc, cut, n, wantN)
	case (want == JSONOpen || want == JSONEmpty) && n != len(doc):
		t.Fatalf("%q cut at %d: only %d bytes of it were read", doc, cut, n)
	case first == JSONBroken && want != JSONBroken:
		t.Fatalf("%q was broken at byte %d and is %v", doc, cut, want)
	}
	if s.Write("x") != 0 && want == JSONWhole {
		t.Fatalf("%q: what stands behind the value belongs to it", doc)
	}
}

// jsonValues are values, beginnings of some, and what is neither.
func jsonValues() []string {
	return []string{
		"", " ", "null", "true", " false ", "nul", "nulx", "truefalse", "0", "-", "-0", "01", "12", "12 3", "1.", "1.5", "1e", "1e+", "1E-2", "1e5]",
		"1,", "1}", "+1", ".5", `"`, `"a"`, `"a" "b"`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"a\nb\"", "[]", "[1", "[1,", "[1]]", "[1}", "[,", "[1 2", "{}", "{} x",
		`{"a":[{"b":[]},-1.5e3,"]"]}, and more`, `{"a" 1`, `{1`, "{]", "x", "]", ":", "\ufeff{}", "\"\xff\"",
	}
}

func TestJSONScannerReadsEveryValue(t *testing.T) {
	t.Parallel()
	for _, doc := range jsonValues() {
		t.Run(fmt.Sprintf("%q", doc), func(t *testing.T) {
			t.Parallel()
			for cut := range len(doc) + 1 {
				checkValue(t, doc, cut)
			}
			for n := range len(doc) {
				checkValue(t, doc[:n], n/2)
			}
		})
	}
}

// Every document of a small alphabet is read as encoding/json reads it.
func TestJSONScannerAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()
	alphabet := []string{"{", "}", "[", "]", `"`, ":", ",", `\`, "0", "7", "-", ".", "e", "true", " "}
	documents := 0
	var walk func(doc string, depth int)
	walk = func(doc string, depth int) {
		documents++
		checkValue(t, doc, len(doc)/2)
		if want, _, _ := valueReference(doc); depth == 0 || want == JSONBroken {
			return
		}
		for _, letter := range alphabet {
			walk(doc+letter, depth-1)
		}
	}
	walk("", 4)
	for _, start := range []string{"[1", `[{"a":`, "-1", `"`} {
		walk(start, 3)
	}
	if documents < 10_000 {
		t.Errorf("only %d documents were looked at", documents)
	}
}

// What stands open is told, and a clone goes its own way.
func TestJSONScannerTellsWhereItIs(t *testing.T) {
	t.Parallel()
	var s JSONScanner
	s.Write(`{"list":[{"a":1},"te`)
	if s.Depth() != 2 || !s.InArray() || !s.InString() {
		t.Errorf("depth %d, in an array %t, in a string %t", s.Depth(), s.InArray(), s.InString())
	}
	c := s.Clone()
	c.Write(`xt"],"b":[{`)
	if c.Depth() != 3 || c.InArray() || c.InString() {
		t.Errorf("depth %d, in an array %t, in a string %t", c.Depth(), c.InArray(), c.InString())
	}
	s.Write(`xt"]}`)
	if s.State() != JSONWhole || s.Depth() != 0 || c.State() != JSONOpen {
		t.Errorf("the scanner is %v at depth %d, its clone %v", s.State(), s.Depth(), c.State())
	}
	for at, want := range map[string]bool{`{"k`: true, `{"k"`: false, `["\`: true, `["\u00`: true, `[1`: false} {
		var s JSONScanner
		s.Write(at)
		if s.InString() != want {
			t.Errorf("%s: in a string %t", at, s.InString())
		}
	}
}

func TestJSONStateHasNames(t *testing.T) {
	t.Parallel()
	for state, want := range map[JSONState]string{JSONEmpty: "empty", JSONOpen: "open", JSONWhole: "whole", JSONBroken: "broken"} {
		if got := state.String(); got != want {
			t.Errorf("state %d is called %q, want %q", state, got, want)
		}
	}
}

func FuzzJSONScanner(f *testing.F) {
	for _, doc := range jsonValues() {
		f.Add(doc, uint(len(doc)/2))
	}
	f.Fuzz(func(t *testing.T, doc string, cut uint) { checkValue(t, doc, int(cut%uint(len(doc)+1))) })
}

// BenchmarkJSONScanner is the cost of a byte, however many there are and however they come.
func BenchmarkJSONScanner(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		doc := "[" + strings.Repeat(`{"name":"a \"quoted\" word","n":-1.5e3,"ok":true},`, n/50)
		for _, piece := range []int{1, len(doc)} {
			b.Run(fmt.Sprintf("%d in pieces of %d", n, piece), func(b *testing.B) {
				b.SetBytes(int64(len(doc)))
				b.ReportAllocs()
				for b.Loop() {
					var s JSONScanner
					for at := 0; at < len(doc); at += piece {
						s.Write(doc[at:min(len(doc), at+piece)])
					}
					if s.State() != JSONOpen {
						b.Fatal(s.State())
					}
				}
			})
		}
	}
}
