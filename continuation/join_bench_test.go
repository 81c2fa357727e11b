package continuation

import (
	"fmt"
	"strings"
	"testing"
)

// joinLong returns at least n bytes of text in which no sentence stands twice.
func joinLong(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "This is sentence number %d of a long text. ", i)
	}

	return b.String()
}

// joinAll feeds pieces until they are at an end.
func joinAll(b *testing.B, j *joiner, pieces []string, want joinState) {
	b.Helper()
	for _, p := range pieces {
		j.take(p)
	}
	j.end()
	if j.state != want {
		b.Fatalf("the join came to state %d, want %d", j.state, want)
	}
}

// BenchmarkJoin is the cost of a join: of a restart, which is linear in its length, and of what is held back, where every
// byte comes alone.
func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1_000, 100_000, 1_000_000} {
		text := joinLong(n)
		b.Run(fmt.Sprintf("restart/%d", n), func(b *testing.B) {
			prefix, pieces := delivered(text), split(text+"And more.", 20)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				joinAll(b, newJoiner(prefix, " ", false), pieces, joinDone)
			}
		})
		b.Run(fmt.Sprintf("honest/%d", n), func(b *testing.B) {
			prefix, pieces := delivered(text), split("It goes on with words of its own, which nobody has seen before.", 1)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				joinAll(b, newJoiner(prefix, " ", false), pieces, joinDone)
			}
		})
	}
	long := strings.TrimSpace(joinLong(50_000))
	for _, c := range []struct{ name, prefix, continuation string }{
		{"honest", long, " It goes on with words of its own, which nobody has seen before, and so on and on."},
		{"replay", long, long[strings.LastIndex(long[:len(long)-3000], "This"):] + " And more."},
		{"equal bytes", strings.Repeat("a", 50_000), strings.Repeat("a", 2000)},
		{"equal rows", strings.Repeat("| a | b |\n", 5000), strings.Repeat("| a | b |\n", 100)},
		{"JSON", `{"text":"` + long, long[len(long)-300:] + ` and more"}`},
		{"JSON arrays", strings.Repeat("[", 50_000), strings.Repeat("[", 2000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			prefix, pieces := delivered(c.prefix), split(c.continuation, 1)
			b.ReportAllocs()
			for b.Loop() {
				joinAll(b, newJoiner(prefix, "", false), pieces, joinDone)
			}
		})
	}
}
