package continuation_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
)

// pipeModel streams n chunks through schema.Pipe(1), as the provider clients do, and then the finish reason. It sends the
// same chunk again and again, so that all that is measured is the way from the pipe to the consumer.
type pipeModel struct {
	n     int
	first chan<- time.Time // when the first chunk was sent; nil if nobody asks
}

func (m pipeModel) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, io.ErrNoProgress
}

func (m pipeModel) Stream(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](1)
	go func() {
		defer w.Close()
		chunk := &schema.Message{Role: schema.Assistant, Content: "word "}
		for i := range m.n {
			if i == 0 && m.first != nil {
				m.first <- time.Now()
			}
			if w.Send(chunk, nil) || ctx.Err() != nil {
				return
			}
		}
		w.Send(&schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}, nil)
	}()

	return r, nil
}

// subjects are what every benchmark compares: the bare stream and the decorated one.
func subjects(m model.BaseChatModel) []struct {
	name string
	m    model.BaseChatModel
} {
	return []struct {
		name string
		m    model.BaseChatModel
	}{{"bare", m}, {"decorated", continuation.Wrap(m)}}
}

func drain(b *testing.B, m model.BaseChatModel, in []*schema.Message) int {
	b.Helper()
	r, err := m.Stream(b.Context(), in)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for n := 0; ; n++ {
		if _, err := r.Recv(); errors.Is(err, io.EOF) {
			return n
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkChunk is the cost of one chunk in streams of two lengths.
func BenchmarkChunk(b *testing.B) {
	in := []*schema.Message{schema.UserMessage("hi")}
	for _, n := range []int{10_000, 1_000_000} {
		for _, s := range subjects(pipeModel{n: n}) {
			b.Run(strconv.Itoa(n)+"/"+s.name, func(b *testing.B) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				for b.Loop() {
					if got := drain(b, s.m, in); got != n+1 {
						b.Fatalf("%d chunks", got)
					}
				}
				runtime.ReadMemStats(&after)
				chunks := float64(b.N) * float64(n)
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/chunks, "ns/chunk")
				b.ReportMetric(float64(after.Mallocs-before.Mallocs)/chunks, "allocs/chunk")
			})
		}
	}
}

// BenchmarkOpenStreams is what one more open stream costs while ten thousand are open.
func BenchmarkOpenStreams(b *testing.B) {
	const streams = 10_000
	in := []*schema.Message{schema.UserMessage("hi")}
	for _, s := range subjects(pipeModel{n: 1 << 30}) {
		b.Run(s.name, func(b *testing.B) {
			for b.Loop() {
				ctx, cancel := context.WithCancel(b.Context())
				readers := make([]*schema.StreamReader[*schema.Message], streams)
				goroutines, memory := runtime.NumGoroutine(), inUse()
				for i := range readers {
					r, err := s.m.Stream(ctx, in)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := r.Recv(); err != nil {
						b.Fatal(err)
					}
					readers[i] = r
				}
				b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/streams, "goroutines/stream")
				b.ReportMetric(float64(inUse()-memory)/streams, "B/stream")
				cancel()
				for _, r := range readers {
					r.Close()
				}
				for runtime.NumGoroutine() > goroutines {
					runtime.Gosched()
				}
			}
		})
	}
}

// inUse returns the bytes of live heap and of stacks.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)

	return int64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkFirstChunk is the time from the provider's first chunk to the consumer.
func BenchmarkFirstChunk(b *testing.B) {
	in := []*schema.Message{schema.UserMessage("hi")}
	sent := make(chan time.Time, 1)
	for _, s := range subjects(pipeModel{n: 1, first: sent}) {
		b.Run(s.name, func(b *testing.B) {
			var sum time.Duration
			for b.Loop() {
				r, err := s.m.Stream(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Recv(); err != nil {
					b.Fatal(err)
				}
				sum += time.Since(<-sent)
				r.Close()
			}
			b.ReportMetric(float64(sum.Nanoseconds())/float64(b.N), "ns/first-chunk")
		})
	}
}

// breakingModel breaks its first stream and notes when it is asked again.
type breakingModel struct {
	broke, asked time.Time
}

func (m *breakingModel) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, io.ErrNoProgress
}

func (m *breakingModel) Stream(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](3)
	defer w.Close()
	w.Send(&schema.Message{Role: schema.Assistant, Content: "some text "}, nil)
	if len(in) == 1 {
		m.broke = time.Now()
		w.Send(nil, syscall.ECONNRESET)
	} else {
		m.asked = time.Now()
		w.Send(&schema.Message{ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}, nil)
	}

	return r, nil
}

// BenchmarkBreakToRequest is the time from a break to the next request, with no wait between.
func BenchmarkBreakToRequest(b *testing.B) {
	in := []*schema.Message{schema.UserMessage("hi")}
	inner := &breakingModel{}
	m := continuation.Wrap(inner, continuation.WithBackoff(func(int) time.Duration { return 0 }))
	var sum time.Duration
	for b.Loop() {
		drain(b, m, in)
		sum += inner.asked.Sub(inner.broke)
	}
	b.ReportMetric(float64(sum.Nanoseconds())/float64(b.N), "ns/break-to-request")
}
