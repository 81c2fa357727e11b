package scenarios_test

import (
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// join plays an answer that breaks once, whose continuation comes in pieces of every size up to its whole.
func join(t *testing.T, before, after, want string, opts ...continuation.Option) (joins []callbacks.Joined) {
	t.Helper()
	for size := 1; size <= len(after); size += 1 + size/2 {
		second := fm.Script{}
		for rest := after; rest != ""; {
			n := min(size, len(rest))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			second, rest = append(second, fm.Text(rest[:n])), rest[n:]
		}
		g := play(t, fm.New(fm.Script{fm.Text(before), fm.Reset()}, append(second, fm.Finish("stop"))), append(opts, now())...)
		require.NoError(t, g.err)
		require.Equal(t, want, g.text(), "in pieces of %d", size)
		of := of[callbacks.Joined](g.heard)
		require.Len(t, of, 1, "a join is told of")
		joins = append(joins, of[0])
	}

	return joins
}

// TestSeams: what the continuation says again is cut, what it says for the first time is not.
func TestSeams(t *testing.T) {
	t.Parallel()
	table := "Prices:\n\n| name | price |\n|---|---|\n| tea | 3 |\n"
	for name, tt := range map[string]struct{ before, after, want string }{
		// https://github.com/NousResearch/hermes-agent/pull/95392
		"B041 the conclusion is begun again": {
			"Both ways work. In summary the first is shorter.", "In summary the first is shorter. The second is faster.",
			"Both ways work. In summary the first is shorter. The second is faster.",
		},
		"B041 the conclusion is begun again, as a paragraph": {
			"Both ways work.\n\nIn summary the first is", "In summary the first is shorter.", "Both ways work.\n\nIn summary the first is shorter.",
		},
		// https://github.com/QwenLM/qwen-code/pull/3966
		"B042 a table is sent again":                   {table, table[9:] + "| milk | 2 |", table + "| milk | 2 |"},
		"B042 the head of a table is sent again":       {table, "| name | price |\n|---|---|\n| milk | 2 |", table + "| milk | 2 |"},
		"B042 a table that was cut in a row":           {table + "| mi", table[9:] + "| milk | 2 |", table + "| milk | 2 |"},
		"B042 the small table of the report":           {"A\n|h|h|\n|1|2|", "|h|h|\n|1|2|\n|3|4|", "A\n|h|h|\n|1|2|\n|3|4|"},
		"B042 a list is sent again":                    {"Buy:\n\n- two lemons\n- some sugar\n", "- two lemons\n- some sugar\n- one pie", "Buy:\n\n- two lemons\n- some sugar\n- one pie"},
		"B042 a row that stands twice by design stays": {"|a|b|\n|a|b|\n", "|a|b|\n", "|a|b|\n|a|b|\n|a|b|\n"},
		// https://github.com/vercel/ai/pull/3118
		"B046 a space on both sides":         {"foo ", " bar", "foo bar"},
		"B046 a space on neither":            {"foo", "bar", "foobar"},
		"B046 a space in front":              {"foo", " bar", "foo bar"},
		"B046 a space behind":                {"foo ", "bar", "foo bar"},
		"B046 line breaks on both sides":     {"foo\n\n", "\n\nbar", "foo\n\nbar"},
		"B046 an indent that goes on":        {"if x {\n", "\n\treturn", "if x {\n\treturn"},
		"B046 a space in a script of no use": {"世界", "和平", "世界和平"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			join(t, tt.before, tt.after, tt.want)
		})
	}
}

// TestPreambleOfAContinuation: words about going on are no part of the answer.
func TestPreambleOfAContinuation(t *testing.T) {
	t.Parallel()
	// https://github.com/dyad-sh/dyad/pull/3027
	t.Run("B045 a file holds what the model said about it", func(t *testing.T) {
		t.Parallel()
		for _, j := range join(t, "<file>abc,", "Sure, continuing: def</file>", "<file>abc, def</file>") {
			assert.Equal(t, callbacks.JoinPreamble, j.Kind)
		}
		join(t, "<file>abc,", "Sure, continuing: def</file>", "<file>abc,Sure, continuing: def</file>", continuation.WithoutPreambleFilter())
	})
}

// TestNothingIsGluedInSilence: text that may not belong together is rejected, or joined and said to be doubtful.
func TestNothingIsGluedInSilence(t *testing.T) {
	t.Parallel()
	// https://github.com/diegosouzapw/OmniRoute/pull/11152
	t.Run("B043 another answer begins in mid word", func(t *testing.T) {
		t.Parallel()
		for _, j := range join(t, "the quick bro", "Here is the answer: a fox.", "the quick broHere is the answer: a fox.") {
			assert.Equal(t, callbacks.ConfidenceLow, j.Confidence)
		}
	})
	text := prose().Text()
	for at := 20; at < 60; at += 5 {
		t.Run(fmt.Sprintf("B043 the answer begins anew and goes another way/%d", at), func(t *testing.T) {
			t.Parallel()
			g := play(t, fm.New(
				fm.Script{fm.Text(text[:70]), fm.Reset()},
				fm.Script{fm.Text(text[:at]), fm.Text("# another way, with nothing of the first"), fm.Finish("stop")},
				fm.Script{fm.Text(text[70:]), fm.Finish("stop")},
			), now())
			scene{text: text, finish: "stop", requests: 3, events: []string{
				"broke: connection_reset, ContinueText", "started 1", "failed: restarted",
				"broke: restarted, ContinueText", "started 2", "completed: stop",
			}}.check(t, g)
			assert.Contains(t, g.sent(2)[2], text[:70], "the prompt shows where the text ends")
		})
	}
}
