package continuation_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exReasonless is the answer of a model that never says why it ends.
func exReasonless() faultmodel.Script {
	return faultmodel.Script{faultmodel.Text("The answer "), faultmodel.Text("is seven.")}
}

// A model that never sends a finish reason costs one extra request, once for an instance and all that come from it.
func TestExhaustiveNoFinishReason(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string]faultmodel.Script{
		"probe brings nothing":  {},
		"probe brings a role":   {faultmodel.Role()},
		"probe brings more":     {faultmodel.Text(" And eight is not.")},
		"probe starts over":     exReasonless(),
		"probe brings a call":   {faultmodel.Call(0, "call_1", "search", `{}`)},
		"probe brings thoughts": {faultmodel.Reasoning("Is there more?")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { exCheckNoFinishReason(t, extra) })
		})
	}
}

func exCheckNoFinishReason(t *testing.T, extra faultmodel.Script) {
	t.Helper()
	m := faultmodel.New(exReasonless(), extra, exReasonless(), exReasonless(), exReasonless(), extra)
	log := &exTranscript{}
	decorated := continuation.Wrap(m, continuation.WithHandler(log))
	first := exReadAll(t.Context(), decorated, log, exInput())
	require.Equal(t, "The answer is seven.", first.message(t).Content)
	require.Empty(t, first.message(t).ToolCalls)
	require.Len(t, m.Requests(), 2)
	require.Zero(t, first.took, "a probe is made at once")
	exCheckGrammar(t, log, true)
	told := len(log.events())
	notices := exEvents[callbacks.Notice](log)
	require.Len(t, notices, 1)
	require.Equal(t, callbacks.NoticeNoFinishReason, notices[0].Kind)

	bound, err := decorated.WithTools(nil)
	require.NoError(t, err)
	derived, ok := bound.(*continuation.Model)
	require.True(t, ok)
	for n, again := range []*continuation.Model{decorated, derived, decorated} {
		run := exReadAll(t.Context(), again, log, exInput())
		require.Equal(t, exReasonless().Message(t), run.message(t))
		require.Len(t, m.Requests(), 3+n)
	}
	require.Len(t, log.events(), told, "a later call had something to tell")

	other := continuation.Wrap(faultmodel.New(exReasonless(), extra))
	require.Equal(t, "The answer is seven.", exReadAll(t.Context(), other, &exTranscript{}, exInput()).message(t).Content)
	synctest.Wait()
	require.Zero(t, m.Unclosed())
}

// A probe with a finish reason at its end is part of the answer, and from then on the rule is known.
func TestExhaustiveProbeJoins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := append(exReasonless(), faultmodel.Finish("stop"))
		m := faultmodel.Continuer(answer, faultmodel.BreakAt(1), faultmodel.Whole(), faultmodel.BreakAt(1))
		log := &exTranscript{}
		decorated := continuation.Wrap(m, continuation.WithHandler(log))
		require.Equal(t, "The answer is seven.", exReadAll(t.Context(), decorated, log, exInput()).message(t).Content)
		require.Zero(t, exEvents[callbacks.Started](log)[0].Backoff)
		require.Equal(t, "The answer is seven.", exReadAll(t.Context(), decorated, log, exInput()).message(t).Content)
		require.Equal(t, "1s", exNominal(exEvents[callbacks.Started](log)[1].Backoff))
		require.Len(t, m.Requests(), 4)
		synctest.Wait()
		require.Zero(t, m.Unclosed())
	})
}

// A clean end with whole calls needs no finish reason and no request.
func TestExhaustiveEOFWithWholeCall(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"OpenAI", "Stranger"} {
		for _, text := range []string{"", "Look: "} {
			t.Run(fmt.Sprintf("%s/%q", typ, text), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					m := faultmodel.New(faultmodel.Script{
						faultmodel.Text(text), faultmodel.Call(0, "call_1", "search", `{"q":1}`),
					})
					run := exStream(t, m.TypeName(typ), exInput())
					message := run.message(t)
					require.Len(t, run.requests, 1)
					require.Equal(t, text, message.Content)
					require.Equal(t, "tool_calls", message.ResponseMeta.FinishReason)
					require.Len(t, message.ToolCalls, 1)
					require.Equal(t, `{"q":1}`, message.ToolCalls[0].Function.Arguments)
				})
			})
		}
	}
}

// An empty stream is a failed open: two more requests, then the error; never a clean end.
func TestExhaustiveEmptyStream(t *testing.T) {
	t.Parallel()
	for _, typ := range []string{"OpenAI", "Stranger"} {
		for name, script := range map[string]faultmodel.Script{
			"nothing": {}, "a role": {faultmodel.Role()}, "usage": {faultmodel.Usage(7, 0)}, "nil chunks": {faultmodel.Nil()},
		} {
			t.Run(typ+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					run := exStream(t, faultmodel.New(script, script, script).TypeName(typ), exInput())
					require.ErrorIs(t, run.err, continuation.ErrTruncated)
					require.NotErrorIs(t, run.err, continuation.ErrExhausted, "the last open error comes out as it is")
					require.Len(t, run.requests, 3)
					for n, r := range run.requests[1:] {
						nominal := time.Second << n
						wait := r.At.Sub(run.requests[n].At)
						require.GreaterOrEqual(t, wait, nominal)
						require.LessOrEqual(t, wait, nominal+nominal/4)
						require.Equal(t, exInput(), r.Messages)
					}
				})
			})
		}
	}
}
