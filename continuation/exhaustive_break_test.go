package continuation_test

import (
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// Every answer breaks at every chunk from every cause.
func TestExhaustiveBreaks(t *testing.T) {
	t.Parallel()
	exEachSetting(t, func(t *testing.T, c exCell) {
		t.Helper()
		for _, cause := range exCauses() {
			for at := range len(c.script.chunks) + 1 {
				c.at, c.cause = at, cause
				t.Run(fmt.Sprintf("%s after %d", cause.name, at), func(t *testing.T) {
					synctest.Test(t, c.check)
				})
			}
		}
	})
}

// exChecked is a cell that was run, with what the checks compare.
type exChecked struct {
	exCell
	run  exRun
	bare []*schema.Message // the chunks of the unbroken answer
	got  exGot             // what had come of them before the break
	want *schema.Message   // the unbroken answer
}

func (c exCell) check(t *testing.T) {
	x := exChecked{exCell: c, bare: c.bare(t)}
	x.got = exRead(x.bare[:c.at])
	x.want = exIndexed(faultmodel.Concat(t, x.bare))
	x.run = exStream(t, c.model(faultmodel.BreakAt(c.at, c.cause.steps...)), exInput())
	defer func() {
		if t.Failed() {
			t.Log("transcript:\n" + x.run.log.String())
		}
	}()

	require.Equal(t, exInput(), x.run.requests[0].Messages)
	switch {
	case !x.got.content:
		x.checkOpen(t)
	case x.got.finished:
		x.checkLate(t)
	case x.got.plan() == snapshot.SynthesizeToolUse:
		x.checkTools(t)
	default:
		x.checkContinued(t)
	}
}

// checkOpen: before any content the request is made again, or the error is the caller's.
func (x *exChecked) checkOpen(t *testing.T) {
	t.Helper()
	if x.cause.fatal {
		require.NoError(t, x.run.streamErr)
		require.Error(t, x.run.err)
		require.Len(t, x.run.requests, 1)
		require.Empty(t, x.run.log.events())

		return
	}
	require.Equal(t, x.want, x.run.message(t))
	require.Len(t, x.run.requests, 2)
	require.Equal(t, exInput(), x.run.requests[1].Messages)
	retried := exEvents[callbacks.OpenRetried](x.run.log)
	require.Len(t, retried, 1)
	require.Equal(t, x.cause.cause, retried[0].Cause)
	require.Equal(t, x.cause.kind, retried[0].ErrorKind)
	require.Equal(t, "1s", exNominal(retried[0].Backoff))
	x.checkNoOther(t, callbacks.OpenRetried{})
}

// checkNoOther fails for events that are neither wanted nor about the progress of a tool call.
func (x *exChecked) checkNoOther(t *testing.T, wanted ...callbacks.Event) {
	t.Helper()
	wanted = append(wanted, callbacks.ToolCallProgress{})
	for _, e := range x.run.log.events() {
		require.Contains(t, exNames(wanted), e.Name())
	}
}

func exNames(events []callbacks.Event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.Name()
	}

	return names
}

// checkLate: behind a finish reason nothing can break any more.
func (x *exChecked) checkLate(t *testing.T) {
	t.Helper()
	require.Equal(t, exIndexed(faultmodel.Concat(t, x.bare[:x.at])), x.run.message(t))
	require.Len(t, x.run.requests, 1)
	late := exEvents[callbacks.LateError](x.run.log)
	if x.cause.eof {
		require.Empty(t, late)
	} else {
		require.Len(t, late, 1)
		require.Equal(t, x.cause.cause, late[0].Cause)
		require.Equal(t, x.cause.kind, late[0].ErrorKind)
	}
	x.checkNoOther(t, callbacks.LateError{})
}

