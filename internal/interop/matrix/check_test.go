package matrix

import (
	"errors"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/interop/rig"
	"github.com/eino-carryon/carryon/snapshot"
)

// checkRefused holds that the caller gets the error of a request that is refused for good, and that nobody asks again.
func (r result) checkRefused(t *testing.T, chunks []*schema.Message, err error) {
	t.Helper()
	require.Error(t, err)
	text := ""
	for _, m := range chunks {
		text += m.Content
		assert.Empty(t, m.ToolCalls, "half a call came out")
	}
	var exhausted *continuation.ExhaustedError
	switch r.want() {
	case stopped:
		require.ErrorAs(t, err, &exhausted)
		assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
		assert.Equal(t, r.arrived().text, exhausted.Partial.Content)
		assert.Equal(t, r.arrived().text, text)
		assert.False(t, continuation.DefaultClassifier(exhausted.First).Permanent(), "the first error is kept: %v", exhausted.First)
		assert.Equal(t, 400, continuation.DefaultClassifier(exhausted.Last).Status)
		assert.Len(t, rig.EventsOf[callbacks.Exhausted](r.Rig), 1)
		assert.Len(t, r.records, 2, "what is refused for good is not asked again")
	case givenUp:
		assert.Equal(t, 400, continuation.DefaultClassifier(err).Status, "%T %v", err, err)
		assert.Empty(t, chunks)
		assert.Len(t, r.records, 2, "what is refused for good is not asked again")
		assert.Len(t, rig.EventsOf[callbacks.OpenRetried](r.Rig), 1)
	default:
		assert.False(t, errors.As(err, &exhausted), "it is the client's error")
		assert.Empty(t, chunks)
		assert.Len(t, r.records, 1, "what is refused for good is not asked again")
		assert.Empty(t, r.Events())
		if r.fault.ask != nil {
			assert.Equal(t, 400, r.records[0].Status, "the provider was to refuse it, not the client: %s", r.records[0].Body)
		}
		if status := r.records[0].Status; status >= 400 {
			assert.Equal(t, status, continuation.DefaultClassifier(err).Status, "%T %v", err, err)
		}
	}
}

// checkWaits holds the waits that were told to the one that was asked for, and the time that passed to those. A date has
// whole seconds, and of every wait there may be a quarter more.
func (r result) checkWaits(t *testing.T, passed time.Duration) {
	t.Helper()
	var told, longest time.Duration
	for _, e := range rig.EventsOf[callbacks.OpenRetried](r.Rig) {
		told, longest = told+e.Backoff, max(longest, e.Backoff)
	}
	for _, e := range rig.EventsOf[callbacks.Started](r.Rig) {
		told, longest = told+e.Backoff, max(longest, e.Backoff)
	}
	asks := r.fault.wait > 0 && (r.fault.once || r.want() != untouched && r.want() != toolUse)
	if !asks {
		assert.Zero(t, told, "nobody asked for a wait")

		return
	}
	assert.Equal(t, longest, told, "it was asked for once")
	assert.GreaterOrEqual(t, told, r.fault.wait-time.Second)
	assert.LessOrEqual(t, told, r.fault.wait+r.fault.wait/4)
	assert.GreaterOrEqual(t, passed, told, "the wait was not served")
	assert.Less(t, passed, told+time.Second, "somebody else waited too")
}

// checkRequests holds that the provider was asked as often as needed, and never what it refuses.
func (r result) checkRequests(t *testing.T) {
	t.Helper()
	require.Len(t, r.records, r.requests())
	for i, rec := range r.records[1:] {
		if i < len(r.records)-2 {
			assert.GreaterOrEqual(t, rec.Status, 400, "no request was to be made behind this one: %s", rec.Body)
		} else {
			assert.Equal(t, 200, rec.Status, "the next request was refused: %s", rec.Body)
		}
	}
	last := r.records[len(r.records)-1]
	switch r.want() {
	case reopened, below, restarted:
		assert.JSONEq(t, string(r.records[0].Body), string(last.Body), "it is the same request")
	case continued, beforeTool:
		assert.True(t, last.Continued, "the provider does not see a partial answer: %s", last.Body)
		assert.Equal(t, len(trimmed(r.arrived().text)), last.From)
	default:
	}
}

// checkEvents holds the grammar: every continuation that was started has one end.
func (r result) checkEvents(t *testing.T) {
	t.Helper()
	broken, started := rig.EventsOf[callbacks.Interrupted](r.Rig), rig.EventsOf[callbacks.Started](r.Rig)
	ended := len(rig.EventsOf[callbacks.Completed](r.Rig)) + len(rig.EventsOf[callbacks.Failed](r.Rig))
	assert.Empty(t, rig.EventsOf[callbacks.Exhausted](r.Rig))
	if notices := rig.EventsOf[callbacks.Notice](r.Rig); r.prefills() {
		require.Len(t, notices, 1)
		assert.Equal(t, callbacks.NoticePrefillRefused, notices[0].Kind)
	} else {
		assert.Empty(t, notices)
	}
	plan, interrupted := r.want().plan()
	if !interrupted {
		assert.Empty(t, broken)
		assert.Empty(t, started)
		retried := len(r.records) - 1
		if r.want() == below {
			retried = 0
		}
		assert.Len(t, rig.EventsOf[callbacks.OpenRetried](r.Rig), retried)

		return
	}
	times := 1
	if r.fault.next != nil && r.want() != toolUse && !r.switches() {
		times++ // the continuation was refused for the moment, which is the next interruption
	}
	require.Len(t, broken, times)
	for i, b := range broken {
		if i > 0 && plan == snapshot.TruncateBeforeTool {
			plan = snapshot.ContinueText // the call is gone
		}
		assert.Equal(t, plan, b.Plan)
		assert.Equal(t, r.client.String(), b.Provider)
	}
	assert.Len(t, started, times)
	assert.Equal(t, times, ended)
	assert.Len(t, rig.EventsOf[callbacks.ToolCallCancel](r.Rig), len(rig.EventsOf[callbacks.PartialToolUseDiscarded](r.Rig)))
}
