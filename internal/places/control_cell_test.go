package places_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// controlled is one cell of the table of control.
type controlled[M adk.MessageType] struct {
	tongue[M]

	place  string
	nest   nest[M]
	signal signal
	moment moment
	store  adk.CheckPointStore

	lookout
	worker  worker
	release chan struct{} // ends what does not hear of the control
}

// expert is the agent whose model call is under control.
func (c *controlled[M]) expert(t *testing.T, inner *fm.Model, handlers []adk.TypedChatModelAgentMiddleware[M]) *adk.TypedChatModelAgent[M] {
	t.Helper()
	cfg := &adk.TypedChatModelAgentConfig[M]{
		Name: "expert", Description: "knows", ToolsConfig: c.worker.tools(t, "look"), Handlers: handlers,
	}

	return c.agent(t, c.place, cfg, inner, continuation.WithBackoff(c.backoff), continuation.WithStreamingGenerate(), c.handler())
}

func (c *controlled[M]) backoff(int) time.Duration {
	if c.moment.waiting && !c.signal.late {
		return time.Hour
	}

	return 0
}

func (c *controlled[M]) runner(t *testing.T, asker, expert *fm.Model, h *bystander[M]) *adk.TypedRunner[M] {
	t.Helper()

	return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{
		Agent: c.nest.build(t, c, asker, expert, h), EnableStreaming: !c.nest.whole, CheckPointStore: c.store,
	})
}

// bystander is a handler that stands between the model and the tools: it keeps the agent's messages, and can hold it there.
type bystander[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]

	states  [][]M
	reached chan struct{} // if it holds: closed when it does
	release chan struct{}
}

// AfterModelRewriteState is called by the agent.
func (b *bystander[M]) AfterModelRewriteState(
	ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M],
) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	b.states = append(b.states, append([]M{}, state.Messages...))
	if b.reached != nil && len(b.states) == 1 {
		close(b.reached)
		<-b.release
	}

	return ctx, state, nil
}

// scripts are the expert's.
func (c *controlled[M]) scripts() []fm.Script {
	open, silence := fm.OpenStall(), fm.Stall()
	if c.signal.late {
		open, silence = fm.OpenStallIgnoringContext(c.release), fm.StallIgnoringContext(c.release)
	} else if c.moment.opening && c.signal.ctx == nil {
		open = fm.OpenStallIgnoringContext(c.release) // Eino tells nobody: see interrupt
	}

	return append(c.moment.scripts(c.steps, open, silence), fm.Script{c.text("Done."), c.finish("stop")})
}

