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

	mu      sync.Mutex
	changed sync.Cond // ends has grown
	puts    []time.Duration
	ends    []time.Duration // deletes
	failed  int
	bytes   int
}

func measure(b *testing.B, s checkpointstore.Store) *measured {
	b.Helper()
	d, ok := s.(checkpointstore.ConditionalDeleter)
	if !ok {
		b.Fatalf("%T deletes under no condition", s)
	}
	m := &measured{Store: s, ConditionalDeleter: d}
	m.changed.L = &m.mu

	return m
}

func (m *measured) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	return m.write(len(c.Text), func() error { return m.Store.Put(ctx, c) })
}

// write measures a write of so many bytes of text.
func (m *measured) write(bytes int, do func() error) error {
	start := time.Now()
	err := do()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.puts = append(m.puts, time.Since(start))
	if err == nil {
		m.bytes += bytes
	}
	if err != nil {
		m.failed++
	}

	return err
}

// adding is measured for a store that can add.
type adding struct {
	*measured
	below checkpointstore.Appender
}

func (m adding) Append(ctx context.Context, d checkpointstore.Delta) error {
	return m.write(len(d.Text), func() error { return m.below.Append(ctx, d) })
}

// given is the store as a call gets it.
func (m *measured) given() checkpointstore.Store {
	if a, ok := m.Store.(checkpointstore.Appender); ok {
		return adding{m, a}
	}

	return m
}

func (m *measured) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	start := time.Now()
	err := m.ConditionalDeleter.DeleteIf(ctx, c)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ends = append(m.ends, time.Since(start))
	if err != nil {
		m.failed++
	}
	m.changed.Broadcast()

	return err
}

// awaitDeletes waits until n answers have left the store, and reports whether they did in time.
func (m *measured) awaitDeletes(n int) bool {
	late := false
	limit := time.AfterFunc(15*time.Second, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		late = true
		m.changed.Broadcast()
	})
	defer limit.Stop()
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.ends) < n && !late {
		m.changed.Wait()
	}

	return !late
}

