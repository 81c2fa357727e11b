package callbacks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBoundMessage(t *testing.T) {
	full := strings.Repeat("x", MaxErrorMessage)
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"short", "connection reset", "connection reset"},
		{"exact", full, full},
		{"one more", full + "y", full},
		{"rune fits", full[2:] + "é", full[2:] + "é"},
		{"rune across the bound", full[1:] + "é", full[1:]},
		{"wide rune across the bound", full[3:] + "🙂", full[3:]},
		{"no second chance after a cut", full[1:] + "éz", full[1:]},
		{"invalid byte", "a\xffb", "a\uFFFDb"},
		{"half rune at the end", "a\xf0\x9f", "a\uFFFD\uFFFD"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := BoundMessage(c.in); got != c.want {
				t.Errorf("got %d bytes %.40q, want %d bytes %.40q", len(got), got, len(c.want), c.want)
			}
		})
	}
}

func FuzzBoundMessage(f *testing.F) {
	f.Add("a\xffb", 1)
	f.Add("é", 600)
	f.Add("\xf0\x9f\x99\x82", 257)
	f.Fuzz(func(t *testing.T, s string, n int) {
		s = strings.Repeat(s, min(max(n, 0), 1+4*MaxErrorMessage/(1+len(s))))
		got := BoundMessage(s)
		if len(got) > MaxErrorMessage || !utf8.ValidString(got) {
			t.Fatalf("%q became %q (%d bytes)", s, got, len(got))
		}
		if whole := strings.ToValidUTF8(s, ""); !strings.Contains(s, "\uFFFD") &&
			!strings.HasPrefix(whole, strings.ReplaceAll(got, "\uFFFD", "")) {
			t.Fatalf("%q became %q, which it does not begin with", s, got)
		}
		if again := BoundMessage(got); again != got {
			t.Fatalf("%q became %q the second time", got, again)
		}
	})
}
