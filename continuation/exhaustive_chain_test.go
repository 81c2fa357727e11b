package continuation_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// exChain is one call whose attempts break one after the other, each so that its plan follows.
type exChain struct {
	plans []snapshot.Plan
	texts int // bit n: attempt n brings text
}

// exChains returns every order of plans, up to four, with every choice of attempts that bring text. A restart cannot
// follow text, and nothing follows the tools.
func exChains() []exChain {
	var chains []exChain
	var grow func(plans []snapshot.Plan)
	grow = func(plans []snapshot.Plan) {
		for texts := range 1 << (len(plans) + 1) {
			if c := (exChain{plans: plans, texts: texts}); len(plans) > 0 && c.possible() {
				chains = append(chains, c)
			}
		}
		if len(plans) == 4 || len(plans) > 0 && plans[len(plans)-1] == snapshot.SynthesizeToolUse {
			return
		}
		for _, p := range []snapshot.Plan{
			snapshot.ContinueText, snapshot.SynthesizeToolUse, snapshot.TruncateBeforeTool, snapshot.WholeRestart,
		} {
			grow(append(slices.Clip(plans), p))
		}
	}
	grow(nil)

	return chains
}

func (c exChain) hasText(attempt int) bool { return c.texts>>attempt&1 == 1 }

// possible reports whether the plans can follow from the texts.
func (c exChain) possible() bool {
	if last := len(c.plans); c.plans[last-1] == snapshot.SynthesizeToolUse && c.hasText(last) {
		return false // there is no attempt behind it
	}
	text := false
	for n, p := range c.plans {
		text = text || c.hasText(n)
		continues := p == snapshot.ContinueText || p == snapshot.TruncateBeforeTool
		if continues != text && p != snapshot.SynthesizeToolUse {
			return false
		}
	}

	return true
}

func (c exChain) String() string {
	var b strings.Builder
	for n, p := range c.plans {
		if c.hasText(n) {
			b.WriteString("text+")
		}
		fmt.Fprintf(&b, "%v ", p)
	}
	if c.hasText(len(c.plans)) {
		b.WriteString("text")
	}

	return b.String()
}

func exWord(attempt int) string {
	return []string{"One boat", " left. Two", " crews rowed", " home\n\n", "It rained."}[attempt]
}

func exBreakError(attempt int) error {
	return fmt.Errorf("attempt %d: %w", attempt, faultmodel.ResetError())
}

// script is what attempt n sends.
func (c exChain) script(n int) faultmodel.Script {
	script := faultmodel.Script{faultmodel.Role()}
	if n < len(c.plans) && c.plans[n] == snapshot.WholeRestart {
		script = append(script, faultmodel.Reasoning(fmt.Sprintf("thought %d", n)))
	}
	if c.hasText(n) {
		script = append(script, faultmodel.Text(exWord(n)))
	}
	half := faultmodel.Call(1, "half", "search", fmt.Sprintf(`{"n":%d`, n))
	switch {
	case n == len(c.plans):
		return append(script, faultmodel.Finish("stop"))
	case c.plans[n] == snapshot.SynthesizeToolUse:
		script = append(script, faultmodel.Call(0, "whole", "weather", `{"city":"Bern"}`), half)
	case c.plans[n] == snapshot.TruncateBeforeTool:
		script = append(script, half)
	}

	return append(script, faultmodel.Fail(exBreakError(n)))
}

// Every pair and triple of plans in one call, and every four of them.
func TestExhaustiveChains(t *testing.T) {
	t.Parallel()
	chains := exChains()
	require.Greater(t, len(chains), 50)
	for _, c := range chains {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, c.check)
		})
	}
}

