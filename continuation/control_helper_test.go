package continuation_test

import (
	"context"
	"io"
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
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctEvents is a handler that keeps what it gets.
type ctEvents struct {
	mu  sync.Mutex
	all []callbacks.Event
}

func (e *ctEvents) Handle(_ context.Context, ev callbacks.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

// list returns all events but the one that ends every call, which has tests of its own; see ends.
func (e *ctEvents) list() []callbacks.Event {
	return slices.DeleteFunc(e.everything(), func(ev callbacks.Event) bool {
		_, last := ev.(callbacks.Ended)

		return last
	})
}

func (e *ctEvents) everything() []callbacks.Event {
	e.mu.Lock()
	defer e.mu.Unlock()

	return slices.Clone(e.all)
}

// ends returns the last events of the calls.
func (e *ctEvents) ends() []callbacks.Ended {
	var ends []callbacks.Ended
	for _, ev := range e.everything() {
		if end, ok := ev.(callbacks.Ended); ok {
			ends = append(ends, end)
		}
	}

	return ends
}

// ctEnd returns the end of the one call that e saw, and checks that it is the last that was told.
func ctEnd(t *testing.T, e *ctEvents) callbacks.Ended {
	t.Helper()
	require.Len(t, e.ends(), 1, "of one call, behind %v", e.names())
	all := e.everything()
	require.IsType(t, callbacks.Ended{}, all[len(all)-1], "nothing follows it")

	return e.ends()[0]
}

// names returns the names of all events but those about progress, which come by the clock.
func (e *ctEvents) names() []string {
	var names []string
	for _, ev := range e.list() {
		if _, ok := ev.(callbacks.ToolCallProgress); !ok {
			names = append(names, ev.Name())
		}
	}

	return names
}

// ctOf returns the events of type E, in order.
func ctOf[E callbacks.Event](e *ctEvents) []E {
	var out []E
	for _, ev := range e.list() {
		if v, ok := ev.(E); ok {
			out = append(out, v)
		}
	}

	return out
}

// ctOnly returns the one event of type E.
func ctOnly[E callbacks.Event](t *testing.T, e *ctEvents) E {
	t.Helper()
	of := ctOf[E](e)
	require.Len(t, of, 1, "of %v", e.names())

	return of[0]
}

// ctNotices returns the kinds of all notices.
func ctNotices(e *ctEvents) []callbacks.NoticeKind {
	var kinds []callbacks.NoticeKind
	for _, n := range ctOf[callbacks.Notice](e) {
		kinds = append(kinds, n.Kind)
	}

	return kinds
}

// ctWrap decorates inner with a recording handler behind the given options.
func ctWrap(t *testing.T, inner model.BaseChatModel, opts ...continuation.Option) (*continuation.Model, *ctEvents) {
	t.Helper()
	events := &ctEvents{}
	m, err := continuation.New(inner, append(opts, continuation.WithHandler(events))...)
	require.NoError(t, err)

	return m, events
}

// ctNow is the back-off of tests that are not about time.
func ctNow() continuation.Option {
	return continuation.WithBackoff(func(int) time.Duration { return 0 })
}

func ctInput() []*schema.Message { return []*schema.Message{schema.UserMessage("Say it.")} }

// ctResult is what the consumer of one call got.
type ctResult struct {
	chunks   []*schema.Message
	err      error                // nil after a clean end
	requests []faultmodel.Request // of calls made with ctRun
}

func (r ctResult) text() string {
	var b strings.Builder
	for _, c := range r.chunks {
		b.WriteString(c.Content)
	}

	return b.String()
}

func (r ctResult) message(t *testing.T) *schema.Message {
	t.Helper()

	return faultmodel.Concat(t, r.chunks)
}

// ctRun makes one call in a bubble of its own and reads it to the end. The bubble fails if a goroutine is left.
func ctRun(t *testing.T, inner *faultmodel.Model, opts ...continuation.Option) (r ctResult, events *ctEvents, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, ev := ctWrap(t, inner, opts...)
		start := time.Now()
		r = ctStream(t.Context(), m)
		events, took = ev, time.Since(start)
		ctLetGo(t, inner)
		r.requests = inner.Requests()
		ctEnd(t, ev)
	})

	return r, events, took
}

// ctStream makes one call and reads it to the end.
func ctStream(ctx context.Context, m model.BaseChatModel, opts ...model.Option) ctResult {
	return ctStreamOf(ctx, m, ctInput(), opts...)
}

func ctStreamOf(ctx context.Context, m model.BaseChatModel, in []*schema.Message, opts ...model.Option) ctResult {
	reader, err := m.Stream(ctx, in, opts...)
	if err != nil {
		return ctResult{err: err}
	}
	chunks, err := faultmodel.Collect(reader)

	return ctResult{chunks: chunks, err: err}
}

// ctLetGo checks, in a bubble, that inner was let go of: every script over, every reader closed, every context ended.
func ctLetGo(t *testing.T, inner *faultmodel.Model) {
	t.Helper()
	synctest.Wait()
	assert.Zero(t, inner.Open(), "scripts still playing")
	assert.Zero(t, inner.Unclosed(), "readers not closed")
	for _, r := range inner.Requests() {
		assert.True(t, r.Cancelled, "the context of request %d has not ended", r.Number)
	}
}

// ctRest reads until the stream says nothing new and returns the errors it got on the way.
func ctRest(reader *schema.StreamReader[*schema.Message], atMost int) (errs []error) {
	for range atMost {
		_, err := reader.Recv()
		if err != nil {
			errs = append(errs, err)
		}
		if err == io.EOF { //nolint:errorlint // a stream ends with io.EOF itself
			return errs
		}
	}

	return errs
}

// ctStatusError is what a client makes of an error response.
type ctStatusError struct {
	HTTPStatusCode int
	Message        string
}

func (e *ctStatusError) Error() string { return e.Message }