// checkInterrupted checks the event of the break.
func (x *exChecked) checkInterrupted(t *testing.T) {
	t.Helper()
	all := exEvents[callbacks.Interrupted](x.run.log)
	require.Len(t, all, 1)
	e := all[0]
	require.Equal(t, x.cause.cause, e.Cause)
	require.Equal(t, x.cause.kind, e.ErrorKind)
	require.Equal(t, x.got.plan(), e.Plan)
	require.Zero(t, e.OriginalAttempt)
	require.NotEmpty(t, e.ErrorMessage)
	require.Equal(t, x.got.reported, e.UsageFlushed)
	if !x.got.hasText() || len(x.got.calls) == 0 {
		require.Equal(t, x.got.hasText(), e.CommittedPartialText)
		require.Zero(t, e.CommittedTextBlocks)
	}
	lostThoughts := 0
	if x.got.thought != "" && !x.got.thoughtWhole() {
		lostThoughts = 1
	}
	require.Equal(t, lostThoughts, e.DiscardedReasoningBlocks)

	lost := exEvents[callbacks.PartialToolUseDiscarded](x.run.log)
	cancelled := exEvents[callbacks.ToolCallCancel](x.run.log)
	open := x.got.openCalls()
	require.Equal(t, len(open), e.DiscardedPartialToolUses)
	require.Len(t, lost, len(open))
	require.Len(t, cancelled, len(open))
	for i, call := range open {
		require.Equal(t, call.Function.Name, lost[i].ToolName)
		require.Equal(t, len(call.Function.Arguments), lost[i].PartialInputBytes)
		require.Equal(t, call.ID, cancelled[i].ID)
		require.Equal(t, call.Function.Name, cancelled[i].ToolName)
		require.Equal(t, string(x.cause.cause), lost[i].Reason)
		require.Equal(t, string(x.cause.cause), cancelled[i].Reason)
	}
}

// checkTools: the calls that arrived whole are the answer, and no request is made.
func (x *exChecked) checkTools(t *testing.T) {
	t.Helper()
	want := exIndexed(faultmodel.Concat(t, x.bare[:x.at]))
	want.Content, want.ToolCalls = x.got.text, x.got.wholeCalls()
	want.ResponseMeta = &schema.ResponseMeta{FinishReason: "tool_calls", Usage: x.got.usage}
	dropped := ""
	for i, call := range x.got.openCalls() {
		if i > 0 {
			dropped += "\n"
		}
		dropped += call.Function.Name
	}
	if dropped != "" {
		want.Extra = exWith(want.Extra, "carryon_dropped_calls", dropped)
	}
	if x.got.usage != nil && !x.got.reported {
		want.Extra = exWith(want.Extra, "carryon_unreported_attempts", 1)
	}
	require.Equal(t, want, x.run.message(t))
	require.Len(t, x.run.requests, 1)
	require.Equal(t, x.stalled(), x.run.took, "the tools wait for nothing")
	x.checkInterrupted(t)
	x.checkNoOther(t, callbacks.Interrupted{}, callbacks.PartialToolUseDiscarded{}, callbacks.ToolCallCancel{},
		callbacks.Started{}, callbacks.Completed{})
	completed := exEvents[callbacks.Completed](x.run.log)
	require.Len(t, completed, 1)
	require.Equal(t, "tool_calls", completed[0].CompletionReason)

	last := x.run.chunks[len(x.run.chunks)-1]
	require.Equal(t, "tool_calls", last.ResponseMeta.FinishReason)
	require.Empty(t, last.Content+last.ReasoningContent)
	require.Empty(t, last.ToolCalls)
}

// stalled is how long the break itself took.
func (x *exChecked) stalled() time.Duration {
	switch {
	case x.cause.cause != callbacks.CauseIdleStall:
		return 0
	case x.typ != "" || x.got.client:
		return 2 * time.Minute
	default:
		return 5 * time.Minute // an unknown client that was given tools
	}
}

func exWith(extra map[string]any, key string, value any) map[string]any {
	out := map[string]any{key: value}
	maps.Copy(out, extra)

	return out
}
