package interop

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/snapshot"
)

// TestEveryFaultAtEveryPlaceHeals breaks every answer in every way at every place, once, over real sockets. Whatever
// happens, a stream that ends with io.EOF holds the whole answer, or its whole tool calls.
func TestEveryFaultAtEveryPlaceHeals(t *testing.T) {
	for _, w := range []wiring{plainTransport, recordingTransport} {
		for _, a := range answers() {
			whole := answerOf(t, a.answer)
			for _, b := range breakages(w) {
				for _, p := range a.places {
					t.Run(w.String()+"/"+a.name+"/"+b.name+"/"+p.name, func(t *testing.T) {
						t.Parallel()
						newCell(t, w, a, b, p, whole).check(t)
					})
				}
			}
		}
	}
}

// cell is one run of the table.
type cell struct {
	*rig
	answer faultllm.Answer
	place  place
	fault  breakage
	plan   remedy
	whole  *schema.Message // what the bare client makes of the unbroken answer

	got     *schema.Message
	records []faultllm.Record
}

func newCell(t *testing.T, w wiring, a scripted, b breakage, p place, whole *schema.Message) *cell {
	t.Helper()
	c := &cell{
		rig: newRig(t, w, faultllm.Config{
			Script: faultllm.Script{{Answer: a.answer}}, Plan: faultllm.InOrder(b.at(p.at)),
		}),
		answer: a.answer, place: p, fault: b, plan: remedyOf(b, p, a.answer), whole: whole,
	}
	chunks, err := stream(t.Context(), c.wrap(b.opts...))
	require.NoError(t, err)
	c.got = concat(t, chunks)
	c.records = c.ledger(t).Records
	require.True(t, c.records[0].FaultHit, "the fault did not happen")

	return c
}

// remedyOf returns what heals the cell. A finish reason that was seen makes the answer whole; the client drops it if an
// error follows.
func remedyOf(b breakage, p place, a faultllm.Answer) remedy {
	switch {
	case b.harmless:
		return asIs
	case p.want != sameEnd:
		return p.want
	case b.clean:
		return asIs
	case len(a.ToolCalls()) > 0:
		return planned(snapshot.SynthesizeToolUse)
	default:
		return planned(snapshot.ContinueText)
	}
}

func (c *cell) check(t *testing.T) {
	t.Helper()
	c.checkMessage(t)
	c.checkEvents(t)
	if !c.fault.lossy {
		assert.Zero(t, c.records[0].Lost, "more was generated than arrived")
	}
	switch c.plan {
	case asIs:
		require.Len(t, c.records, 1)
		assert.Equal(t, faultllm.Needed(c.answer), c.records[0].Completion)
	case planned(snapshot.SynthesizeToolUse):
		c.checkNoRequest(t)
	case openOnce, planned(snapshot.WholeRestart):
		c.checkRepeated(t)
	default:
		c.checkContinued(t)
	}
}

// checkMessage compares the delivered message with the unbroken one.
func (c *cell) checkMessage(t *testing.T) {
	t.Helper()
	calls := c.whole.ToolCalls
	if c.plan == planned(snapshot.SynthesizeToolUse) {
		calls = calls[:c.place.whole]
	}
	got := continuation.Repair(c.got)
	assert.Equal(t, c.whole.Role, got.Role)
	assert.Equal(t, c.whole.Content, got.Content)
	assert.Equal(t, c.whole.ReasoningContent, got.ReasoningContent)
	assert.Equal(t, c.whole.Extra["reasoning-content"], got.Extra["reasoning-content"])
	assert.Equal(t, calls, got.ToolCalls)
	require.NotNil(t, got.ResponseMeta, "the end says nothing")
	assert.Equal(t, c.whole.ResponseMeta.FinishReason, got.ResponseMeta.FinishReason)
	if c.plan == asIs && !c.fault.clean {
		assert.Equal(t, c.whole.ResponseMeta, got.ResponseMeta)
	}
	if u := got.ResponseMeta.Usage; u != nil {
		assert.Equal(t, u.PromptTokens+u.CompletionTokens, u.TotalTokens)
	}
	if c.place.cut && c.plan == planned(snapshot.WholeRestart) {
		assert.Equal(t, c.place.thought+c.whole.ReasoningContent, c.got.ReasoningContent, "the half thought was shown")
	}
}

