package places_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/continuation"
)

// talker streams n chunks through schema.Pipe(1), as the provider clients do, and then the finish reason.
type talker struct {
	n     int
	first time.Duration // until the first chunk
}

func (talker) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, io.ErrNoProgress
}

func (m talker) Stream(ctx context.Context, _ []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	r, w := schema.Pipe[*schema.Message](1)
	go func() {
		defer w.Close()
		select {
		case <-time.After(m.first):
		case <-ctx.Done():
			return
		}
		for range m.n {
			if w.Send(schema.AssistantMessage("word ", nil), nil) || ctx.Err() != nil {
				return
			}
		}
		w.Send(&schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}}, nil)
	}()

	return r, nil
}

// contender is a runner of an agent that is measured.
type contender struct {
	name   string
	runner *adk.Runner
}

// contenders are the same agent, bare and with the decorator in both places.
func contenders(tb testing.TB, m model.BaseChatModel) []contender {
	tb.Helper()
	middleware, err := continuation.NewMiddleware()
	if err != nil {
		tb.Fatal(err)
	}
	var all []contender
	for _, c := range []struct {
		name string
		cfg  adk.ChatModelAgentConfig
	}{
		{"bare", adk.ChatModelAgentConfig{Model: m}},
		{"Model", adk.ChatModelAgentConfig{Model: continuation.Wrap(m)}},
		{"middleware", adk.ChatModelAgentConfig{Model: m, Handlers: []adk.ChatModelAgentMiddleware{middleware}}},
	} {
		c.cfg.Name = "agent"
		agent, err := adk.NewChatModelAgent(tb.Context(), &c.cfg)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, contender{c.name, adk.NewRunner(tb.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true})})
	}

	return all
}

// turn runs one turn to its end and returns how long the first chunk took.
func (c contender) turn(tb testing.TB) (first time.Duration) {
	tb.Helper()
	began := time.Now()
	events := c.runner.Query(tb.Context(), "hi")
	for {
		e, ok := events.Next()
		if !ok {
			return first
		}
		if e.Err != nil {
			tb.Fatal(e.Err)
		}
		stream := e.Output.MessageOutput.MessageStream
		for {
			_, err := stream.Recv()
			if first == 0 {
				first = time.Since(began)
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				tb.Fatal(err)
			}
		}
		stream.Close()
	}
}

// BenchmarkAgentFirstToken compares the time to an agent's first chunk, in turns of the contenders one after the other. The
// model takes 5 ms for it, far less than any real one.
func BenchmarkAgentFirstToken(b *testing.B) {
	all := contenders(b, talker{n: 20, first: 5 * time.Millisecond})
	took := make([][]time.Duration, len(all))
	for b.Loop() {
		for i, c := range all {
			took[i] = append(took[i], c.turn(b))
		}
	}
	bare := median(took[0])
	for i, c := range all[1:] {
		b.ReportMetric(median(took[i+1])/bare, c.name+"/bare")
	}
	b.ReportMetric(bare, "bare-ns")
	b.ReportMetric(0, "ns/op")
}

func median(all []time.Duration) float64 {
	slices.Sort(all)

	return float64(all[len(all)/2])
}

// allocations returns how much an agent's turn of n chunks allocates, for each contender.
func allocations(tb testing.TB, n int) map[string]float64 {
	tb.Helper()
	all := map[string]float64{}
	for _, c := range contenders(tb, talker{n: n}) {
		all[c.name] = testing.AllocsPerRun(20, func() { c.turn(tb) })
	}

	return all
}

// BenchmarkAgentAllocations compares the allocations of a turn of 2000 chunks, and tells what the decorator adds to it.
func BenchmarkAgentAllocations(b *testing.B) {
	for b.Loop() {
		got := allocations(b, 2000)
		for _, name := range []string{"Model", "middleware"} {
			b.ReportMetric(got[name]/got["bare"], name+"/bare")
			b.ReportMetric(got[name]-got["bare"], name+"-added")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// TestAgentAllocationsAreConstant: what the decorator adds to a turn does not grow with the answer.
func TestAgentAllocationsAreConstant(t *testing.T) {
	short, long := allocations(t, 200), allocations(t, 4200)
	for _, name := range []string{"Model", "middleware"} {
		few, many := short[name]-short["bare"], long[name]-long["bare"]
		t.Logf("%s adds %.0f allocations to a turn of 200 chunks, %.0f to one of 4200", name, few, many)
		if few > 200 || many > few+100 {
			t.Errorf("%s adds %.0f allocations to 200 chunks, %.0f to 4200", name, few, many)
		}
	}
}
