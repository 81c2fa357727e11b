package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// breaks are the ends of an attempt that a provider did not mean, behind half a call.
func breaks() map[string]fm.Script {
	return map[string]fm.Script{
		"reset": {fm.Reset()}, "cut body": {fm.UnexpectedEOF()}, "EOF": {fm.EOF()},
		"stop": {fm.Finish("stop")}, "tool_calls": {fm.Finish("tool_calls")}, "tool_use": {fm.Finish("tool_use")}, "error": {fm.Finish("error")},
	}
}

func behind(steps fm.Script, more fm.Script) fm.Script {
	return append(append(fm.Script{}, steps...), more...)
}

// TestCallsOfABrokenAttempt: wherever it breaks, the chunks add up, and every call in them can be run.
func TestCallsOfABrokenAttempt(t *testing.T) {
	t.Parallel()
	answer := fm.Script{
		fm.Text("I look. "), fm.Call(0, "call_x", "f", `{"a":`), fm.Call(0, "", "", `1}`), fm.Call(1, "call_y", "g", ""), fm.Call(1, "", "", `{"b":`),
		fm.Call(1, "", "", `2}`), fm.Finish("tool_calls"),
	}
	wholeFrom := []int{2, 5} // so many chunks of the answer have call n whole: those before it, and its last one
	for how, cause := range map[string]fm.Step{"reset": fm.Reset(), "EOF": fm.EOF(), "cut body": fm.UnexpectedEOF()} {
		for n := 1; n < answer.Chunks(); n++ {
			// https://github.com/cloudwego/eino/issues/1059
			t.Run(fmt.Sprintf("B051 the chunks of two attempts do not add up/%s/%d", how, n), func(t *testing.T) {
				t.Parallel()
				g := play(t, fm.Continuer(answer, fm.BreakAt(n, cause)).TypeName("OpenAI"), now())
				require.NoError(t, g.err)
				m := g.message(t)
				assert.Equal(t, "I look. ", m.Content)
				want := []string{`call_x f {"a":1}`, `call_y g {"b":2}`}
				if n > wholeFrom[0] && n <= wholeFrom[1] { // the first is run, the second is spoken of
					want = want[:1]
					assert.Len(t, g.requests, 1)
				}
				assert.Equal(t, want, callsOf(m))
				assert.Equal(t, "tool_calls", finishOf(m))
			})
		}
	}
}

// TestCallCutAtALimit: at a limit of length the answer is the provider's last word, half a call as well.
func TestCallCutAtALimit(t *testing.T) {
	t.Parallel()
	scenes(t,
		// https://github.com/langchain-ai/langchainjs/pull/11471
		scene{
			name:   "B053 it is said to be whole",
			script: []fm.Script{{fm.Call(0, "id", "write", `{"path":"/x","content":"line1`), fm.Finish("length")}},
			calls:  []string{`id write {"path":"/x","content":"line1`}, finish: "length", requests: 1,
			events: []string{"notice: tool_call_passed_as_is"},
		},
		// https://github.com/redpanda-data/ai-sdk-go/pull/116
		scene{
			name:   "B057 at a limit of length",
			script: []fm.Script{{fm.Call(0, "a", "f", "{}"), fm.Call(1, "b", "g", `{"q":`), fm.Finish("max_tokens")}},
			calls:  []string{"a f {}", `b g {"q":`}, finish: "max_tokens", requests: 1, events: []string{"notice: tool_call_passed_as_is"},
		},
		scene{
			name:   "B057 at a break",
			script: []fm.Script{{fm.Call(0, "a", "f", "{}"), fm.Call(1, "b", "g", `{"q":`), fm.Reset()}},
			calls:  []string{"a f {}"}, finish: "tool_calls", requests: 1, events: []string{
				"broke: connection_reset, SynthesizeToolUse", "discarded: g 5", "cancel: b g", "started 1", "completed: tool_calls",
			},
		},
	)
}

