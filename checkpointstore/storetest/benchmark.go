package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// Benchmark measures Put of one run after the other checkpoint of it, small (4 KB) and large (250 KB), as a writer
// does it while an answer grows. Beside the mean it reports the median and the 99th percentile.
func Benchmark(b *testing.B, newStore NewStore) {
	b.Helper()
	for _, size := range []int{4 << 10, 250 << 10} {
		b.Run(fmt.Sprintf("Put/%dKB", size>>10), func(b *testing.B) {
			s := newStore(b)
			c := checkpointstore.Checkpoint{RunID: "run", Owner: "a", Epoch: 1, Text: strings.Repeat("0123456789abcde\n", size/16), UpdatedAt: time.Now()}
			b.SetBytes(int64(size))
			var took []time.Duration
			for b.Loop() {
				c.Seq++
				start := time.Now()
				if err := s.Put(b.Context(), c); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
