package matrix

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// TestMatrix runs every cell. Whatever breaks, a stream that ends with io.EOF holds the whole answer, or its whole tool
// calls.
func TestMatrix(t *testing.T) {
	wholes := unbroken(t)
	for _, c := range cells() {
		whole := wholes[c.client.String()+"/"+c.answer.name]
		t.Run(c.name(), func(t *testing.T) {
			t.Parallel()
			t.Cleanup(func() { theGrid.add(c, !t.Failed()) })
			if c.fault.slow {
				synctest.Test(t, func(t *testing.T) { c.run(t, rig.Wiring{Pipe: faultllm.NewPipe()}, whole) })
			} else {
				c.run(t, rig.Wiring{HTTP2: c.fault.http2}, whole)
			}
		})
	}
}

// exchange is what a bare client asked and what it made of an answer that nothing broke.
type exchange struct {
	body   []byte
	chunks []*schema.Message
}

// unbroken returns the exchanges of every client and every answer.
func unbroken(t *testing.T) map[string]exchange {
	t.Helper()
	all := map[string]exchange{}
	for _, c := range clients.All() {
		for _, a := range answers() {
			r := rig.New(t, c, rig.Wiring{}, faultllm.Config{Script: faultllm.Script{{Answer: a.answer}}})
			chunks, err := rig.Stream(t.Context(), r.Bare, rig.Question())
			require.NoError(t, err)
			r.Close(t)
			all[c.String()+"/"+a.name] = exchange{body: r.Server.Ledger().Records[0].Body, chunks: chunks}
		}
	}

	return all
}

// result is what came out of a cell.
type result struct {
	*rig.Rig
	cell
	whole   *schema.Message // what the bare client makes of the unbroken answer
	raw     *schema.Message // as delivered
	got     *schema.Message // as repaired
	records []faultllm.Record
}

func (c cell) run(t *testing.T, n rig.Wiring, whole exchange) {
	t.Helper()
	plan := []faultllm.Fault{c.fault.at(c.place.at)}
	if c.fault.next != nil {
		plan = append(plan, c.fault.next())
	}
	r := result{cell: c, whole: rig.Concat(t, whole.chunks), Rig: rig.New(t, c.client, n, faultllm.Config{
		Script: faultllm.Script{{Answer: c.answer.answer}}, Plan: faultllm.InOrder(plan...), RefusePrefill: c.fault.noPrefill,
	})}
	in, opts := rig.Question(), []continuation.Option(nil)
	if c.fault.ask != nil {
		in = c.fault.ask(c.client.Vendor)
	}
	if c.fault.noPrefill {
		opts = append(opts, continuation.WithDialect(continuation.Prefill()))
	}
	began := time.Now()
	chunks, err := rig.Stream(t.Context(), r.Wrap(opts...), in)
	passed := time.Since(began)
	r.Close(t)
	r.records = r.Server.Ledger().Records
	require.Len(t, rig.EventsOf[callbacks.Ended](r.Rig), 1, "every call has one end")
	if !c.fault.once {
		require.True(t, r.records[0].FaultHit, "the fault did not happen")
	}
	r.checkWaits(t, passed)
	if what := c.want(); what == refused || what == givenUp || what == stopped {
		r.checkRefused(t, chunks, err)

		return
	}
	require.NoError(t, err)
	r.raw = rig.Concat(t, chunks)
	r.got = continuation.Repair(r.raw)
	r.checkRequests(t)
	r.checkEvents(t)
	r.checkMessage(t)
	if c.fault.name == "none" {
		r.checkUnchanged(t, whole, chunks)
	}
}

// checkUnchanged holds that the decorator is not to be seen where nothing breaks: the same request to the byte, the same
// message, and the same pieces where no tool call is held.
func (r result) checkUnchanged(t *testing.T, bare exchange, chunks []*schema.Message) {
	t.Helper()
	assert.Equal(t, string(bare.body), string(r.records[0].Body))
	assert.Equal(t, normal(r.cell, r.whole), normal(r.cell, r.raw))
	if len(r.whole.ToolCalls) == 0 {
		assert.Equal(t, said(bare.chunks), said(chunks), "text or reasoning was merged, split or delayed")
	}
}

// said returns the text and the reasoning of each chunk.
func said(chunks []*schema.Message) [][2]string {
	var all [][2]string
	for _, m := range chunks {
		all = append(all, [2]string{m.Content, m.ReasoningContent})
	}

	return all
}

// checkMessage compares the delivered message with the unbroken one.
func (r result) checkMessage(t *testing.T) {
	t.Helper()
	want, got := normal(r.cell, r.whole), normal(r.cell, r.got)
	assert.Equal(t, want.Role, got.Role)
	assert.Equal(t, want.Content, got.Content)
	assert.Equal(t, want.ReasoningContent, got.ReasoningContent)
	require.NotNil(t, got.ResponseMeta, "the end says nothing")
	if e := r.exception(); e != nil && e.shows == theWholeAnswer {
		want.ResponseMeta.FinishReason = ""
	}
	if r.want() == toolUse {
		assert.Equal(t, want.ToolCalls[:r.place.whole], got.ToolCalls)
		assert.Equal(t, "tool_calls", got.ResponseMeta.FinishReason)
	} else {
		assert.Equal(t, want.ToolCalls, got.ToolCalls)
		assert.Equal(t, want.ResponseMeta.FinishReason, got.ResponseMeta.FinishReason)
	}
	if u := got.ResponseMeta.Usage; u != nil {
		assert.Equal(t, u.PromptTokens+u.CompletionTokens, u.TotalTokens)
	}
}

// normal makes messages of two requests comparable: it takes away what clients invent for each, and what is counted for
// each.
func normal(c cell, m *schema.Message) *schema.Message {
	n := *m
	n.ToolCalls = nil
	if m.ResponseMeta != nil {
		n.ResponseMeta = new(*m.ResponseMeta)
	}
	for i, call := range m.ToolCalls {
		if c.client.OwnIDs {
			call.ID = ""
			call.Index = &i
		}
		if c.client.Vendor == faultllm.Gemini { // the client decodes the arguments and writes them anew, with the keys in any order
			var args any
			if json.Unmarshal([]byte(call.Function.Arguments), &args) == nil {
				doc, _ := json.Marshal(args) // what was decoded can be encoded
				call.Function.Arguments = string(doc)
			}
		}
		n.ToolCalls = append(n.ToolCalls, call)
	}

	return &n
}