// TestHalfACallAtAFinishReason: what a model says about its end does not make half a call a whole one.
func TestHalfACallAtAFinishReason(t *testing.T) {
	t.Parallel()
	again := fm.Script{fm.Call(0, "id2", "f", `{"a":1}`), fm.Finish("tool_calls")}
	for label, tt := range map[string]struct {
		reason string
		half   fm.Script
	}{
		// https://github.com/vllm-project/vllm/issues/53269
		"B054 the server says tool_calls": {"tool_calls", fm.Script{fm.Call(0, "id", "f", `{"a":`)}},
		// https://github.com/anthropics/claude-code/issues/19143
		"B058 the answer stops before the arguments came": {"stop", fm.Script{fm.Text("x"), fm.Call(0, "id", "f", `{"l":["a`)}},
		// https://github.com/earendil-works/pi/issues/9897
		"B059 the call is said to be completed": {"stop", fm.Script{fm.Call(0, "id", "f", `{"a":1,`)}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			for _, reason := range []string{tt.reason, "stop", "tool_calls", "tool_use", "end_turn", "STOP"} {
				g := play(t, fm.New(behind(tt.half, fm.Script{fm.Finish(reason)}), again), now())
				require.NoError(t, g.err, reason)
				assert.Equal(t, []string{`id2 f {"a":1}`}, callsOf(g.message(t)), reason)
				assert.Equal(t, callbacks.CauseToolCallTruncated, of[callbacks.Interrupted](g.heard)[0].Cause, reason)
				assert.Equal(t, "tool_calls", finishOf(g.message(t)), "the reason of the half call is not shown")
				assert.Len(t, g.requests, 2, reason)
			}
		})
	}
	// https://github.com/NousResearch/hermes-agent/pull/7693
	t.Run("B055 a router says tool_calls at a limit of length", func(t *testing.T) {
		t.Parallel()
		always := func() *fm.Model {
			return fm.Respond(func(int, []*schema.Message) fm.Script {
				return fm.Script{fm.Call(0, "id", "f", `{"a":`), fm.Finish("tool_calls")}
			})
		}
		g := play(t, always(), now())
		require.ErrorIs(t, g.err, continuation.ErrExhausted)
		assert.Len(t, g.requests, 6, "the budget bounds it")
		assert.Empty(t, callsOf(g.message(t)))
		g = play(t, always(), now(), continuation.WithNoProgressLimit(1))
		require.ErrorIs(t, g.err, continuation.ErrExhausted)
		assert.Len(t, g.requests, 2, "one more attempt, for who wants that")
	})
}

// TestHalfACall: it is told of and dropped, never shown, and what stood before it is kept.
func TestHalfACall(t *testing.T) {
	t.Parallel()
	args := `{"path":"/x","text":"a \"b\" c"}`
	for how, end := range breaks() {
		// https://github.com/NousResearch/hermes-agent/pull/12072
		t.Run("B061 the text stays and the action is lost/"+how, func(t *testing.T) {
			t.Parallel()
			for cut := range len(args) {
				if how == "stop" || how == "tool_calls" || how == "tool_use" {
					if cut == 0 {
						continue // a call without arguments is whole at a finish reason
					}
				}
				answer := fm.Script{fm.Text("I'll write the file. "), fm.Call(0, "c1", "write", args[:cut])}
				g := play(t, fm.New(behind(answer, end), fm.Script{fm.Call(0, "c2", "write", args), fm.Finish("tool_calls")}), now())
				require.NoError(t, g.err)
				m := g.message(t)
				require.Equal(t, "I'll write the file. ", m.Content)
				require.Equal(t, []string{"c2 write " + args}, callsOf(m), "cut at %d", cut)
				require.Len(t, of[callbacks.ToolCallCancel](g.heard), 1)
				require.Equal(t, "c1", of[callbacks.ToolCallCancel](g.heard)[0].ID)
				require.Contains(t, g.sent(1)[2], "write", "the model is told")
				require.Empty(t, g.requests[1].Messages[1].ToolCalls)
			}
		})
	}
	for _, client := range append(finishers(), "FaultModel") {
		for how, opts := range map[string][]continuation.Option{
			"by default": with(), "where no finish reason is needed": with(continuation.WithFinishReasonRequired(false)),
		} {
			// https://github.com/lidge-jun/opencodex/pull/773
			t.Run("B062 it is flushed at the end/"+client+" "+how, func(t *testing.T) {
				t.Parallel()
				half := fm.Script{fm.Call(0, "id", "f", `{"a":`), fm.EOF()}
				g := play(t, fm.New(half, half).TypeName(client), append(opts, now(), continuation.WithMaxContinuations(1))...)
				require.ErrorIs(t, g.err, continuation.ErrExhausted)
				for _, c := range g.chunks {
					assert.Empty(t, c.ToolCalls)
				}
			})
		}
	}
}

