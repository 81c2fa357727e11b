package snapshot

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
)

const runes = "aé€😀\u0301e\ufffd日本語 ß\n👩‍👧z"

func TestSnapshotEndsOnARuneAtEveryCut(t *testing.T) {
	t.Parallel()

	for cut := range len(runes) + 1 {
		var a Accumulator
		for i := range cut { // byte by byte, as a provider that cuts anywhere
			mustAdd(t, &a, schema.AssistantMessage(runes[i:i+1], nil))
		}
		text := a.Snapshot().Text
		whole := 0
		for i, r := range runes {
			if end := i + utf8.RuneLen(r); end <= cut {
				whole = end
			}
		}
		if text != runes[:whole] {
			t.Errorf("cut at %d: %q, want %q", cut, text, runes[:whole])
		}
		if a.TextLen() != cut {
			t.Errorf("cut at %d: %d bytes", cut, a.TextLen())
		}
		if got := PartialRune(runes[:cut]); got != cut-whole {
			t.Errorf("cut at %d: the partial rune has %d bytes, want %d", cut, got, cut-whole)
		}

		a.Interrupt()
		mustAdd(t, &a, schema.AssistantMessage(runes[whole:], nil))
		if got := a.Snapshot().Text; got != runes {
			t.Errorf("cut at %d and continued: %q", cut, got)
		}
	}
}

func TestTheNextChunkCompletesARune(t *testing.T) {
	t.Parallel()

	for cut := range len(runes) + 1 {
		var a Accumulator
		mustAdd(t, &a, schema.AssistantMessage(runes[:cut], nil))
		_ = a.Snapshot()
		mustAdd(t, &a, schema.AssistantMessage(runes[cut:], nil))
		if got := a.Snapshot().Text; got != runes {
			t.Errorf("cut at %d: %q", cut, got)
		}
	}
}

func TestPartialRune(t *testing.T) {
	t.Parallel()

	tests := []struct {
		text string
		want int
	}{
		{"", 0},
		{"a", 0},
		{"é", 0},
		{"\xc3", 1},
		{"a\xc3", 1},
		{"\xe2\x82", 2},
		{"\xf0\x9f\x98", 3},
		{"\xf0\x9f\x98\x80", 0},
		{"€\xf0\x9f", 2},
		{"\x80", 0},         // a rune does not begin like this,
		{"\x80\x80\x80", 0}, // nor like this
		{"\xff", 0},
		{"\xc0", 0},
		{"\xe2\x28", 0},
		{"\xf0\x9f\x98\x80\x80", 0},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("%q", tt.text), func(t *testing.T) {
			t.Parallel()

			if got := PartialRune(tt.text); got != tt.want {
				t.Errorf("%d bytes, want %d", got, tt.want)
			}
			if got := PartialRune([]byte(tt.text)); got != tt.want {
				t.Errorf("as bytes %d, want %d", got, tt.want)
			}
		})
	}
}

func FuzzPartialRune(f *testing.F) {
	for cut := range len(runes) {
		f.Add(runes[:cut])
	}
	f.Add("\xf4\x90\x80")
	f.Add("\xed\xa0")
	f.Fuzz(func(t *testing.T, text string) {
		n := PartialRune(text)
		if n < 0 || n > min(utf8.UTFMax-1, len(text)) {
			t.Fatalf("%q: %d bytes", text, n)
		}
		if n > 0 && utf8.ValidString(text) {
			t.Errorf("%q is whole, and is to lose %d bytes", text, n)
		}
		completable := 0
		for k := 1; k < min(utf8.UTFMax, len(text)+1); k++ {
			if end := text[len(text)-k:]; utf8.RuneStart(end[0]) && !utf8.FullRuneInString(end) {
				completable = k
			}
		}
		if n != completable {
			t.Errorf("%q: %d bytes, but %d could become a rune", text, n, completable)
		}
	})
}
