package continuation_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// checkContinued: one more request brings the rest, and the consumer has the unbroken answer.
func (x *exChecked) checkContinued(t *testing.T) {
	t.Helper()
	restart := x.got.plan() == snapshot.WholeRestart
	require.Len(t, x.run.requests, 2)

	want := *x.want
	want.Extra = exWith(want.Extra, "carryon_continuations", 1)
	want.ToolCalls = exFilled(want.ToolCalls)
	want.ResponseMeta = &schema.ResponseMeta{FinishReason: x.want.ResponseMeta.FinishReason, Usage: x.usageWant(t)}
	if half := len(x.got.thought); half > 0 && !x.got.thoughtWhole() {
		want.ReasoningContent = x.got.thought + want.ReasoningContent
		want.Extra["carryon_reasoning_skip"] = half
		if thought, ok := want.Extra["reasoning-content"].(string); ok {
			want.Extra["reasoning-content"] = x.got.thought + thought
			want.Extra["carryon_reasoning_skip.reasoning-content"] = half
		}
	}
	if n := x.unreported(t); n > 0 && want.ResponseMeta.Usage != nil {
		want.Extra["carryon_unreported_attempts"] = n
	}
	message := x.run.message(t)
	require.Equal(t, &want, message)
	require.Equal(t, x.want.ReasoningContent, continuation.Repair(message).ReasoningContent)
	require.Equal(t, x.want.Extra, exUnmarked(continuation.Repair(message).Extra))

	x.checkInterrupted(t)
	x.checkStarted(t)
	if restart {
		require.Equal(t, exInput(), x.run.requests[1].Messages)
		require.Len(t, exEvents[callbacks.StreamReset](x.run.log), 1)
	} else {
		x.checkRequest(t)
	}
	x.checkBill(t, restart)
}

// exFilled returns calls with an empty object where there are no arguments: after a break that is written.
func exFilled(calls []schema.ToolCall) []schema.ToolCall {
	out := slices.Clone(calls)
	for i := range out {
		if out[i].Function.Arguments == "" {
			out[i].Function.Arguments = "{}"
		}
	}

	return out
}

// exUnmarked returns extra without the decorator's marks, nil if nothing is left.
func exUnmarked(extra map[string]any) map[string]any {
	var out map[string]any
	for k, v := range extra {
		if !strings.HasPrefix(k, "carryon_") {
			out = exWith(out, k, v)
		}
	}

	return out
}

// rest is what the second attempt was asked for.
func (x *exChecked) rest() faultmodel.Script {
	if x.got.plan() == snapshot.WholeRestart {
		return x.script.script()
	}

	return x.script.script().From(len(x.got.trimmed()))
}

// unreported is how many of the two attempts ended before they had told all their usage.
func (x *exChecked) unreported(t *testing.T) (n int) {
	t.Helper()
	if !x.got.reported {
		n++
	}
	if snapshot.HasContent(x.rest().Message(t)) && !exRead(x.bare).reported {
		n++
	}

	return n
}

// usageWant is the usage of both attempts as one answer.
func (x *exChecked) usageWant(t *testing.T) *schema.TokenUsage {
	t.Helper()
	var first, second schema.TokenUsage
	if x.got.usage != nil {
		first = *x.got.usage
	}
	if meta := x.rest().Message(t).ResponseMeta; meta != nil && meta.Usage != nil {
		second = *meta.Usage
	}
	if x.usage {
		r := x.run.requests[1]
		second.PromptTokens = max(second.PromptTokens, r.PromptTokens)
		second.CompletionTokens = max(second.CompletionTokens, r.CompletionTokens)
	}
	u := schema.TokenUsage{PromptTokens: first.PromptTokens, CompletionTokens: first.CompletionTokens + second.CompletionTokens}
	if u.PromptTokens == 0 {
		u.PromptTokens = second.PromptTokens
	}
	u.TotalTokens = u.PromptTokens + u.CompletionTokens
	if u == (schema.TokenUsage{}) {
		return nil
	}

	return &u
}