// TestWholeCallsOfABrokenAnswer: each is shown once, whatever becomes of the others.
func TestWholeCallsOfABrokenAnswer(t *testing.T) {
	t.Parallel()
	whole := fm.Script{fm.Text("a"), fm.Call(0, "id1", "f", `{"n":1}`)}
	for how, end := range breaks() {
		if how == "stop" || how == "tool_calls" || how == "tool_use" {
			continue // a whole answer
		}
		// https://github.com/openclaw/openclaw/pull/88206
		t.Run("B065 a call is replayed and runs twice/"+how, func(t *testing.T) {
			t.Parallel()
			for name, more := range map[string]fm.Script{
				"at once": {}, "in the next call": {fm.Call(1, "id2", "g", `{"m`)}, "in text behind it": {fm.Text("b")},
				"in white space behind it": {fm.Call(0, "", "", "\n")},
			} {
				g := play(t, fm.New(behind(behind(whole, more), end), whole).TypeName("OpenAI"), now())
				require.NoError(t, g.err, name)
				assert.Equal(t, "id1", g.message(t).ToolCalls[0].ID, name)
				assert.Len(t, g.message(t).ToolCalls, 1, name)
				assert.Equal(t, "tool_calls", finishOf(g.message(t)), name)
				assert.Len(t, g.requests, 1, "%s: nothing is asked for again", name)
			}
		})
	}
	// https://github.com/mpfaffenberger/code_puppy/issues/782
	for cut := range 3 {
		t.Run(fmt.Sprintf("B066 a half call takes its siblings along/%d", cut), func(t *testing.T) {
			t.Parallel()
			var script fm.Script
			var want []string
			for i := range 3 {
				id, args := fmt.Sprintf("c%d", i), fmt.Sprintf(`{"n":%d}`, i)
				if i == cut {
					args = args[:4]
				} else {
					want = append(want, id+" f "+args)
				}
				script = append(script, fm.Call(i, id, "f", args))
			}
			g := play(t, fm.New(append(script, fm.Reset())), now())
			require.NoError(t, g.err)
			assert.Equal(t, want, callsOf(g.message(t)))
			assert.Equal(t, "f", g.message(t).Extra[continuation.ExtraDroppedCalls])
			assert.Len(t, g.requests, 1)
		})
	}
}

// TestPiecesOfACall: a piece belongs to the call of its index, and without one to the last call that was begun.
func TestPiecesOfACall(t *testing.T) {
	t.Parallel()
	zero := 0
	for name, piece := range map[string]func(id, name, args string) fm.Step{
		"with an index": func(id, name, args string) fm.Step { return fm.Call(0, id, name, args) },
		"without one":   fm.CallNoIndex,
		"with its id only": func(_, name, args string) fm.Step {
			return fm.Chunk(&schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{
				{Index: &zero, ID: "id", Function: schema.FunctionCall{Name: name, Arguments: args}},
			}})
		},
	} {
		// https://github.com/smallmain/vscode-unify-chat-provider/pull/49
		t.Run("B071 a piece without a name is taken for a call/"+name, func(t *testing.T) {
			t.Parallel()
			steps := fm.Script{piece("id", "f", ""), piece("", "", `{"a"`), piece("", "", ":1}")}
			for n := 1; n <= len(steps); n++ {
				end := fm.Script{fm.Reset()}
				if n == len(steps) {
					end = fm.Script{fm.Finish("tool_calls")}
				}
				g := play(t, fm.New(behind(steps[:n], end), behind(steps, fm.Script{fm.Finish("tool_calls")})), now())
				require.NoError(t, g.err)
				require.Equal(t, []string{`id f {"a":1}`}, callsOf(g.message(t)), "broken behind %d", n)
			}
		})
	}
}
