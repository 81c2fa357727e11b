package scenarios_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// hi is the input of calls that are not about their input.
func hi() []*schema.Message { return []*schema.Message{schema.UserMessage("Say it.")} }

// now is the back-off of scenes that are not about time.
func now() continuation.Option {
	return continuation.WithBackoff(func(int) time.Duration { return 0 })
}

// with is a list of options.
func with(opts ...continuation.Option) []continuation.Option { return opts }

// status is what a client makes of an error response. Provider names are in Type.
type status struct {
	HTTPStatusCode int
	Type           string
	Message        string
}

func (e *status) Error() string { return strings.TrimSpace(e.Type + " " + e.Message) }

// heard keeps the events of a call.
type heard struct {
	mu  sync.Mutex
	all []callbacks.Event
}

func (h *heard) Handle(_ context.Context, e callbacks.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, e)
}

func (h *heard) list() []callbacks.Event {
	h.mu.Lock()
	defer h.mu.Unlock()

	return append([]callbacks.Event(nil), h.all...)
}

// of returns the events of type E, in order.
func of[E callbacks.Event](h *heard) []E {
	var out []E
	for _, e := range h.list() {
		if v, ok := e.(E); ok {
			out = append(out, v)
		}
	}

	return out
}

// told returns the events in short, without joins, progress and ends of calls.
func (h *heard) told() []string {
	out := []string{}
	for _, e := range h.list() {
		if s := short(e); s != "" {
			out = append(out, s)
		}
	}

	return out
}

func short(e callbacks.Event) string {
	switch e := e.(type) {
	case callbacks.Interrupted:
		return fmt.Sprintf("broke: %s, %s", e.Cause, e.Plan)
	case callbacks.Started:
		return fmt.Sprintf("started %d", e.ContinuationAttempt)
	case callbacks.Completed:
		return fmt.Sprintf("completed: %s", e.CompletionReason)
	case callbacks.Failed:
		return fmt.Sprintf("failed: %s", e.Cause)
	case callbacks.Cancelled:
		return "cancelled"
	case callbacks.Exhausted:
		return "exhausted: " + e.FinalReason
	case callbacks.OpenRetried:
		return fmt.Sprintf("open retried: %s", e.Cause)
	case callbacks.StreamReset:
		return "reset"
	case callbacks.PartialToolUseDiscarded:
		return fmt.Sprintf("discarded: %s %d", e.ToolName, e.PartialInputBytes)
	case callbacks.ToolCallCancel:
		return fmt.Sprintf("cancel: %s %s", e.ID, e.ToolName)
	case callbacks.LateError:
		return fmt.Sprintf("late: %s", e.Cause)
	case callbacks.Notice:
		return fmt.Sprintf("notice: %s", e.Kind)
	case callbacks.CheckpointFailed:
		return "checkpoint failed"
	default:
		return ""
	}
}

// got is what one call gave.
type got struct {
	*heard
	chunks   []*schema.Message
	err      error // nil after a clean end
	requests []fm.Request
	took     time.Duration
}

// play makes one call in a bubble, reads it to its end and checks that nothing is left of it.
func play(t *testing.T, inner *fm.Model, opts ...continuation.Option) (g got) {
	t.Helper()

	return playWith(t, inner, hi(), nil, opts...)
}

func playWith(t *testing.T, inner *fm.Model, in []*schema.Message, call []model.Option, opts ...continuation.Option) (g got) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &heard{}
		m := continuation.Wrap(inner, append(slices.Clip(opts), continuation.WithHandler(h))...)
		began := time.Now()
		g = ask(t.Context(), m, in, call...)
		g.took, g.heard = time.Since(began), h
		letGo(t, inner)
		g.requests = inner.Requests()
	})

	return g
}

// ask makes one call and reads it to its end.
func ask(ctx context.Context, m model.BaseChatModel, in []*schema.Message, opts ...model.Option) (g got) {
	r, err := m.Stream(ctx, in, opts...)
	if err != nil {
		return got{err: err}
	}
	g.chunks, g.err = fm.Collect(r)

	return g
}

