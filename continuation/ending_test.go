package continuation_test

import (
	"errors"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

func TestReasonsThatPass(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{
		"stop", "STOP", "end_turn", "stop_sequence", "completed", "tool_calls", "tool_use", "function_call",
		"length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_context_window_exceeded",
		"content_filter", "refusal", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "a_new_reason",
	} {
		for end, steps := range map[string]fm.Script{"": nil, " then an error": {fm.Reset()}} {
			t.Run(reason+end, func(t *testing.T) {
				t.Parallel()
				r, events, took := ctRun(t, fm.New(append(fm.Script{fm.Text("Hello"), fm.FinishUsage(reason, 3, 4)}, steps...)))
				require.NoError(t, r.err)
				m := r.message(t)
				assert.Equal(t, "Hello", m.Content)
				assert.Equal(t, reason, m.ResponseMeta.FinishReason)
				assert.Zero(t, took)
				assert.Len(t, r.requests, 1)
				if steps == nil {
					assert.Empty(t, events.names())
				} else {
					assert.Equal(t, []string{"late_error"}, events.names())
					assert.Equal(t, callbacks.CauseConnectionReset, ctOnly[callbacks.LateError](t, events).Cause)
				}
			})
		}
	}
}

func TestLateErrors(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]fm.Step{
		"permanent": fm.Fail(ctStatus(401)), "unknown": fm.Fail(errors.New("what")), "panic": fm.Panic("boom"), "silence": fm.Stall(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello"), fm.Finish("stop"), late}))
			require.NoError(t, r.err)
			assert.Equal(t, "Hello", r.text())
			assert.Equal(t, []string{"late_error"}, events.names())
		})
	}
	t.Run("of a continuation", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop"), fm.Reset()}))
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		ctOnly[callbacks.LateError](t, events)
		ctOnly[callbacks.Completed](t, events)
	})
}

func TestReasonsInDisguise(t *testing.T) {
	t.Parallel()
	type terminated struct {
		Code    int
		Message string
	}
	disguised := func(reason string) fm.Script { return fm.Script{fm.Text("Hello "), fm.Finish(reason)} }
	for name, c := range map[string]struct {
		typ   string
		first fm.Script
	}{
		"error":                         {"OpenAI", disguised("error")},
		"insufficient_system_resource":  {"DeepSeek", disguised("insufficient_system_resource")},
		"an error's text of Ark":        {"Ark", disguised("the upstream went away")},
		"an error's text in a response": {"ResponsesAPI", disguised("server_error")},
		"in Extra": {"OpenRouter", fm.Script{fm.Text("Hello "), fm.Chunk(&schema.Message{
			Role: schema.Assistant, Extra: map[string]any{"openrouter_terminated_error": &terminated{Code: 502, Message: "gone"}},
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(c.first, fm.Script{fm.Text("world."), fm.Finish("stop")}).TypeName(c.typ))
			require.NoError(t, r.err)
			assert.Equal(t, "Hello world.", r.text())
			for _, chunk := range r.chunks {
				if chunk.ResponseMeta != nil {
					assert.Contains(t, []string{"", "stop"}, chunk.ResponseMeta.FinishReason, "one finish reason")
				}
			}
			e := ctOnly[callbacks.Interrupted](t, events)
			assert.Equal(t, callbacks.KindProviderError, e.ErrorKind)
			assert.Equal(t, snapshot.ContinueText, e.Plan)
		})
	}
}

func TestReasonInDisguiseAtTheEnd(t *testing.T) {
	t.Parallel()
	r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Finish("error")}), continuation.WithOpenRetries(0), ctNow())
	exhausted := ctExhausted(t, r, events)
	assert.Error(t, exhausted.First)
	for _, chunk := range r.chunks {
		assert.True(t, chunk.ResponseMeta == nil || chunk.ResponseMeta.FinishReason == "", "no end was reached")
	}
}

func TestOpenCallAtAReason(t *testing.T) {
	t.Parallel()
	half := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "add", `{"a":`)}
	for _, reason := range []string{"stop", "tool_calls", "end_turn"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(append(half, fm.FinishUsage(reason, 3, 4)), fm.Script{fm.Call(0, "c2", "add", `{"a":1}`), fm.Finish("tool_calls")}))
			require.NoError(t, r.err)
			m := r.message(t)
			ctWholeCalls(t, m, `c2 add {"a":1}`)
			assert.Equal(t, "tool_calls", m.ResponseMeta.FinishReason)
			e := ctOnly[callbacks.Interrupted](t, events)
			assert.Equal(t, callbacks.CauseToolCallTruncated, e.Cause)
			assert.Equal(t, snapshot.TruncateBeforeTool, e.Plan)
			assert.Equal(t, 1, e.DiscardedPartialToolUses)
			assert.Equal(t, "c1", ctOnly[callbacks.ToolCallCancel](t, events).ID)
			discarded := ctOnly[callbacks.PartialToolUseDiscarded](t, events)
			assert.Equal(t, "add", discarded.ToolName)
			assert.Equal(t, len(`{"a":`), discarded.PartialInputBytes)
		})
	}
	t.Run("beside a whole one", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(fm.Script{fm.Call(0, "c1", "add", `{}`), fm.Call(1, "c2", "sub", `{"a":`), fm.Finish("tool_calls")}))
		require.NoError(t, r.err)
		ctWholeCalls(t, r.message(t), `c1 add {}`)
		assert.Equal(t, snapshot.SynthesizeToolUse, ctOnly[callbacks.Interrupted](t, events).Plan)
		assert.Len(t, r.requests, 1)
	})
}

