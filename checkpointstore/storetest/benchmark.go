package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// Benchmark measures Put of one run after the other checkpoint of it, small (4 KB), large (250 KB) and very large (1 MB),
// as a writer does it while an answer grows, and Append of 4 KB to a very large one if the store is an Appender. Beside
// the mean it reports the median and the 99th percentile.
func Benchmark(b *testing.B, newStore NewStore) {
	b.Helper()
	for _, size := range []int{4 << 10, 250 << 10, benchmarkBase} {
		b.Run(fmt.Sprintf("Put/%dKB", size>>10), func(b *testing.B) {
			s := newStore(b)
			c := benchmarked(size)
			b.SetBytes(int64(size))
			var took latencies
			for b.Loop() {
				c.Seq++
				took.add(b, func() error { return s.Put(b.Context(), c) })
			}
			took.report(b)
		})
	}
	b.Run(fmt.Sprintf("Append/%dKBto%dKB", benchmarkDelta>>10, benchmarkBase>>10), func(b *testing.B) {
		s := newStore(b)
		a, ok := s.(checkpointstore.Appender)
		if !ok {
			b.Skip("the store has no such ability")
		}
		benchmarkAppend(b, s, a)
	})
}

const (
	benchmarkBase  = 1 << 20
	benchmarkDelta = 4 << 10
)

// benchmarkAppend puts the whole again when the deltas have become as long as it was, as a writer does.
func benchmarkAppend(b *testing.B, s checkpointstore.Store, a checkpointstore.Appender) {
	b.Helper()
	c := benchmarked(benchmarkBase)
	d := checkpointstore.Delta{RunID: c.RunID, Owner: c.Owner, Epoch: c.Epoch, Text: benchmarked(benchmarkDelta).Text, UpdatedAt: c.UpdatedAt}
	b.SetBytes(benchmarkDelta)
	var took latencies
	for n := 0; b.Loop(); n++ {
		if n%(benchmarkBase/benchmarkDelta) == 0 {
			b.StopTimer()
			c.Seq++
			if err := s.Put(b.Context(), c); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		d.After, d.Seq = c.Seq, c.Seq+1
		c.Seq++
		took.add(b, func() error { return a.Append(b.Context(), d) })
	}
	took.report(b)
}

func benchmarked(size int) checkpointstore.Checkpoint {
	return checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: strings.Repeat("0123456789abcde\n", size/16), UpdatedAt: time.Now()}
}

// latencies is what each call took.
type latencies []time.Duration

func (l *latencies) add(b *testing.B, do func() error) {
	b.Helper()
	start := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	*l = append(*l, time.Since(start))
}

func (l *latencies) report(b *testing.B) {
	b.Helper()
	slices.Sort(*l)
	b.ReportMetric(float64((*l)[len(*l)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64((*l)[len(*l)*99/100].Microseconds()), "p99-µs")
}