// checkStarted checks the events around the second attempt, and that it waited as they say.
func (x *exChecked) checkStarted(t *testing.T) {
	t.Helper()
	started := exEvents[callbacks.Started](x.run.log)
	require.Len(t, started, 1)
	s := started[0]
	require.Equal(t, x.got.plan(), s.Plan)
	require.Equal(t, len(x.got.text), s.CommittedTextBytes)
	require.Empty(t, s.PromptText, "a prompt in an event that nobody asked for")
	restart := s.Plan == snapshot.WholeRestart
	if restart {
		require.Equal(t, "unchanged", s.HistoryRewrite)
		require.Equal(t, "none", s.Prompt)
	} else {
		require.Equal(t, "assistant+user", s.HistoryRewrite)
		require.Equal(t, "built-in", s.Prompt)
		require.Len(t, exEvents[callbacks.Joined](x.run.log), 1)
	}
	if x.probes() {
		require.Zero(t, s.Backoff, "a probe is made at once")
	} else {
		require.Equal(t, "1s", exNominal(s.Backoff))
	}
	requests := x.run.requests
	require.Equal(t, x.stalled()+s.Backoff, requests[1].At.Sub(requests[0].At))

	completed := exEvents[callbacks.Completed](x.run.log)
	require.Len(t, completed, 1)
	require.Equal(t, x.want.ResponseMeta.FinishReason, completed[0].CompletionReason)
	x.checkNoOther(t, callbacks.Interrupted{}, callbacks.PartialToolUseDiscarded{}, callbacks.ToolCallCancel{},
		callbacks.Started{}, callbacks.StreamReset{}, callbacks.Joined{}, callbacks.Completed{})
}

// probes reports whether the decorator cannot know yet that the answer was cut.
func (x *exChecked) probes() bool {
	return x.cause.eof && x.typ == "" && !x.got.client && x.got.text != "" && len(x.got.calls) == 0
}

// checkRequest: the unchanged input, one assistant message with the partial answer, one user message.
func (x *exChecked) checkRequest(t *testing.T) {
	t.Helper()
	sent := x.run.requests[1].Messages
	n := len(exInput())
	require.Len(t, sent, n+2)
	require.Equal(t, exInput(), sent[:n])

	want := &schema.Message{Role: schema.Assistant, Content: x.got.trimmed()}
	if x.got.thoughtWhole() && (x.typ == "OpenAI" || x.got.client) {
		want.ReasoningContent = x.got.thought
		if _, ok := x.want.Extra["reasoning-content"]; ok {
			want.Extra = map[string]any{"reasoning-content": x.got.thought}
		}
	}
	require.Equal(t, want, sent[n])
	require.NotEmpty(t, sent[n].Content)
	require.True(t, utf8.ValidString(sent[n].Content))

	prompt := sent[n+1]
	require.Equal(t, &schema.Message{Role: schema.User, Content: prompt.Content}, prompt)
	require.NotEmpty(t, prompt.Content)
	for _, call := range x.got.openCalls() {
		require.Contains(t, prompt.Content, call.Function.Name)
	}
}

// checkBill: a continuation bills nothing that was delivered but white space, and calls that were lost.
func (x *exChecked) checkBill(t *testing.T, restart bool) {
	t.Helper()
	script := x.script.script()
	want := script.Tokens()
	if !restart {
		want = len(script.Text()) - len(x.got.trimmed())
		for _, m := range x.bare {
			for _, call := range m.ToolCalls {
				want += len(call.Function.Arguments)
			}
		}
	}
	require.Equal(t, want, x.run.requests[1].CompletionTokens)
	require.Equal(t, exSteps(x.script.chunks[:x.at]...).Tokens(), x.run.requests[0].CompletionTokens)
}
