package continuation

import (
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// WithLiveToolCalls delivers tool calls piece by piece as they come, for a program that shows them while they are written.
// By default a call is held until it is whole. The consumer must then drop the pieces of a call that a
// [callbacks.ToolCallCancel] names, and a message concatenated from the chunks may hold half a call. That is nothing for
// who runs tools: the middleware refuses the option, and so does a model inside a graph or an agent, and [NewTyped] for
// agentic messages.
func WithLiveToolCalls() Option {
	return func(c *config) { c.liveToolCalls = true }
}

// live lets the pieces of tool calls pass as they come. Each call has an index of its own over all attempts, so that
// the pieces of one that broke off are never taken for those of another.
type live struct {
	base int // added to the indices of this attempt
	next int // behind all indices that were delivered
}

func (l *live) pass(acc *snapshot.Accumulator, m chunk, out func(chunk)) {
	if len(m.ToolCalls) == 0 {
		out(m)

		return
	}
	calls := slices.Clone(m.ToolCalls)
	same := true
	for i, n := range acc.Touched() {
		index := l.index(acc, n)
		same = same && calls[i].Index != nil && *calls[i].Index == index
		calls[i].Index = &index
	}
	if same {
		out(m)

		return
	}
	with := *m.Message
	with.ToolCalls = calls
	out(m.as(&with))
}

func (l *live) index(acc *snapshot.Accumulator, n int) int {
	index := l.base + acc.CallIndex(n)
	l.next = max(l.next, index+1)

	return index
}

// interrupt readies the next attempt. A call that is whole without arguments gets its empty object.
func (l *live) interrupt(acc *snapshot.Accumulator, out func(chunk)) {
	for n := range acc.Calls() {
		if acc.CallEmpty(n) && acc.CallState(n, acc.FinishReason() != "") == snapshot.CallWhole {
			index := l.index(acc, n)
			out(made(&schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
				{Index: &index, Function: schema.FunctionCall{Arguments: "{}"}},
			}}))
		}
	}
	l.base = l.next
}
