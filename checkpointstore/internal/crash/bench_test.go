//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// measured is a store that measures its writes.
type measured struct {
	checkpointstore.Store
	checkpointstore.ConditionalDeleter

	mu    sync.Mutex
	took  []time.Duration
	bytes int
}

func measure(b *testing.B, s checkpointstore.Store) *measured {
	b.Helper()
	d, ok := s.(checkpointstore.ConditionalDeleter)
	if !ok {
		b.Fatalf("%T deletes under no condition", s)
	}

	return &measured{Store: s, ConditionalDeleter: d}
}

func (m *measured) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	start := time.Now()
	err := m.Store.Put(ctx, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.took = append(m.took, time.Since(start))
	m.bytes += len(c.Text)

	return err
}

func (m *measured) p99() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.took) == 0 {
		return 0
	}
	slices.Sort(m.took)

	return m.took[len(m.took)*99/100]
}

// paced is an answer of 200 tokens, one every 5 ms.
func paced() fm.Script {
	var s fm.Script
	for i := range 200 {
		s = append(s, fm.Text(fmt.Sprintf("token%d ", i)), fm.Idle(5*time.Millisecond))
	}

	return append(s, fm.Finish("stop"))
}

var benchRuns atomic.Int64 //nolint:gochecknoglobals // run ids of their own, also in the second run of a benchmark

// atOnce runs streams side by side, which begin one after the other within a second, and returns how long all took, and how many failed.
func atOnce(ctx context.Context, streams int, opts ...continuation.Option) (time.Duration, int) {
	m := continuation.Wrap(fm.Continuer(paced()), opts...)
	start := time.Now()
	var wg sync.WaitGroup
	var failed atomic.Int64
	for i := range streams {
		wg.Go(func() {
			<-time.After(time.Duration(i) * time.Second / time.Duration(streams))
			ctx := continuation.ContextWithRunID(ctx, fmt.Sprint("bench-", benchRuns.Add(1)))
			if drain(ctx, m) != nil {
				failed.Add(1)
			}
		})
	}
	wg.Wait()

	return time.Since(start), int(failed.Load())
}

func drain(ctx context.Context, m *continuation.Model) error {
	r, err := m.Stream(ctx, []*schema.Message{schema.UserMessage("Go on.")})
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		if _, err := r.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}

			return err
		}
	}
}

// BenchmarkCheckpointStreams compares streams with checkpoints, at the default cadence, with streams without: "ratio" is
// their throughput, 1 if checkpoints cost nothing.
func BenchmarkCheckpointStreams(b *testing.B) {
	for _, streams := range []int{200, 1000} {
		for _, kind := range []string{"file", "sqlite", "redis", "nats", "postgres"} {
			b.Run(fmt.Sprintf("%s/%d", kind, streams), func(b *testing.B) {
				at := places()[kind](b)
				s, err := at.open(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				store := measure(b, s)
				var without, with time.Duration
				bad := 0
				for b.Loop() {
					d, failed := atOnce(b.Context(), streams)
					without, bad = without+d, bad+failed
					d, failed = atOnce(b.Context(), streams, continuation.WithCheckpoints(store))
					with, bad = with+d, bad+failed
				}
				if bad > 0 {
					b.Errorf("%d streams failed", bad)
				}
				b.ReportMetric(without.Seconds()/with.Seconds(), "ratio")
				b.ReportMetric(float64(b.N*streams)/with.Seconds(), "streams/s")
				b.ReportMetric(float64(len(store.took))/float64(b.N*streams), "puts/stream")
				b.ReportMetric(float64(store.p99().Microseconds())/1000, "p99-put-ms")
			})
		}
	}
}

// BenchmarkCheckpointLargeAnswer tells what an answer of 1 MB, as fast as it can be read, costs in writes.
func BenchmarkCheckpointLargeAnswer(b *testing.B) {
	var script fm.Script
	for range 1 << 10 {
		script = append(script, fm.Text(strings.Repeat("x", 1<<10)))
	}
	script = append(script, fm.Finish("stop"))
	s, err := places()["file"](b).open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	store := measure(b, s)
	m := continuation.Wrap(fm.Continuer(script), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
	for b.Loop() {
		if err := drain(continuation.ContextWithRunID(b.Context(), fmt.Sprint("bench-", benchRuns.Add(1))), m); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(store.bytes)/float64(b.N)/(1<<20), "MB-written")
}
