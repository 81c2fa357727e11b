package continuation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exOverlap is the shortest repetition that is cut for its length alone.
const exOverlap = 12

// exCutEverywhere runs f for each place in the prose where an answer of pieces of n bytes can break.
func exCutEverywhere(t *testing.T, n int, f func(t *testing.T, answer faultmodel.Script, at int)) {
	t.Helper()
	answer := exSteps(exTexts(exPieces(exProse(), n)...)...)
	for at := 1; at < len(answer)-1; at++ {
		t.Run(fmt.Sprintf("%d bytes", at*n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, answer, at) })
		})
	}
}

// exJoin returns the one join of a run.
func exJoin(t *testing.T, run exRun) callbacks.Joined {
	t.Helper()
	joined := exEvents[callbacks.Joined](run.log)
	require.Len(t, joined, 1, run.log.String())

	return joined[0]
}

// exUnsure reports whether a join says that it may be wrong.
func exUnsure(j callbacks.Joined) bool {
	return j.Kind == callbacks.JoinUndecided || j.Confidence == callbacks.ConfidenceLow
}

// A restart in the same words is swallowed, wherever the answer broke.
func TestExhaustiveRestartInSameWords(t *testing.T) {
	t.Parallel()
	exCutEverywhere(t, 5, func(t *testing.T, answer faultmodel.Script, at int) {
		t.Helper()
		m := faultmodel.Continuer(answer, faultmodel.BreakAt(at, faultmodel.Reset())).WithRestart()
		run := exStream(t, m, exInput())
		require.Len(t, run.requests, 2)
		require.Equal(t, exProse(), run.message(t).Content)
		require.Equal(t, callbacks.JoinRestart, exJoin(t, run).Kind)
	})
}

// The end of the text said again is cut where it is long enough to be no accident. Where it is too short to tell, the
// join does not claim to be sure.
func TestExhaustiveTailRepeat(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3, 5, 8, exOverlap, 17, 40, 120, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			exCutEverywhere(t, 9, func(t *testing.T, answer faultmodel.Script, at int) {
				t.Helper()
				m := faultmodel.Continuer(answer, faultmodel.BreakAt(at, faultmodel.Reset())).WithTailRepeat(n)
				run := exStream(t, m, exInput())
				require.Len(t, run.requests, 2)
				got := run.message(t).Content
				if got == exProse() {
					return
				}
				require.Less(t, n, exOverlap, "a long repetition was delivered twice: %q", got)
				before := answer[:at].Text()
				shown := strings.TrimSpace(before)
				tail := shown[max(0, len(shown)-n):]
				came := tail + answer.From(len(shown)).Text()
				require.Contains(t, []string{before + came, before + strings.TrimPrefix(came, before[len(shown):])}, got)
				require.True(t, exUnsure(exJoin(t, run)), "%q was delivered twice by a join that is sure:\n%s", tail, run.log)
			})
		})
	}
}

// A preamble is in the way, but nothing of the answer is lost or comes twice.
func TestExhaustivePreamble(t *testing.T) {
	t.Parallel()
	const preamble = "Sure, here is the rest:"
	exCutEverywhere(t, 9, func(t *testing.T, answer faultmodel.Script, at int) {
		t.Helper()
		m := faultmodel.Continuer(answer, faultmodel.BreakAt(at, faultmodel.Reset())).WithPreamble(preamble)
		run := exStream(t, m, exInput())
		require.Len(t, run.requests, 2)
		before := answer[:at].Text()
		after, found := strings.CutPrefix(run.message(t).Content, before)
		require.True(t, found)
		after = strings.TrimPrefix(after, preamble)
		space := before[len(strings.TrimSpace(before)):]
		require.Equal(t, exProse(), before+strings.TrimPrefix(after, space))
	})
}

// A restart in other words is left: nothing of it is delivered, it costs a continuation, and the next prompt quotes the
// end of the text.
func TestExhaustiveRestartInOtherWords(t *testing.T) {
	t.Parallel()
	answer := exSteps(exTexts(exPieces(exProse(), 9)...)...)
	for at := 4; at < len(answer)-1; at += 3 {
		for same := 16; same < at*9; same += 11 {
			t.Run(fmt.Sprintf("%d of %d bytes are the same", same, at*9), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { exCheckOtherWords(t, answer, at, same) })
			})
		}
	}
}

