package continuation

import (
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// gate holds tool calls back until they are whole, and text that came behind a held call, so that the order stays. All
// else passes at once. It is a queue: what stands at its head leaves as soon as it may.
type gate struct {
	acc     *snapshot.Accumulator
	queue   []held
	calls   []callState // by ordinal
	late    []late      // what came behind calls that were delivered, until the end shows whether it was cut
	bytes   int         // held back
	fill    bool        // an empty object is written where a call has no arguments: a break has been seen
	remotes *remotes    // of tools that the provider runs; nil but for agentic messages
	live    *live       // nothing is held: calls pass as they come; nil if they are held
}

// late is what came behind a call that was delivered whole.
type late struct {
	role  schema.RoleType
	delta schema.ToolCall
}

// held is one thing in the queue: a chunk with text, or a call by its ordinal.
type held struct {
	chunk chunk // if there is a message in it
	call  int   // if there is none
	role  schema.RoleType
}

type callState struct {
	queued, delivered bool
	spoiled           bool // something that is no white space came behind it after it was delivered
	size              int  // bytes held for it
}

// pass takes a chunk that the accumulator has just added and calls out for what may leave, in order.
func (g *gate) pass(m chunk, out func(chunk)) {
	if g.live != nil {
		g.live.pass(g.acc, m, out)

		return
	}
	if m.origin != nil {
		g.follow(m, out)
	}
	if m.remote() != nil {
		g.hold(m, out)

		return
	}
	if len(m.ToolCalls) == 0 {
		if len(g.queue) == 0 || !m.ofText() {
			out(m)

			return
		}
		g.queue = append(g.queue, held{chunk: m})
		g.bytes += len(snapshot.Text(m.Message))

		return
	}

	rest := *m.Message
	rest.ToolCalls = nil
	before := len(g.queue)
	space := g.enqueue(m)
	if ready := g.ready(); len(ready) > 0 && len(ready) == len(g.queue) && len(space) == 0 {
		// Everything that is held leaves with this chunk: it keeps its shape.
		if calls, ok := g.callsOnly(ready, len(m.ToolCalls)); ok {
			g.queue, g.bytes = g.queue[:0], 0
			rest.ToolCalls = calls
			out(m.as(&rest))

			return
		}
	}
	g.passRest(m.as(&rest), before, out)
	if len(space) > 0 {
		out(m.as(&schema.Message{Role: m.Role, ToolCalls: space}))
	}
	g.release(out)
}

// enqueue puts the calls that m begins into the queue and returns the white space that came behind delivered ones.
func (g *gate) enqueue(m chunk) []schema.ToolCall {
	var space []schema.ToolCall
	for i, n := range g.acc.Touched() {
		for len(g.calls) <= n {
			g.calls = append(g.calls, callState{})
		}
		d, c := &m.ToolCalls[i], &g.calls[n]
		if m.origin != nil && len(d.Extra) > 0 && !c.delivered {
			g.note(n, d.Extra)
		}
		if c.delivered {
			if d := g.behind(n, d); d != nil && !c.spoiled {
				space = append(space, *d)
			} else if d != nil {
				g.late = append(g.late, late{role: m.Role, delta: *d})
				g.bytes += len(d.Function.Arguments)
			}

			continue
		}
		if !c.queued {
			c.queued = true
			g.queue = append(g.queue, held{call: n, role: m.Role})
		}
		size := len(d.Function.Arguments) + len(d.Function.Name) + len(d.ID)
		c.size += size
		g.bytes += size
	}

	return space
}

// behind returns what d adds to the n-th call, which was delivered; nil if that is nothing.
func (g *gate) behind(n int, d *schema.ToolCall) *schema.ToolCall {
	args, extra := d.Function.Arguments, d.Extra
	if g.remotes == nil {
		extra = nil // Eino keeps the first one only
	}
	if args == "" && len(extra) == 0 {
		return nil
	}
	g.calls[n].spoiled = g.calls[n].spoiled || strings.TrimSpace(args) != ""
	index := g.acc.CallIndex(n)

	return &schema.ToolCall{Index: &index, Function: schema.FunctionCall{Arguments: args}, Extra: extra}
}

// passRest lets go of what a chunk brought beside its tool calls. Text waits for the calls that were held before, at the
// place where they end; nothing waits for the chunk's own calls.
func (g *gate) passRest(rest chunk, before int, out func(chunk)) {
	if isEmpty(rest.Message) {
		return
	}
	text := snapshot.Text(rest.Message)
	if text == "" || before == 0 {
		out(rest)

		return
	}
	g.queue = slices.Insert(g.queue, before, held{chunk: rest})
	g.bytes += len(text)
}

// mayLeave reports whether h is free to go. A call without arguments waits for the end, since its arguments may come yet.
func (g *gate) mayLeave(h held) bool {
	if r := h.chunk.remote(); r != nil {
		return r.whole
	}

	return h.chunk.Message != nil || g.acc.CallState(h.call, false) == snapshot.CallWhole && !g.acc.CallEmpty(h.call)
}

// ready returns the head of the queue that may leave.
func (g *gate) ready() []held {
	n := 0
	for n < len(g.queue) && g.mayLeave(g.queue[n]) {
		n++
	}

	return g.queue[:n]
}

// callsOnly returns the calls of hs, if hs holds nothing else and no more than want.
func (g *gate) callsOnly(hs []held, want int) ([]schema.ToolCall, bool) {
	if len(hs) != want || slices.ContainsFunc(hs, func(h held) bool { return h.chunk.Message != nil }) {
		return nil, false
	}
	calls := make([]schema.ToolCall, len(hs))
	for i, h := range hs {
		calls[i] = g.deliver(h.call)
	}

	return calls, true
}

func (g *gate) release(out func(chunk)) {
	ready := g.ready()
	for _, h := range ready {
		g.leave(h, out)
	}
	g.queue = slices.Delete(g.queue, 0, len(ready))
}

func (g *gate) leave(h held, out func(chunk)) {
	if h.chunk.Message != nil {
		g.bytes -= len(snapshot.Text(h.chunk.Message))
		if h.chunk.remote() != nil {
			g.bytes -= blockSize(h.chunk.origin.block)
		}
		out(h.chunk)

		return
	}
	g.bytes -= g.calls[h.call].size
	out(made(&schema.Message{Role: h.role, ToolCalls: []schema.ToolCall{g.deliver(h.call)}}))
}

// deliver returns the call as the consumer gets it.
func (g *gate) deliver(n int) schema.ToolCall {
	c := g.acc.Call(n, true).Schema()
	if g.remotes != nil {
		c.Extra = g.extraOf(n)
	}
	g.calls[n].delivered = true
	g.acc.Seal(n)
	if g.fill && g.acc.CallEmpty(n) {
		c.Function.Arguments = "{}"
	}

	return c
}

// flush lets everything go as it came, at the end of an answer.
func (g *gate) flush(out func(chunk)) {
	for _, h := range g.queue {
		g.leave(h, out)
	}
	for _, l := range g.late {
		out(made(&schema.Message{Role: l.role, ToolCalls: []schema.ToolCall{l.delta}}))
	}
	for n := range g.calls {
		g.calls[n].spoiled = false
	}
	g.queue, g.late, g.bytes = nil, nil, 0
}

// interrupt empties the queue when the attempt broke: waiting text leaves first, then the calls that are whole, by
// index. Calls that are not whole are gone.
func (g *gate) interrupt(out func(chunk)) {
	g.fill = true
	if g.live != nil {
		g.live.interrupt(g.acc, out)

		return
	}
	var whole []held
	for _, h := range g.queue {
		switch {
		case h.chunk.remote() != nil && !h.chunk.remote().whole:
		case h.chunk.Message != nil:
			g.leave(h, out)
		case g.acc.CallState(h.call, g.acc.FinishReason() != "") == snapshot.CallWhole:
			whole = append(whole, h)
		}
	}
	slices.SortFunc(whole, func(a, b held) int {
		return g.acc.CallIndex(a.call) - g.acc.CallIndex(b.call)
	})
	for _, h := range whole {
		g.leave(h, out)
	}
	g.queue, g.calls, g.late, g.bytes, g.remotes = nil, nil, nil, 0, nil
}

func (g *gate) empty() bool { return len(g.queue) == 0 }

// delivered reports whether the n-th call has left.
func (g *gate) delivered(n int) bool { return n < len(g.calls) && g.calls[n].delivered }

// spoiled reports whether the n-th call left whole and is not so any more.
func (g *gate) spoiled(n int) bool { return n < len(g.calls) && g.calls[n].spoiled }

// releaseText lets the waiting text go, at an end that leaves no use for the calls.
func (g *gate) releaseText(out func(chunk)) {
	for _, h := range g.queue {
		if h.chunk.Message != nil && (h.chunk.remote() == nil || h.chunk.remote().whole) {
			g.leave(h, out)
		}
	}
	g.queue, g.late, g.bytes = nil, nil, 0
}

// isEmpty reports whether m says nothing but whose message it is.
func isEmpty(m *schema.Message) bool {
	return m.Content == "" && m.ReasoningContent == "" && len(m.ToolCalls) == 0 && m.ResponseMeta == nil &&
		len(m.Extra) == 0 && len(m.AssistantGenMultiContent) == 0 && len(m.MultiContent) == 0 &&
		len(m.UserInputMultiContent) == 0 && m.Name == "" && m.ToolCallID == "" && m.ToolName == ""
}
