package continuation_test

import (
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// exGrammar reads a transcript and fails the test where it breaks a rule that holds for all of them.
type exGrammar struct {
	t       *testing.T
	of      *callbacks.Call
	running int                    // the continuation under way
	last    int                    // the latest that was started
	broken  *callbacks.Interrupted // an interruption that nothing followed yet
	started *callbacks.Started     // the latest start, until a chunk or an event follows
	lost    int                    // calls discarded since the interruption
	cancels int                    // calls cancelled since the interruption
	joined  bool                   // the continuation under way has its join
	over    bool                   // nothing may follow but chunks and the end of the call
	outcome callbacks.Outcome      // that the events claim
	ends    int                    // of the call
	success bool
	content bool
}

// exCheckGrammar checks the whole transcript; clean says that the stream ended with io.EOF.
func exCheckGrammar(t *testing.T, l *exTranscript, clean bool) {
	t.Helper()
	g := &exGrammar{t: t}
	for _, line := range l.lines {
		switch {
		case line.chunk != nil:
			g.chunk(line.chunk)
		case line.event != nil:
			g.event(line.event)
		}
	}
	require.Zero(t, g.running, "a continuation was started and has not ended")
	require.Nil(t, g.broken, "an interruption was followed by nothing")
	require.Equal(t, 1, g.ends, "every call has one end")
	if g.success {
		require.True(t, clean, "success was reported for an error")
	}
}

func (g *exGrammar) chunk(m *schema.Message) {
	g.content = g.content || snapshot.HasContent(m)
	require.True(g.t, utf8.ValidString(m.Content), "a chunk was cut inside a rune: %q", m.Content)
	require.Nil(g.t, g.broken, "a chunk between an interruption and what follows from it")
	for _, c := range m.ToolCalls {
		require.NotNil(g.t, c.Index)
		whole := exGotCall{call: c, followed: true}
		require.True(g.t, whole.whole(), "half a call was delivered: %s%s", c.Function.Name, c.Function.Arguments)
	}
	if s := g.started; s != nil && s.Plan == snapshot.WholeRestart {
		require.Fail(g.t, "a restart without stream_reset before its first chunk")
	}
	g.started = nil
}

func (g *exGrammar) event(e callbacks.Event) {
	t := g.t
	require.Zero(t, g.ends, "%s after the end of the call", e.Name())
	if end, ok := e.(callbacks.Ended); ok {
		g.callEnd(end)

		return
	}
	require.False(t, g.over, "%s after the end", e.Name())
	of := e.Of()
	if g.of == nil {
		g.of = &of
	}
	require.Equal(t, *g.of, of)
	require.NotEmpty(t, of.CallID)
	started := g.started
	g.started = nil

	switch e := e.(type) {
	case callbacks.Interrupted:
		require.Zero(t, g.running, "interrupted inside a continuation")
		require.Equal(t, g.last, e.ContinuationAttempt)
		g.broken, g.lost, g.cancels = &e, 0, 0
	case callbacks.PartialToolUseDiscarded:
		require.NotNil(t, g.broken)
		require.Equal(t, g.lost, g.cancels)
		g.lost++
	case callbacks.ToolCallCancel:
		require.NotNil(t, g.broken)
		g.cancels++
		require.Equal(t, g.lost, g.cancels)
	case callbacks.Started:
		g.start(e)
	case callbacks.StreamReset:
		require.NotNil(t, started, "stream_reset must follow the start")
		require.Equal(t, snapshot.WholeRestart, started.Plan)
	case callbacks.Joined:
		require.NotZero(t, g.running)
		require.Equal(t, g.running, e.ContinuationAttempt)
		require.False(t, g.joined, "joined twice")
		g.joined = true
	case callbacks.OpenRetried:
		require.Zero(t, g.last)
		require.False(t, g.content, "open retry after content")
	default:
		g.end(e)
	}
}

func (g *exGrammar) start(e callbacks.Started) {
	t := g.t
	require.NotNil(t, g.broken, "started without an interruption")
	require.Equal(t, g.last+1, e.ContinuationAttempt)
	require.Equal(t, g.broken.Plan, e.Plan)
	require.Equal(t, g.broken.DiscardedPartialToolUses, g.lost)
	if e.Plan == snapshot.SynthesizeToolUse {
		require.Zero(t, e.Backoff)
		require.Equal(t, "none", e.HistoryRewrite)
	}
	g.broken, g.joined, g.started = nil, false, &e
	g.running, g.last = e.ContinuationAttempt, e.ContinuationAttempt
}

// callEnd checks the event that ends every call.
func (g *exGrammar) callEnd(e callbacks.Ended) {
	t := g.t
	g.ends++
	require.Zero(t, g.running, "the call ended inside a continuation")
	if g.of != nil {
		require.Equal(t, *g.of, e.Call)
	}
	require.NotEmpty(t, e.CallID)
	if g.outcome != "" {
		require.Equal(t, g.outcome, e.Outcome)
	} else {
		require.NotContains(t, []callbacks.Outcome{callbacks.OutcomeRecovered, callbacks.OutcomeExhausted}, e.Outcome)
	}
	fails := e.Outcome == callbacks.OutcomeFailed || e.Outcome == callbacks.OutcomeExhausted
	require.Equal(t, fails, e.Cause != "", "%s because of %q", e.Outcome, e.Cause)
	require.LessOrEqual(t, e.FirstContent, e.Duration)
}

// end checks the events that end something.
func (g *exGrammar) end(e callbacks.Event) {
	t := g.t
	switch e := e.(type) {
	case callbacks.Completed:
		require.Equal(t, g.running, e.ContinuationAttempt)
		g.running, g.over, g.success = 0, true, true
		g.outcome = callbacks.OutcomeRecovered
	case callbacks.Failed:
		require.Equal(t, g.running, e.ContinuationAttempt)
		g.running = 0
	case callbacks.Cancelled:
		require.Equal(t, g.running, e.ContinuationAttempt)
		g.running, g.over = 0, true
		g.outcome = callbacks.OutcomeCancelled
	case callbacks.Exhausted:
		require.Zero(t, g.running)
		require.Equal(t, g.last, e.Attempts)
		g.broken, g.over = nil, true
		g.outcome = callbacks.OutcomeExhausted
	case callbacks.ToolCallProgress, callbacks.LateError, callbacks.Notice:
	default:
		require.Fail(t, "an event that no test expects", "%s", e.Name())
	}
}