func TestCallsDeliveredAsTheyCame(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		reason string
		want   string
	}{
		"malformed":          {[]string{`{"a":`, `oops}`}, "tool_calls", `{"a":oops}`},
		"null":               {[]string{`null`}, "tool_calls", `null`},
		"array":              {[]string{`[1,`, `2]`}, "stop", `[1,2]`},
		"open array":         {[]string{`[1,`}, "stop", `[1,`},
		"string":             {[]string{`"a"`}, "stop", `"a"`},
		"half at length":     {[]string{`{"a":`, `"b`}, "length", `{"a":"b`},
		"half at max_tokens": {[]string{`{"a":`}, "max_tokens", `{"a":`},
		"half at a refusal":  {[]string{`{"a":`}, "content_filter", `{"a":`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "add", "")}
			for _, p := range c.pieces {
				script = append(script, fm.Call(0, "", "", p))
			}
			script = append(script, fm.FinishUsage(c.reason, 3, 4))
			r, events, _ := ctRun(t, fm.New(script))
			require.NoError(t, r.err)
			m := r.message(t)
			assert.Equal(t, script.Message(t), m, "as the bare model's")
			assert.Equal(t, c.want, m.ToolCalls[0].Function.Arguments)
			assert.Equal(t, []string{callbacks.Notice{}.Name()}, events.names())
			assert.Equal(t, callbacks.NoticeToolCallPassed, ctOnly[callbacks.Notice](t, events).Kind)
			assert.Len(t, r.requests, 1)
		})
	}
}

func TestBytesBehindAWholeCall(t *testing.T) {
	t.Parallel()
	for _, more := range []string{"\n", "{}", "]"} {
		script := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "add", `{"a":1}`), fm.Call(0, "", "", more), fm.FinishUsage("tool_calls", 3, 4)}
		r, _, _ := ctRun(t, fm.New(script))
		require.NoError(t, r.err)
		assert.Equal(t, script.Message(t), r.message(t), "as the bare model's")
	}
}

func TestCallWithoutArguments(t *testing.T) {
	t.Parallel()
	script := fm.Script{fm.Call(0, "c1", "now", ""), fm.Call(1, "c2", "here", "")}
	t.Run("finished", func(t *testing.T) {
		t.Parallel()
		whole := append(script, fm.Finish("tool_calls"))
		r, events, _ := ctRun(t, fm.New(whole))
		require.NoError(t, r.err)
		assert.Equal(t, whole.Message(t), r.message(t))
		assert.Empty(t, events.names())
	})
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(append(script, fm.Reset())))
		require.NoError(t, r.err)
		ctWholeCalls(t, r.message(t), "c1 now {}")
		assert.Equal(t, "c2", ctOnly[callbacks.ToolCallCancel](t, events).ID, "its arguments may have been to come")
	})
}

func TestContinuationThatBringsOnlyTheReason(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]fm.Script{
		"alone": {fm.Finish("stop")}, "with a role": {fm.Role(), fm.Finish("stop")}, "with usage": {fm.FinishUsage("stop", 3, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello world."), fm.Reset()}, second))
			require.NoError(t, r.err)
			m := r.message(t)
			assert.Equal(t, "Hello world.", m.Content)
			assert.Equal(t, "stop", m.ResponseMeta.FinishReason)
			assert.Equal(t, 1, m.Extra[continuation.ExtraContinuations])
			assert.Equal(t, callbacks.JoinEmpty, ctOnly[callbacks.Joined](t, events).Kind)
			assert.Equal(t, "stop", ctOnly[callbacks.Completed](t, events).CompletionReason)
		})
	}
}

// TestAnEngineThatStops: vLLM ends its streams with "abort" when its engine is shut down. That is no end of the answer.
func TestAnEngineThatStops(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"abort", "cancelled", "network_error"} {
		r, _, _ := ctRun(t, fm.New(
			fm.Script{fm.Text("The tide turns "), fm.Finish(reason)}, fm.Script{fm.Text("at noon."), fm.Finish("stop")},
		), ctNow())
		require.NoError(t, r.err, reason)
		assert.Equal(t, "The tide turns at noon.", r.text(), reason)
	}
}