func exCheckOtherWords(t *testing.T, answer faultmodel.Script, at, same int) {
	t.Helper()
	const other = "#QUITE ANOTHER STORY, which nobody may see#"
	restart := exSteps(exTexts(exPieces(exProse()[:same]+other, 7)...)...)
	before := answer[:at].Text()
	shown := strings.TrimSpace(before)
	m := faultmodel.New(
		append(append(faultmodel.Script{}, answer[:at]...), faultmodel.Reset()),
		restart,
		answer.From(len(shown)),
	)
	run := exStream(t, m, exInput())
	require.Len(t, run.requests, 3)
	require.Equal(t, exProse(), run.message(t).Content, run.log.String())

	interrupted := exEvents[callbacks.Interrupted](run.log)
	require.Len(t, interrupted, 2)
	require.Equal(t, callbacks.CauseRestarted, interrupted[1].Cause)
	require.Equal(t, callbacks.CauseRestarted, exEvents[callbacks.Failed](run.log)[0].Cause)
	started := exEvents[callbacks.Started](run.log)
	require.Equal(t, 2, started[1].ContinuationAttempt)
	require.Equal(t, "2s", exNominal(started[1].Backoff))

	sent := run.requests[2].Messages
	require.Len(t, sent, len(exInput())+2)
	require.Equal(t, shown, sent[len(exInput())].Content)
	prompt := sent[len(exInput())+1].Content
	end := before[max(0, len(before)-200):]
	require.Contains(t, prompt, end)
	require.NotContains(t, run.requests[1].Messages[len(exInput())+1].Content, end)
}

// A model that always begins anew in other words exhausts the budget, and still nothing is glued.
func TestExhaustiveRestartForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		scripts := []faultmodel.Script{{faultmodel.Text(exProse()[:150]), faultmodel.Reset()}}
		for n := range 5 {
			scripts = append(scripts, faultmodel.Script{faultmodel.Text(exProse()[:90+n] + "#"), faultmodel.Finish("stop")})
		}
		run := exStream(t, faultmodel.New(scripts...), exInput())
		require.ErrorContains(t, run.err, "max_continuations")
		require.Len(t, run.requests, 6)
		text := ""
		for _, m := range run.chunks {
			text += m.Content
		}
		require.Equal(t, exProse()[:150], text)
	})
}

// exSlow puts a pause before each chunk.
func exSlow(script faultmodel.Script, pause time.Duration) faultmodel.Script {
	var out faultmodel.Script
	for _, step := range script {
		out = append(out, faultmodel.Idle(pause), step)
	}

	return out
}

// A slow continuation is held back for 300 ms at most; then it is joined, and is either right or says that it is not sure.
func TestExhaustiveSlowJoin(t *testing.T) {
	t.Parallel()
	const at = 40
	answer := exSteps(exTexts(exPieces(exProse(), 5)...)...)
	before := answer[:at].Text()
	shown := strings.TrimSpace(before)
	for _, pause := range []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second} {
		for name, rest := range map[string]faultmodel.Script{
			"honest":         answer.From(len(shown)),
			"restart":        answer,
			"repeated tail":  append(exSteps(exText(shown[len(shown)-15:])), answer.From(len(shown))...),
			"same two bytes": append(exSteps(exText(shown[len(shown)-2:])), answer.From(len(shown))...),
		} {
			t.Run(fmt.Sprintf("%s/%v", name, pause), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					broken := append(append(faultmodel.Script{}, answer[:at]...), faultmodel.Reset())
					run := exStream(t, faultmodel.New(broken, exSlow(rest, pause)), exInput())
					got := run.message(t).Content
					require.True(t, got == exProse() || name != "honest" && exUnsure(exJoin(t, run)), "%s", run.log)
					if name == "honest" {
						first := run.log.at[at+3].Sub(run.requests[1].At) // three events stand before it
						require.LessOrEqual(t, first, pause+300*time.Millisecond)
					}
				})
			})
		}
	}
}
