package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// scanned names what an objectScan knows.
func scanned(s *objectScan) string {
	switch {
	case s.empty():
		return "empty"
	case s.closed():
		return "closed"
	case s.bad():
		return "bad"
	default:
		return "open"
	}
}

func scanWhole(doc string) string {
	var s objectScan
	s.write(doc)

	return scanned(&s)
}

// scanReference says the same with encoding/json, which reads from the start each time: it tells the beginning of a
// document from a broken one by its error. Ok is false where its depth limit, which the scan does not have, gets in the
// way.
func scanReference(doc string) (want string, ok bool) {
	text := strings.TrimLeft(doc, " \t\r\n")
	if text == "" {
		return "empty", true
	}
	if text[0] != '{' {
		return "bad", true
	}
	if json.Valid([]byte(doc)) {
		return "closed", true
	}
	var value json.RawMessage
	switch err := json.NewDecoder(strings.NewReader(doc)).Decode(&value); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "open", true
	case err == nil: // a document, and then something else
		return "bad", true
	default:
		return "bad", !strings.Contains(err.Error(), "max depth")
	}
}

func TestObjectScanKnowsEachState(t *testing.T) {
	t.Parallel()

	tests := []struct{ doc, want string }{
		{"", "empty"},
		{" \t\r\n", "empty"},
		{"{}", "closed"},
		{" { } \n", "closed"},
		{`{"a":1}`, "closed"},
		{`{"a":[{},[],{"b":null}]}`, "closed"},
		{`{"a":-0.5e+10,"b":[1E9,0,-0]}`, "closed"},
		{`{"a":"\u00e9\"\\\/\b\f\n\r\t"}`, "closed"},
		{`{"a":"}{"}`, "closed"},
		{`{"a":1,"a":2}`, "closed"},
		{"{\"a\":\"\x7f\xff\"}", "closed"},
		{"{", "open"},
		{`{"a`, "open"},
		{`{"a"`, "open"},
		{`{"a":`, "open"},
		{`{"a":1`, "open"},
		{`{"a":-`, "open"},
		{`{"a":1.`, "open"},
		{`{"a":1e`, "open"},
		{`{"a":1e+`, "open"},
		{`{"a":tru`, "open"},
		{`{"a":true`, "open"},
		{`{"a":"\`, "open"},
		{`{"a":"\u00`, "open"},
		{`{"a":[1,`, "open"},
		{`{"a":{}`, "open"},
		{`{"a":1,`, "open"},
		{"null", "bad"},
		{"[]", "bad"},
		{`"{}"`, "bad"},
		{"1", "bad"},
		{"}", "bad"},
		{"{,", "bad"},
		{"{]", "bad"},
		{"{1", "bad"},
		{"{a", "bad"},
		{"{'a'", "bad"},
		{`{"a"}`, "bad"},
		{`{"a":}`, "bad"},
		{`{"a":1,}`, "bad"},
		{`{"a":[1,]`, "bad"},
		{`{"a":[}`, "bad"},
		{`{"a":1]`, "bad"},
		{`{"a":01`, "bad"},
		{`{"a":+1`, "bad"},
		{`{"a":.5`, "bad"},
		{`{"a":1.e`, "bad"},
		{`{"a":1e5.`, "bad"},
		{`{"a":--`, "bad"},
		{`{"a":trux`, "bad"},
		{`{"a":nulll`, "bad"},
		{`{"a":NaN`, "bad"},
		{`{"a":"\x`, "bad"},
		{`{"a":"\u00g`, "bad"},
		{`{"a":"\u00G`, "bad"},
		{`{"a":"\u00/`, "bad"},
		{"{\"a\":\"\n", "bad"},
		{"{\"a\":\"\x1f", "bad"},
		{"{\"a\v", "bad"},
		{"{\v", "bad"},
		{"\ufeff{}", "bad"},
		{"{}{}", "bad"},
		{"{} x", "bad"},
		{"{}}", "bad"},
		{`{"a":1 2`, "bad"},
		{`{"a":1 /`, "bad"},
	}

	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.doc), func(t *testing.T) {
			t.Parallel()

			if got := scanWhole(tt.doc); got != tt.want {
				t.Errorf("the scan says %s, want %s", got, tt.want)
			}
			if reference, ok := scanReference(tt.doc); !ok || reference != tt.want {
				t.Errorf("the table says %s, encoding/json %s", tt.want, reference)
			}
			if tt.want == "closed" {
				checkEveryPrefix(t, tt.doc)
			}
			checkEverySplit(t, tt.doc)
		})
	}
}