// interrupt runs the agent until the user takes control. It reports whether the agent below heard of it in time. Eino tells
// it in a goroutine of its own, so that what waits for the model may come when the model is done; and it waits a second for
// the agent below, and then now and then keeps a checkpoint that does not know of it, with the bare model as well.
func (c *controlled[M]) interrupt(t *testing.T) (runs []string, inTime bool) {
	t.Helper()
	asker := fm.New(slices.Concat(c.nest.asks, c.nest.after)...)
	expert, by := fm.New(c.scripts()...), &bystander[M]{release: c.release}
	if c.moment.between {
		by.reached = make(chan struct{})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	strike := func() {}
	if c.signal.ctx != nil {
		ctx, strike = c.signal.ctx(ctx)
	}
	option, cancel := adk.WithCancel()
	events := c.runner(t, asker, expert, by).Query(ctx, "hi", option, adk.WithCheckPointID("1"))
	done := make(chan []heard, 1)
	go func() { done <- c.hear(t, events) }()
	c.await(t, expert, c.moment, by.reached)

	requests := len(expert.Requests())
	for _, opts := range c.signal.cancels {
		_, ok := cancel(opts...)
		require.True(t, ok)
	}
	strike()
	// A context that ends is seen by the graph when its node has ended, and so when the bystander has let go.
	atOnce := c.signal.late || c.moment.between && c.signal.ctx != nil
	if atOnce {
		close(c.release)
	}
	var all []heard
	select {
	case all = <-done:
	case <-time.After(patience):
		require.Fail(t, "the run does not end")
	}
	if !atOnce {
		// The run has ended. The model's Stream, which Eino does not tell, ends with its provider's answer or the limit for
		// the first content; what it brings is closed unread.
		close(c.release)
	}
	if c.nest.whole {
		stop()
	}
	c.calledOff(t)
	if c.signal.late && len(c.nest.asks) > 0 && len(expert.Requests()) == len(c.scripts()) {
		return nil, false
	}
	inTime = c.ended(t, all)
	if !c.signal.late {
		assert.Empty(t, c.worker.did())
		letGo(t, expert)
		assertRequests(t, expert, requests)
	}
	letGo(t, asker)
	letGo(t, expert)
	assertRequests(t, asker, len(c.nest.asks))

	return c.worker.did(), inTime
}

// ended looks at what the user was shown: one stream at most of the answer, a beginning of it, and why it ends. It reports
// whether the end tells of the expert.
func (c *controlled[M]) ended(t *testing.T, all []heard) (known bool) {
	t.Helper()
	last := all[len(all)-1]
	switch {
	case c.signal.is == nil:
		var canceled *adk.CancelError
		require.ErrorAs(t, last.err, &canceled)
		known = slices.ContainsFunc(canceled.InterruptContexts, func(i *adk.InterruptCtx) bool {
			return slices.ContainsFunc(i.Address, func(s adk.AddressSegment) bool { return s.ID == "expert" })
		})
	case c.moment.between: // the graph around the model saw it, and it knows no causes
		require.True(t, errors.Is(last.err, context.Canceled) || errors.Is(last.err, context.DeadlineExceeded), "%v", last.err)
		known = true
	default:
		require.ErrorIs(t, last.err, c.signal.is)
		known = true
	}
	streams := 0
	for _, h := range all {
		if h.by != "expert" || !h.streamed {
			continue
		}
		streams++
		assert.True(t, strings.HasPrefix(`Let me look.[look {"what":"here"}]`, h.words), h.words)
	}
	assert.LessOrEqual(t, streams, 1)

	return known
}

// resume goes on from the checkpoint, in another agent whose model does not break. Before are the tools that have run.
func (c *controlled[M]) resume(t *testing.T, before ...string) {
	t.Helper()
	if c.signal.ctx != nil || c.nest.stuck {
		return // where a context ends, Eino keeps no checkpoint
	}
	rest := []fm.Script{
		{c.text("Let me look."), c.call("c1", "look", `{"what":"here"}`), c.finish("tool_calls")},
		{c.text("Done."), c.finish("stop")},
	}
	if c.signal.late { // the answer that was waited for is in the checkpoint
		rest = rest[1:]
	}
	asker, expert, by := fm.New(c.nest.after...), fm.New(rest...), &bystander[M]{}
	events, err := c.runner(t, asker, expert, by).Resume(t.Context(), "1")
	require.NoError(t, err)
	all := c.hear(t, events)
	for _, h := range all {
		require.NoError(t, h.err)
	}
	assert.Equal(t, c.nest.words, all[len(all)-1].words)
	assert.Equal(t, []string{"look here"}, append(before, c.worker.did()...), "no tool runs twice")
	require.NotEmpty(t, by.states)
	end := by.states[len(by.states)-1]
	outline, once := make([]string, len(end)), 0
	for i, m := range end {
		outline[i] = c.role(m)
		if strings.Contains(c.words(m), "Let me") {
			once++
			assert.Equal(t, `Let me look.[look {"what":"here"}]`, c.words(m))
			assert.Len(t, c.extra(m)[idKey], 36)
		}
	}
	assert.Equal(t, 1, once)
	assert.True(t, strings.HasSuffix(strings.Join(outline, " "), "user assistant tool assistant"), outline)
	letGo(t, asker)
	letGo(t, expert)
	assertRequests(t, asker, len(c.nest.after))
	assertRequests(t, expert, len(rest))
}
