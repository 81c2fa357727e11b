package snapshot

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/cloudwego/eino/schema"
)

// longAnswer returns n chunks: a tenth of them reasoning, then text, then one long tool call.
func longAnswer(n int) []*schema.Message {
	chunks := make([]*schema.Message, n)
	for i := range chunks {
		switch {
		case i < n/10:
			chunks[i] = thought("so then ", map[string]any{"thinking": "so then "})
		case i < n/2:
			chunks[i] = schema.AssistantMessage("and so on ", nil)
		case i == n/2:
			chunks[i] = schema.AssistantMessage("", calls(delta(0, "c1", "write", `{"text":"`)))
		case i == n-1:
			chunks[i] = schema.AssistantMessage("", calls(delta(0, "", "", `"}`)))
		default:
			chunks[i] = schema.AssistantMessage("", calls(delta(0, "", "", "and so on ")))
		}
	}

	return chunks
}

func addAll(tb testing.TB, chunks []*schema.Message) *Accumulator {
	tb.Helper()

	a := &Accumulator{ReasoningKeys: []string{"thinking"}}
	mustAdd(tb, a, chunks...)

	return a
}

// TestAddDoesNotAllocateForEachChunk lets buffers grow, which they do ever more seldom, and nothing else. It does not
// run beside other tests: their allocations would be counted too.
func TestAddDoesNotAllocateForEachChunk(t *testing.T) {
	few, many := longAnswer(1_000), longAnswer(64_000)
	inFew := testing.AllocsPerRun(3, func() { addAll(t, few) })
	inMany := testing.AllocsPerRun(3, func() { addAll(t, many) })
	if inFew > 100 || inMany > inFew+200 {
		t.Errorf("%.0f allocations for %d chunks, %.0f for %d", inFew, len(few), inMany, len(many))
	}
	if a := addAll(t, many); a.CallState(0, false) != CallWhole {
		t.Errorf("the call is %v", a.CallState(0, false))
	}
}

// TestAQuestionDoesNotCopyTheAnswer holds what is asked for every chunk to a price that does not depend on what came.
func TestAQuestionDoesNotCopyTheAnswer(t *testing.T) {
	a := addAll(t, longAnswer(10_000))
	allocs := testing.AllocsPerRun(10, func() {
		_, _, _, _ = a.TextLen(), a.Calls(), a.FinishReason(), a.Usage()
		_, _, _ = a.CallState(0, false), a.CallEmpty(0), a.CallSize(0)
		_, _, _ = a.HasTextAt(5, "on and"), a.Touched(), a.ReasoningDone()
		_ = PartialRune(a.text.view())
	})
	if allocs > 0 {
		t.Errorf("%.0f allocations", allocs)
	}
}

// TestASnapshotDoesNotCopyTheAnswer: one is taken for every few kilobytes of a long answer, to be kept.
func TestASnapshotDoesNotCopyTheAnswer(t *testing.T) {
	cost := func(chunks int) uint64 {
		a := addAll(t, longAnswer(chunks))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 100 {
			_, _, _ = a.Snapshot(), a.Kept(), a.Call(0, true)
		}
		runtime.ReadMemStats(&after)

		return (after.TotalAlloc - before.TotalAlloc) / 100
	}
	if few, many := cost(100), cost(100_000); many > 2*few+1024 {
		t.Errorf("%d bytes for 100 chunks, %d for 100000", few, many)
	}
}

// BenchmarkAdd shows the price of a chunk, which must not grow with the length of the answer.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		chunks := longAnswer(n)
		b.Run(fmt.Sprintf("%d_chunks", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				addAll(b, chunks)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
		})
	}
}

// BenchmarkAddManyCalls does the same for answers that are nothing but calls.
func BenchmarkAddManyCalls(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		chunks := make([]*schema.Message, n)
		for i := range chunks {
			chunks[i] = schema.AssistantMessage("", calls(delta(i, fmt.Sprint("c", i), "find", "{}")))
		}
		b.Run(fmt.Sprintf("%d_calls", n), func(b *testing.B) {
			for b.Loop() {
				addAll(b, chunks)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
		})
	}
}
