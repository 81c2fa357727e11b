package continuation

import (
	"strings"
	"testing"
	"time"
)

// readPrefix counts the bytes that a join looks at in the text before it.
type readPrefix struct {
	prefix
	read int
}

func (p *readPrefix) Tail(n int) string {
	p.read += min(n, p.TextLen())

	return p.prefix.Tail(n)
}

func (p *readPrefix) HasTextAt(offset int, s string) bool {
	p.read += len(s)

	return p.prefix.HasTextAt(offset, s)
}

// linearShapes are texts and continuations that grow with n, some of them such as a search has to look at again and again.
func linearShapes() map[string]func(n int) (text, continuation string) {
	period := func(s string) func(int) (string, string) {
		return func(n int) (string, string) { return strings.Repeat(s, n/len(s)), strings.Repeat(s, n/len(s)) }
	}

	return map[string]func(n int) (text, continuation string){
		"restart":  func(n int) (string, string) { s := joinLong(n); return s, s + "And more." },
		"honest":   func(n int) (string, string) { return joinLong(n), " It goes on" + strings.Repeat(" and on", n/7) },
		"replay":   func(n int) (string, string) { s := joinLong(n); return s, s[len(s)/2:] + "And more." },
		"one byte": period("a"),
		"blanks":   func(n int) (string, string) { return joinLong(n) + strings.Repeat(" ", n), strings.Repeat(" ", n) },
		"lines": func(n int) (string, string) {
			return joinLong(n) + strings.Repeat("\n", n), strings.Repeat("\n", n) + "and"
		},
		"rows":    period("| alpha | beta |\n"),
		"tables":  period("| a | b |\n|---|---|\n"),
		"arrays":  period("["),
		"objects": period(`{"a":[`),
		"fences":  period("```\n"),
		"code": func(n int) (string, string) {
			return "```go\n" + strings.Repeat("x := 1\n", n/7), strings.Repeat("x := 1\n", n/7)
		},
		"string": func(n int) (string, string) {
			return `{"text":"` + strings.Repeat("word ", n/5), strings.Repeat("word ", n/5) + `"}`
		},
		"fibonacci": func(n int) (string, string) {
			a, b := "a", "ab"
			for len(b) < n {
				a, b = b, b+a
			}

			return b[:n], b[:n]
		},
	}
}

// linearJoin joins once and returns how many bytes of the text it looked at, and how long it took.
func linearJoin(text, continuation string) (read int, took time.Duration) {
	p := &readPrefix{prefix: delivered(text)}
	pieces := split(continuation, 20)
	trimmed := text[len(strings.TrimRight(text, " \n")):]
	began := time.Now()
	j := newJoiner(p, trimmed, false)
	for _, s := range pieces {
		j.take(s)
	}
	j.end()

	return p.read, time.Since(began)
}

// TestJoinIsLinear: a text ten times as long costs ten times as much to join, of which the bytes that are looked at are
// counted, and the time is the best of several with room for everybody else: what is quadratic takes a hundred times as much.
// It does not run beside other tests.
func TestJoinIsLinear(t *testing.T) {
	const few, many, most = 20_000, 200_000, 40
	for name, shape := range linearShapes() {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) (read int, best time.Duration) {
				text, continuation := shape(n)
				best = time.Hour
				for range 5 {
					r, took := linearJoin(text, continuation)
					read, best = r, min(best, took)
				}

				return read, best
			}
			read, took := cost(few)
			readMany, tookMany := cost(many)
			if readMany > 12*read+joinContext {
				t.Errorf("it looks at %d bytes of %d, and at %d of ten times as many", read, few, readMany)
			}
			if floor := 20 * time.Microsecond; tookMany > most*max(took, floor) {
				t.Errorf("it takes %v, and %v for a text ten times as long", took, tookMany)
			}
		})
	}
}
