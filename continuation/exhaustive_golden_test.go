package continuation_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// exGolden is a call and its whole transcript.
type exGolden struct {
	name    string
	typ     string
	scripts []faultmodel.Script
	want    string
}

func exGoldens() []exGolden { return append(exPlanGoldens(), exEndGoldens()...) }

func exPlanGoldens() []exGolden {
	return []exGolden{
		{
			name: "R1 in mid text", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Role(), faultmodel.Text("One boat"), faultmodel.Text(" left. "), faultmodel.Reset()},
				{faultmodel.Role(), faultmodel.Text(" Two crews"), faultmodel.Text(" rowed."), faultmodel.Finish("stop")},
			},
			want: `
				chunk
				chunk text "One boat"
				chunk text " left. "
				  llm_stream_interrupted 0 by connection_reset (sse_transport): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 1: ContinueText after 1s, assistant+user, prompt built-in
				  llm_stream_joined 1: space 1, high
				chunk text "Two crews"
				chunk text " rowed."
				  llm_stream_continuation_completed 1: stop
				chunk finish stop map[carryon_continuations:1]
				end EOF
			`,
		},
		{
			name: "R2 with a half call", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{
					faultmodel.Text("Look: "), faultmodel.Call(0, "c1", "weather", `{"city":"Bern"}`),
					faultmodel.Call(1, "c2", "search", `{"q":`), faultmodel.UnexpectedEOF(),
				},
			},
			want: `
				chunk text "Look: "
				chunk call 0 c1 weather{"city":"Bern"}
				  tool_call_progress
				  llm_stream_interrupted 0 by connection_reset (body_decode): SynthesizeToolUse, text 1+false, lost 1+0
				  discarded_partial_tool_use search 5 bytes: connection_reset
				  tool_call_cancel c2 search: connection_reset
				  llm_stream_continuation_started 1: SynthesizeToolUse after 0s, none, prompt none
				  llm_stream_continuation_completed 1: tool_calls
				chunk finish tool_calls map[carryon_dropped_calls:search]
				end EOF
			`,
		},
		{
			name: "R3 with text behind the call", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{
					faultmodel.Text("Look: "), faultmodel.Call(0, "c1", "search", `{"q":`), faultmodel.Text("a moment"), faultmodel.EOF(),
				},
				{
					faultmodel.Text(", please."), faultmodel.Call(0, "c2", "search", `{"q":1}`),
					faultmodel.FinishUsage("tool_calls", 30, 9),
				},
			},
			want: `
				chunk text "Look: "
				  tool_call_progress
				  llm_stream_interrupted 0 by truncated (truncated): TruncateBeforeTool, text 1+true, lost 1+0
				  discarded_partial_tool_use search 5 bytes: truncated
				  tool_call_cancel c1 search: truncated
				  llm_stream_continuation_started 1: TruncateBeforeTool after 1s, assistant+user, prompt built-in
				chunk text "a moment"
				  llm_stream_joined 1: plain 0, high
				chunk text ", please."
				chunk call 0 c2 search{"q":1}
				  llm_stream_continuation_completed 1: tool_calls
				chunk finish tool_calls usage 30+9 map[carryon_continuations:1 carryon_unreported_attempts:1]
				end EOF
			`,
		},
		{
			name: "R4 in mid thought", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Reasoning("Let me"), faultmodel.Stall()},
				{faultmodel.Reasoning("Let me see."), faultmodel.Text("Yes."), faultmodel.FinishUsage("stop", 20, 15)},
			},
			want: `
				chunk thought "Let me"
				  llm_stream_interrupted 0 by idle_stall (idle_stall): WholeRestart, text 0+false, lost 0+1
				  llm_stream_continuation_started 1: WholeRestart after 1s, unchanged, prompt none
				  stream_reset: idle_stall
				chunk thought "Let me see."
				chunk text "Yes."
				  llm_stream_continuation_completed 1: stop
				chunk finish stop usage 20+15 map[carryon_continuations:1 carryon_reasoning_skip:6 carryon_unreported_attempts:1]
				end EOF
			`,
		},
		{
			name: "R4, R1, R3, R2", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Reasoning("Hm"), faultmodel.Reset()},
				{faultmodel.Text("One boat"), faultmodel.Fail(exSyntaxError())},
				{
					faultmodel.Call(0, "c1", "search", `{"q":`),
					faultmodel.Fail(&exStatusError{HTTPStatusCode: 502, Message: "bad gateway"}),
				},
				{faultmodel.Text(" left."), faultmodel.Call(0, "c2", "search", `{}`), faultmodel.Panic("boom")},
			},
			want: `
				chunk thought "Hm"
				  llm_stream_interrupted 0 by connection_reset (sse_transport): WholeRestart, text 0+false, lost 0+1
				  llm_stream_continuation_started 1: WholeRestart after 1s, unchanged, prompt none
				  stream_reset: connection_reset
				chunk text "One boat"
				  llm_stream_continuation_failed 1: malformed_frame
				  llm_stream_interrupted 1 by malformed_frame (sse_parse): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 2: ContinueText after 2s, assistant+user, prompt built-in
				  llm_stream_joined 2: empty 0, high
				  tool_call_progress
				  llm_stream_continuation_failed 2: provider_5xx
				  llm_stream_interrupted 2 by provider_5xx (provider_error): TruncateBeforeTool, text 1+false, lost 1+0
				  discarded_partial_tool_use search 5 bytes: provider_5xx
				  tool_call_cancel c1 search: provider_5xx
				  llm_stream_continuation_started 3: TruncateBeforeTool after 4s, assistant+user, prompt built-in
				  llm_stream_joined 3: plain 0, high
				chunk text " left."
				chunk call 0 c2 search{}
				  llm_stream_continuation_failed 3: unknown
				  llm_stream_interrupted 3 by unknown (unknown): SynthesizeToolUse, text 1+false, lost 0+0
				  llm_stream_continuation_started 4: SynthesizeToolUse after 0s, none, prompt none
				  llm_stream_continuation_completed 4: tool_calls
				chunk finish tool_calls map[carryon_continuations:3 carryon_reasoning_skip:2]
				end EOF
			`,
		},
	}
}