func (c exChain) check(t *testing.T) {
	scripts := make([]faultmodel.Script, len(c.plans)+1)
	for n := range scripts {
		scripts[n] = c.script(n)
	}
	tools := c.plans[len(c.plans)-1] == snapshot.SynthesizeToolUse
	requests := len(scripts)
	if tools {
		requests--
	}
	run := exStream(t, faultmodel.New(scripts...).TypeName("OpenAI"), exInput())
	defer func() {
		if t.Failed() {
			t.Log("transcript:\n" + run.log.String())
		}
	}()
	message := run.message(t)
	require.Len(t, run.requests, requests)

	text, thought, cut := "", "", false
	for n := range requests {
		if n > 0 { // a call that was cut is spoken of until an attempt brings something
			cut = c.plans[n-1] == snapshot.TruncateBeforeTool || cut && c.plans[n-1] == snapshot.ContinueText && !c.hasText(n-1)
			c.checkRequest(t, run.requests[n], c.plans[n-1], text, cut)
		}
		if c.hasText(n) {
			text += exWord(n)
		}
		if n < len(c.plans) && c.plans[n] == snapshot.WholeRestart {
			thought += fmt.Sprintf("thought %d", n)
		}
	}
	want := &schema.Message{Role: schema.Assistant, Content: text, ReasoningContent: thought}
	want.ResponseMeta = &schema.ResponseMeta{FinishReason: "stop"}
	if tools {
		index := 0
		want.ResponseMeta.FinishReason = "tool_calls"
		want.ToolCalls = []schema.ToolCall{{
			Index: &index, ID: "whole", Type: "function",
			Function: schema.FunctionCall{Name: "weather", Arguments: `{"city":"Bern"}`},
		}}
		want.Extra = exWith(want.Extra, "carryon_dropped_calls", "search")
	}
	if requests > 1 {
		want.Extra = exWith(want.Extra, "carryon_continuations", requests-1)
	}
	if thought != "" {
		want.Extra = exWith(want.Extra, "carryon_reasoning_skip", len(thought))
	}
	require.Equal(t, want, message)
	c.checkEvents(t, run)
}

// checkRequest: the text of all attempts so far, never of the last one alone, in one pair that is never stacked.
func (c exChain) checkRequest(t *testing.T, r faultmodel.Request, plan snapshot.Plan, text string, cut bool) {
	t.Helper()
	if plan == snapshot.WholeRestart {
		require.Equal(t, exInput(), r.Messages)

		return
	}
	n := len(exInput())
	require.Len(t, r.Messages, n+2)
	require.Equal(t, exInput(), r.Messages[:n])
	require.Equal(t,
		&schema.Message{Role: schema.Assistant, Content: strings.TrimRightFunc(text, unicode.IsSpace)}, r.Messages[n])
	require.Equal(t, schema.User, r.Messages[n+1].Role)
	require.Equal(t, cut, strings.Contains(r.Messages[n+1].Content, "search"))
}

func (c exChain) checkEvents(t *testing.T, run exRun) {
	t.Helper()
	interrupted := exEvents[callbacks.Interrupted](run.log)
	started := exEvents[callbacks.Started](run.log)
	require.Len(t, interrupted, len(c.plans))
	require.Len(t, started, len(c.plans))
	require.Len(t, exEvents[callbacks.Failed](run.log), len(c.plans)-1)
	require.Len(t, exEvents[callbacks.Completed](run.log), 1)
	for n, plan := range c.plans {
		require.Equal(t, plan, interrupted[n].Plan)
		require.Equal(t, n, interrupted[n].OriginalAttempt)
		require.Equal(t, exBreakError(n).Error(), interrupted[n].ErrorMessage)
		if plan == snapshot.SynthesizeToolUse {
			require.Zero(t, started[n].Backoff)
		} else {
			require.Equal(t, fmt.Sprintf("%ds", 1<<n), exNominal(started[n].Backoff))
		}
	}
}

// After text, a thought alone is no reason to start over.
func TestExhaustiveNoRestartAfterText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := faultmodel.New(
			faultmodel.Script{faultmodel.Text("One boat"), faultmodel.Reset()},
			faultmodel.Script{faultmodel.Reasoning("hm"), faultmodel.Fail(errors.New("odd"))},
			faultmodel.Script{faultmodel.Text(" left."), faultmodel.Finish("stop")},
		)
		run := exStream(t, m, exInput())
		require.Equal(t, "One boat left.", run.message(t).Content)
		require.Empty(t, exEvents[callbacks.StreamReset](run.log))
		require.Equal(t, "One boat", run.requests[2].Messages[len(exInput())].Content)
	})
}