// checkEveryPrefix holds that no beginning of an object is called anything but that.
func checkEveryPrefix(t *testing.T, object string) {
	t.Helper()

	end := len(strings.TrimRight(object, " \t\r\n"))
	for n := range end {
		want := "open"
		if strings.TrimSpace(object[:n]) == "" {
			want = "empty"
		}
		if got := scanWhole(object[:n]); got != want {
			t.Errorf("the first %d bytes of %q are %s, want %s", n, object, got, want)
		}
	}
}

// checkEverySplit holds that it does not matter how the bytes come.
func checkEverySplit(t *testing.T, doc string) {
	t.Helper()

	want := scanWhole(doc)
	var single objectScan
	for i := range len(doc) {
		single.write(doc[i : i+1])
		var two objectScan
		two.write(doc[:i])
		two.write("")
		two.write(doc[i:])
		if got := scanned(&two); got != want {
			t.Errorf("%q cut at %d is %s, whole %s", doc, i, got, want)
		}
	}
	if got := scanned(&single); got != want {
		t.Errorf("%q byte by byte is %s, whole %s", doc, got, want)
	}
}

// TestObjectScanAgreesWithEncodingJSON walks through every document of a small alphabet, and leaves a branch where both
// sides say that no suffix can help.
func TestObjectScanAgreesWithEncodingJSON(t *testing.T) {
	t.Parallel()

	alphabet := []string{"{", "}", "[", "]", `"`, ":", ",", `\`, "u", "0", "7", "-", ".", "e", "null", " ", "\n"}
	documents := 0
	var walk func(doc string, s objectScan, depth int)
	walk = func(doc string, s objectScan, depth int) {
		documents++
		got := scanned(&s)
		if want, _ := scanReference(doc); got != want {
			t.Fatalf("%q: the scan says %s, encoding/json %s", doc, got, want)
		}
		if depth == 0 || got == "bad" {
			return
		}
		for _, letter := range alphabet {
			next := s
			next.json = *s.json.Clone()
			next.write(letter)
			walk(doc+letter, next, depth-1)
		}
	}
	for start, depth := range map[string]int{"": 3, "{": 4, `{"":`: 4, `{"":[`: 4, `{"":"`: 3, `{"":1`: 4} {
		var s objectScan
		s.write(start)
		walk(start, s, depth)
	}
	if documents < 10_000 {
		t.Errorf("only %d documents were looked at", documents)
	}
}

func TestObjectScanHasNoDepthLimit(t *testing.T) {
	t.Parallel()

	const depth = 100_000
	doc := strings.Repeat(`{"a":`, depth) + "0" + strings.Repeat("}", depth)
	if got := scanWhole(doc); got != "closed" {
		t.Errorf("an object %d deep is %s", depth, got)
	}
	if got := scanWhole(doc[:len(doc)-1]); got != "open" {
		t.Errorf("without its last brace it is %s", got)
	}
}

func FuzzObjectScan(f *testing.F) {
	for _, doc := range []string{
		"", " {", "{}", `{"a":[1,2.5e-3,true,false,null,"x\u00e9\n"]} `, `{"a":{"b":{}}}`, "[1]", `{"a":1}{"a":1}`,
		`{"a":"` + "\xff" + `"}`, `{"a":01}`, `{"a" 1}`,
	} {
		f.Add(doc, uint(len(doc)/2))
	}
	f.Fuzz(func(t *testing.T, doc string, cut uint) {
		want, ok := scanReference(doc)
		if !ok {
			t.Skip("deeper than encoding/json goes")
		}
		at := int(cut % uint(len(doc)+1))
		var s objectScan
		s.write(doc[:at])
		first := scanned(&s)
		s.write(doc[at:])
		got := scanned(&s)
		if got != want {
			t.Errorf("%q cut at %d: the scan says %s, encoding/json %s", doc, at, got, want)
		}
		if first == "bad" && got != "bad" {
			t.Errorf("%q was bad at byte %d and is %s", doc, at, got)
		}
		if got == "closed" && (first == "bad" || !json.Valid([]byte(doc))) {
			t.Errorf("%q is called closed", doc)
		}
	})
}