// letGo checks in a bubble that every script is over, every reader closed and every context ended.
func letGo(t *testing.T, inner *fm.Model) {
	t.Helper()
	synctest.Wait()
	assert.Zero(t, inner.Open(), "scripts still playing")
	assert.Zero(t, inner.Unclosed(), "readers not closed")
	for _, r := range inner.Requests() {
		assert.True(t, r.Cancelled, "the context of request %d has not ended", r.Number)
	}
}

// text returns the text as it was shown.
func (g got) text() string {
	var b strings.Builder
	for _, c := range g.chunks {
		b.WriteString(c.Content)
	}

	return b.String()
}

// message returns the one message that the chunks add up to, as a caller who stores messages keeps it.
func (g got) message(t *testing.T) *schema.Message {
	t.Helper()
	if len(g.chunks) == 0 {
		return &schema.Message{}
	}

	return continuation.Repair(fm.Concat(t, g.chunks))
}

// callsOf returns the tool calls of m, each as "id name arguments".
func callsOf(m *schema.Message) []string {
	var out []string
	for _, c := range m.ToolCalls {
		out = append(out, c.ID+" "+c.Function.Name+" "+c.Function.Arguments)
	}

	return out
}

func finishOf(m *schema.Message) string {
	if m.ResponseMeta == nil {
		return ""
	}

	return m.ResponseMeta.FinishReason
}

// sent returns the input of request n: the role of each message, and its text.
func (g got) sent(n int) []string {
	var out []string
	for _, m := range g.requests[n].Messages {
		out = append(out, string(m.Role)+": "+m.Content)
	}

	return out
}

// scene is a small script of what broke somewhere, and the right outcome.
type scene struct {
	name   string // the label of the report, and what happens
	client string // type of the client; FaultModel, which nothing is known of, if empty
	script []fm.Script
	opts   []continuation.Option

	text     string
	thought  string
	calls    []string
	finish   string
	requests int
	events   []string
	err      error         // errors.Is
	took     time.Duration // at least, and at most a quarter more
}

// run plays the scene, for those whose outcome is all in the struct.
func (s scene) run(t *testing.T) got {
	t.Helper()
	inner := fm.New(s.script...)
	if s.client != "" {
		inner.TypeName(s.client)
	}
	g := play(t, inner, s.opts...)
	s.check(t, g)

	return g
}

func (s scene) check(t *testing.T, g got) {
	t.Helper()
	if s.err == nil {
		require.NoError(t, g.err)
	} else {
		require.ErrorIs(t, g.err, s.err)
	}
	m := g.message(t)
	assert.Equal(t, s.text, m.Content)
	assert.Equal(t, s.thought, m.ReasoningContent)
	assert.Equal(t, s.calls, callsOf(m))
	assert.Equal(t, s.finish, finishOf(m))
	assert.Len(t, g.requests, s.requests)
	assert.Equal(t, append([]string{}, s.events...), g.told())
	assert.GreaterOrEqual(t, g.took, s.took)
	assert.LessOrEqual(t, g.took, s.took+s.took/4)
}

// scenes runs each in a subtest.
func scenes(t *testing.T, all ...scene) {
	t.Helper()
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t)
		})
	}
}

// everyBreak breaks answer, of a model that goes on where a request stops, behind each of its first chunks with what cause
// returns, and checks that the answer comes out as if nothing had been.
func everyBreak(t *testing.T, client string, answer fm.Script, chunks int, cause func() fm.Step) {
	t.Helper()
	for n := range chunks {
		inner := fm.Continuer(answer, fm.BreakAt(n, cause())).TypeName(client)
		g := play(t, inner, now())
		require.NoError(t, g.err, "%s behind chunk %d", client, n)
		want, m := answer.Message(t), g.message(t)
		require.Equal(t, want.Content, m.Content, "%s behind chunk %d", client, n)
		require.Equal(t, want.ReasoningContent, m.ReasoningContent, "%s behind chunk %d", client, n)
		require.Equal(t, callsOf(want), callsOf(m), "%s behind chunk %d", client, n)
		require.Equal(t, finishOf(want), finishOf(m), "%s behind chunk %d", client, n)
		require.LessOrEqual(t, len(g.requests), 2, "%s behind chunk %d", client, n)
		require.NotEmpty(t, g.told(), "%s behind chunk %d: it is told of", client, n)
	}
}