func exEndGoldens() []exGolden {
	return []exGolden{
		{
			name: "probe", typ: "Stranger",
			scripts: []faultmodel.Script{
				{faultmodel.Text("One boat left.")},
				{},
			},
			want: `
				chunk text "One boat left."
				  llm_stream_interrupted 0 by truncated (truncated): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 1: ContinueText after 0s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 1: truncated
				  notice
				end EOF
			`,
		},
		{
			name: "open retries, then a late error", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.OpenFail(faultmodel.ResetError())},
				{faultmodel.Role()},
				{faultmodel.Text("One."), faultmodel.Finish("stop"), faultmodel.Reset()},
			},
			want: `
				  llm_stream_open_retried 1 after 1s by connection_reset
				chunk
				  llm_stream_open_retried 2 after 2s by truncated
				chunk text "One."
				chunk finish stop
				  late_error connection_reset
				end EOF
			`,
		},
		{
			name: "exhausted", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Text("One"), faultmodel.Fail(&exFaultError{attempt: 0})},
				{faultmodel.Fail(&exFaultError{attempt: 1})},
				{faultmodel.Fail(&exFaultError{attempt: 2})},
				{faultmodel.Fail(&exFaultError{attempt: 3})},
				{faultmodel.Fail(&exFaultError{attempt: 4})},
				{faultmodel.Fail(&exFaultError{attempt: 5})},
			},
			want: `
				chunk text "One"
				  llm_stream_interrupted 0 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 1: ContinueText after 1s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 1: unknown
				  llm_stream_interrupted 1 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 2: ContinueText after 2s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 2: unknown
				  llm_stream_interrupted 2 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 3: ContinueText after 4s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 3: unknown
				  llm_stream_interrupted 3 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 4: ContinueText after 8s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 4: unknown
				  llm_stream_interrupted 4 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 5: ContinueText after 16s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 5: unknown
				  llm_stream_interrupted 5 by unknown (unknown): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_exhausted after 5: max_continuations
				end continuation: exhausted after 5 continuations (max_continuations): first: attempt 0 met an odd end; last: attempt 5 met an odd end
			`,
		},
		{
			name: "refused", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Text("One"), faultmodel.Reset()},
				{faultmodel.OpenFail(&exStatusError{HTTPStatusCode: 401, Message: "bad key"})},
			},
			want: `
				chunk text "One"
				  llm_stream_interrupted 0 by connection_reset (sse_transport): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 1: ContinueText after 1s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 1: permanent
				  llm_stream_continuation_exhausted after 1: refused
				end continuation: exhausted after 1 continuations (refused): first: read tcp 192.0.2.10:50412->192.0.2.1:443: read: connection reset by peer; last: bad key
			`,
		},
		{
			name: "a restart in other words", typ: "OpenAI",
			scripts: []faultmodel.Script{
				{faultmodel.Text("One boat left the pier"), faultmodel.Reset()},
				{faultmodel.Text("One boat left the harbour")},
				{faultmodel.Text(" at dawn."), faultmodel.Finish("stop")},
			},
			want: `
				chunk text "One boat left the pier"
				  llm_stream_interrupted 0 by connection_reset (sse_transport): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 1: ContinueText after 1s, assistant+user, prompt built-in
				  llm_stream_continuation_failed 1: restarted
				  llm_stream_interrupted 1 by restarted (provider_error): ContinueText, text 0+true, lost 0+0
				  llm_stream_continuation_started 2: ContinueText after 2s, assistant+user, prompt built-in
				  llm_stream_joined 2: plain 0, high
				chunk text " at dawn."
				  llm_stream_continuation_completed 2: stop
				chunk finish stop map[carryon_continuations:2]
				end EOF
			`,
		},
	}
}

// Chunks and events of some calls, line by line.
func TestExhaustiveGolden(t *testing.T) {
	t.Parallel()
	for _, g := range exGoldens() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				run := exStream(t, faultmodel.New(g.scripts...).TypeName(g.typ), exInput())
				require.NoError(t, run.streamErr)
				require.Equal(t, exLines(g.want), exLines(run.log.String()))
			})
		})
	}
}

// exLines returns the lines of s without the tabs of the source.
func exLines(s string) []string {
	var lines []string
	for line := range strings.Lines(s) {
		if line = strings.Trim(line, "\t\n"); line != "" {
			lines = append(lines, line)
		}
	}

	return lines
}
