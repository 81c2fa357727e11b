package places_test

import (
	"context"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestControlOfAgents: the user's control wins wherever a model call stands: the run ends, nothing more is asked, and
// nothing is left behind. What is resumed has one message of each answer, and no tool has run twice.
func TestControlOfAgents(t *testing.T) {
	t.Parallel()
	for place, put := range agentPlaces() {
		for _, s := range signals() {
			for _, m := range moments() {
				t.Run(place+"/"+s.name+"/"+m.name, func(t *testing.T) {
					t.Parallel()
					c := &controlled{signal: s, moment: m, store: &store{}, worker: &worker{}}
					c.runner = func(inner *fm.Model, handlers ...adk.ChatModelAgentMiddleware) *adk.Runner {
						cfg := &adk.ChatModelAgentConfig{
							Name: "agent", ToolsConfig: c.worker.tools(t, "look"), Handlers: handlers,
						}
						put(t, cfg, inner, continuation.WithBackoff(c.backoff), continuation.WithHandler(callbacks.HandlerFunc(c.event)))

						return adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: true, CheckPointStore: c.store})
					}
					c.play(t)
				})
			}
		}
	}
}

// controlled is one cell of the table.
type controlled struct {
	signal signal
	moment moment
	store  *store
	worker *worker
	runner func(inner *fm.Model, handlers ...adk.ChatModelAgentMiddleware) *adk.Runner

	waits chan struct{} // closed when the first wait is announced
}

func (c *controlled) backoff(int) time.Duration {
	if c.moment.waiting && !c.signal.late {
		return time.Hour
	}

	return 0
}

func (c *controlled) event(_ context.Context, e callbacks.Event) {
	if _, ok := e.(callbacks.Started); ok && c.waits != nil {
		close(c.waits)
	}
}

func (c *controlled) play(t *testing.T) {
	t.Helper()
	release := make(chan struct{})
	open, silence := fm.OpenStall(), fm.Stall()
	if c.signal.late {
		open, silence = fm.OpenStallIgnoringContext(release), fm.StallIgnoringContext(release)
	} else if c.moment.opening && c.signal.ctx == nil {
		open = fm.OpenStallIgnoringContext(release) // Eino tells nobody: see below
	}
	inner := fm.New(append(c.moment.scripts(open, silence), fm.Script{fm.Text("Done."), fm.Finish("stop")})...)
	c.waits = make(chan struct{})
	ctx, strike := c.begin(t)
	option, cancel := adk.WithCancel()
	events := c.runner(inner).Query(ctx, "hi", option, adk.WithCheckPointID("1"))
	done := make(chan []shown, 1)
	go func() { done <- read(t, events) }()
	c.await(t, inner)

	requests := len(inner.Requests())
	if c.signal.ctx == nil {
		_, ok := cancel(c.signal.mode...)
		require.True(t, ok)
	}
	strike()
	if c.signal.late {
		close(release)
	}
	var all []shown
	select {
	case all = <-done:
	case <-time.After(patience):
		require.Fail(t, "the run does not end")
	}
	last := all[len(all)-1]
	if c.signal.is != nil {
		require.ErrorIs(t, last.err, c.signal.is)
	} else {
		var canceled *adk.CancelError
		require.ErrorAs(t, last.err, &canceled)
	}
	if !c.signal.late {
		if c.moment.opening && c.signal.ctx == nil {
			// The run has ended. The model's Stream, which Eino does not tell, ends with its provider's answer or the limit
			// for the first content; what it brings is closed unread.
			close(release)
		}
		assert.Empty(t, c.worker.did())
		letGo(t, inner)
		assertRequests(t, inner, requests)
	}
	if c.signal.ctx != nil {
		return // Eino keeps no checkpoint
	}
	c.resume(t, inner)
}

// begin returns the context of the run, and what ends it.
func (c *controlled) begin(t *testing.T) (context.Context, func()) {
	t.Helper()
	if c.signal.ctx == nil {
		return t.Context(), func() {}
	}

	return c.signal.ctx(t.Context())
}

// await waits until the moment is reached.
func (c *controlled) await(t *testing.T, inner *fm.Model) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if !c.moment.waiting {
		require.NoError(t, inner.Wait(ctx, c.moment.reached))

		return
	}
	select {
	case <-c.waits:
	case <-ctx.Done():
		require.Fail(t, "no wait is begun")
	}
}

// resume goes on in another agent, whose model does not break, from the checkpoint.
func (c *controlled) resume(t *testing.T, before *fm.Model) {
	t.Helper()
	c.waits = nil
	inner := fm.New(
		fm.Script{fm.Text("Let me look."), fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Finish("tool_calls")},
		fm.Script{fm.Text("Done."), fm.Finish("stop")},
	)
	if c.signal.late { // the answer that was waited for is in the checkpoint
		inner = fm.New(fm.Script{fm.Text("Done."), fm.Finish("stop")})
	}
	state := newRecordState()
	events, err := c.runner(inner, state).Resume(t.Context(), "1")
	require.NoError(t, err)
	said := answers(t, read(t, events))
	assert.Equal(t, "Done.", said[len(said)-1].Content)
	assert.Equal(t, []string{"look here"}, c.worker.did(), "no tool runs twice")
	end := state.states[len(state.states)-1]
	assert.Equal(t, "user assistant tool assistant", roles(end))
	assert.Equal(t, "Let me look.", end[1].Content)
	assert.Len(t, end[1].Extra[idKey], 36)
	require.Len(t, end[1].ToolCalls, 1)
	assert.JSONEq(t, `{"what":"here"}`, end[1].ToolCalls[0].Function.Arguments)
	for _, m := range end {
		assert.NotEqual(t, schema.System, m.Role)
	}
	letGo(t, before)
	letGo(t, inner)
}