// checkEvents compares what was told with what happened.
func (c *cell) checkEvents(t *testing.T) {
	t.Helper()
	retried, broken := eventsOf[callbacks.OpenRetried](c.events), eventsOf[callbacks.Interrupted](c.events)
	switch c.plan {
	case asIs:
		assert.Empty(t, retried)
		assert.Empty(t, broken)

		return
	case openOnce:
		require.Len(t, retried, 1)
		assert.Equal(t, c.fault.cause, retried[0].Cause)
		assert.Empty(t, broken)

		return
	default:
	}
	assert.Empty(t, retried)
	require.Len(t, broken, 1)
	assert.Equal(t, c.fault.cause, broken[0].Cause)
	assert.Equal(t, string(c.plan), broken[0].Plan.String())
	assert.Equal(t, "OpenAI", broken[0].Provider)
	assert.Len(t, eventsOf[callbacks.Started](c.events), 1)
	assert.Len(t, eventsOf[callbacks.Completed](c.events), 1)
	assert.Empty(t, eventsOf[callbacks.Failed](c.events))
	var dropped []string
	for _, e := range eventsOf[callbacks.ToolCallCancel](c.events) {
		dropped = append(dropped, e.ToolName)
	}
	assert.Equal(t, c.place.dropped, dropped)
}

// checkNoRequest is for R2: what came whole is enough.
func (c *cell) checkNoRequest(t *testing.T) {
	t.Helper()
	require.Len(t, c.records, 1)
	assert.LessOrEqual(t, c.records[0].Completion, faultllm.Needed(c.answer))
	mark, _ := c.got.Extra[continuation.ExtraDroppedCalls].(string)
	if len(c.place.dropped) == 0 {
		assert.Empty(t, mark)
	} else {
		assert.Equal(t, c.place.dropped[0], mark)
	}
}

// checkRepeated is for R4 and open retries: the same request again, answered from the start.
func (c *cell) checkRepeated(t *testing.T) {
	t.Helper()
	require.Len(t, c.records, 2)
	assert.JSONEq(t, string(c.records[0].Body), string(c.records[1].Body))
	assert.False(t, c.records[1].Continued)
	assert.Equal(t, faultllm.Needed(c.answer), c.records[1].Completion)
	if c.plan == openOnce {
		assert.Equal(t, c.records[0].Lost, c.records[0].Completion, "nothing had arrived")
	}
}

// checkContinued is for R1 and R3: the next request carries what arrived, and the provider bills only the rest.
func (c *cell) checkContinued(t *testing.T) {
	t.Helper()
	require.Len(t, c.records, 2)
	first, second := c.records[0], c.records[1]
	checkPair(t, first.Request, second.Request, trimmed(c.place.text), c.place.thought)
	assert.True(t, second.Continued, "the provider does not see a partial answer")
	assert.Equal(t, len(trimmed(c.place.text)), second.From)

	if u := c.got.ResponseMeta.Usage; assert.NotNil(t, u, "the continuation reported its usage") {
		assert.Equal(t, second.Completion, u.CompletionTokens, "what the broken attempt never reported is not invented")
		assert.Positive(t, u.PromptTokens)
	}
	kept := cost(len(c.place.thought)) + cost(len(trimmed(c.place.text)))
	assert.Equal(t, faultllm.Needed(c.answer)-kept, second.Completion, "the continuation is billed for the rest alone")
	if len(c.place.dropped) == 0 {
		space := cost(len(c.place.text)) - cost(len(trimmed(c.place.text)))
		assert.Equal(t, faultllm.Needed(c.answer)+space, first.Completion-first.Lost+second.Completion, "billed twice")
	}
}

// checkPair compares a continuation's request with the caller's: one assistant and one user message more.
func checkPair(t *testing.T, first, second faultllm.Request, text, thought string) {
	t.Helper()
	n := len(first.Messages)
	require.Len(t, second.Messages, n+2)
	assert.Equal(t, first.Messages, second.Messages[:n])
	assert.Equal(t, faultllm.Message{Role: "assistant", Text: text, Reasoning: thought}, second.Messages[n])
	assert.Equal(t, "user", second.Messages[n+1].Role)
	assert.NotEmpty(t, second.Messages[n+1].Text)
	assert.Equal(t, first.Tools, second.Tools)
}