// percentile returns one of durations; 0 if there are none.
func percentile(of []time.Duration, p int) time.Duration {
	if len(of) == 0 {
		return 0
	}
	slices.Sort(of)

	return of[(len(of)-1)*p/100]
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

var benchRuns atomic.Int64 //nolint:gochecknoglobals // run ids of their own, also in the second run of a benchmark

// The load of BenchmarkCheckpointStreams: answers of some hundred tokens at fifty a second, as hosted models write
// them, that begin one after the other within a second. Faster tokens would measure how many chunks two cores can
// carry, and shorter answers what a call costs that hardly streams; what checkpoints cost a stream is a Get at its
// start, a delete at its end, and what their writes take from the cores and from the disk in between.
const (
	benchTokens = 200
	benchPace   = 20 * time.Millisecond
	benchSpread = time.Second
)

// load is what many streams side by side came to.
type load struct {
	wall   time.Duration
	waited time.Duration // by all streams for their beginning and, behind the last chunk, their end
	failed int
}

// atOnce runs streams side by side.
func atOnce(ctx context.Context, streams int, opts ...continuation.Option) load {
	m := continuation.Wrap(newPacedModel(benchTokens, benchPace), opts...)
	start := time.Now()
	var wg sync.WaitGroup
	var failed, waited atomic.Int64
	for i := range streams {
		wg.Go(func() {
			<-time.After(time.Duration(i) * benchSpread / time.Duration(streams))
			ctx := continuation.ContextWithRunID(ctx, fmt.Sprint("bench-", benchRuns.Add(1)))
			d, err := drain(ctx, m)
			if err != nil {
				failed.Add(1)
			}
			waited.Add(int64(d))
		})
	}
	wg.Wait()

	return load{wall: time.Since(start), waited: time.Duration(waited.Load()), failed: int(failed.Load())}
}

// drain reads an answer, and returns how long it took to begin and to end.
func drain(ctx context.Context, m *continuation.Model) (waited time.Duration, err error) {
	asked := time.Now()
	r, err := m.Stream(ctx, []*schema.Message{schema.UserMessage("Go on.")})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	waited = time.Since(asked)
	for {
		last := time.Now()
		if _, err := r.Recv(); err != nil {
			if errors.Is(err, io.EOF) {
				return waited + time.Since(last), nil
			}

			return waited, err
		}
	}
}

// BenchmarkCheckpointStreams compares streams with checkpoints, at the default cadence, with streams without, in turns:
// "ratio" is their throughput, 1 if checkpoints cost nothing, the median of all turns; "waited-ms" is how long a stream
// waited for the store, and "unfinished" counts what the store refused or did not do in time.
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
				var ratios []float64
				var waited, with time.Duration
				for b.Loop() {
					bare := atOnce(b.Context(), streams)
					kept := atOnce(b.Context(), streams, continuation.WithCheckpoints(store.given()))
					if n := bare.failed + kept.failed; n > 0 {
						b.Errorf("%d streams failed", n)
					}
					ratios = append(ratios, bare.wall.Seconds()/kept.wall.Seconds())
					waited, with = waited+kept.waited-bare.waited, with+kept.wall
					if !store.awaitDeletes(len(ratios) * streams) {
						b.Logf("%d answers were written, or deleted, without a store", len(ratios)*streams-len(store.ends))
					}
				}
				slices.Sort(ratios)
				n := len(ratios) * streams
				b.ReportMetric(0, "ns/op") // of both
				b.ReportMetric(ratios[len(ratios)/2], "ratio")
				b.ReportMetric(milliseconds(waited)/float64(n), "waited-ms")
				b.ReportMetric(float64(n)/with.Seconds(), "streams/s")
				b.ReportMetric(float64(len(store.puts))/float64(n), "puts/stream")
				b.ReportMetric(milliseconds(percentile(store.puts, 50)), "p50-put-ms")
				b.ReportMetric(milliseconds(percentile(store.puts, 99)), "p99-put-ms")
				b.ReportMetric(milliseconds(percentile(store.ends, 99)), "p99-delete-ms")
				b.ReportMetric(float64(store.failed), "unfinished")
			})
		}
	}
}

// BenchmarkCheckpointLargeAnswer tells what an answer of 1 MB, as fast as it can be read, costs in writes, and what of it is in
// the store when its end comes.
func BenchmarkCheckpointLargeAnswer(b *testing.B) {
	const size = 1 << 20
	var script fm.Script
	for range size >> 10 {
		script = append(script, fm.Text(strings.Repeat("x", 1<<10)), fm.Idle(time.Millisecond))
	}
	for _, kind := range []string{"file", "sqlite", "redis", "nats", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			s, err := places()[kind](b).open(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			store := measure(b, s)
			lost := 0
			m := continuation.Wrap(fm.Continuer(append(script, fm.Finish("stop"))), continuation.WithCheckpoints(store.given()))
			for b.Loop() {
				id := fmt.Sprint("bench-", benchRuns.Add(1))
				lost += size - textOf(b, m, store, id, size>>10)
			}
			b.ReportMetric(float64(store.bytes)/float64(b.N)/size, "MB-written")
			b.ReportMetric(float64(len(store.puts))/float64(b.N), "writes")
			b.ReportMetric(milliseconds(percentile(store.puts, 99)), "p99-write-ms")
			b.ReportMetric(float64(lost)/float64(b.N)/1024, "KiB-a-crash-costs")
		})
	}
}

// textOf reads n chunks of an answer, and returns how many bytes of them are in the store at that moment.
func textOf(b *testing.B, m *continuation.Model, s checkpointstore.Store, runID string, n int) int {
	b.Helper()
	r, err := m.Stream(continuation.ContextWithRunID(b.Context(), runID), []*schema.Message{schema.UserMessage("Go on.")})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for range n {
		if _, err := r.Recv(); err != nil {
			b.Fatal(err)
		}
	}
	c, err := s.Get(b.Context(), runID)
	if err != nil {
		b.Log(err)
	}

	return len(c.Text)
}
