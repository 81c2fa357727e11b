package scenarios_test

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func tokens(prompt, completion int) *schema.TokenUsage {
	return &schema.TokenUsage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

// TestUsage: the message has one record, of the one answer; what was billed is in the events, attempt by attempt.
func TestUsage(t *testing.T) {
	t.Parallel()
	for label, tt := range map[string]struct {
		first  fm.Script
		second fm.Script
		want   *schema.TokenUsage
		of     [2]int // completion tokens of the attempts
		billed int    // in all
	}{
		// https://github.com/octos-org/octos/issues/1533
		"B137 what a failed attempt cost is gone": {
			fm.Script{fm.Text("a"), fm.Usage(10, 5), fm.Reset()}, fm.Script{fm.Text("b"), fm.Usage(20, 7), fm.Finish("stop")}, tokens(10, 12), [2]int{5, 7}, 42,
		},
		// https://github.com/ayunis-core/ayunis-core/pull/1270
		"B138 both attempts are recorded under one id": {
			fm.Script{fm.Text("a"), fm.FinishUsage("error", 10, 5)}, fm.Script{fm.Text("b"), fm.FinishUsage("stop", 20, 7)}, tokens(10, 12), [2]int{5, 7}, 42,
		},
		// https://github.com/open-telemetry/semantic-conventions-genai/issues/476
		"B139 the same record comes again and again": {
			fm.Script{fm.Usage(10, 5), fm.Text("a"), fm.Usage(10, 5), fm.Usage(10, 5), fm.Reset()},
			fm.Script{fm.Usage(20, 7), fm.Text("b"), fm.Usage(20, 7), fm.FinishUsage("stop", 20, 7), fm.Usage(20, 7)},
			tokens(10, 12),
			[2]int{5, 7},
			42,
		},
		"B139 the records grow": {
			fm.Script{fm.Usage(10, 1), fm.Text("a"), fm.Usage(10, 5), fm.Reset()},
			fm.Script{fm.Usage(20, 2), fm.Text("b"), fm.FinishUsage("stop", 20, 7)},
			tokens(10, 12),
			[2]int{5, 7},
			42,
		},
		// https://github.com/cloudwego/eino/blob/v0.9.13/schema/message.go takes the largest of each field
		"B141 the largest of each attempt is taken": {
			fm.Script{fm.Text("a"), fm.Usage(100, 50), fm.Reset()}, fm.Script{fm.Text("b"), fm.FinishUsage("stop", 150, 30)}, tokens(100, 80), [2]int{50, 30}, 330,
		},
		// https://github.com/damianvtran/local-operator/pull/1007
		"B142 a usage record counts as an answer": {
			fm.Script{fm.Usage(10, 0), fm.Reset()}, fm.Script{fm.Text("ab"), fm.FinishUsage("stop", 10, 7)}, tokens(10, 7), [2]int{0, 7}, 27,
		},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			g := play(t, fm.New(tt.first, tt.second), now())
			require.NoError(t, g.err)
			m := g.message(t)
			assert.Equal(t, "ab", m.Content)
			require.NotNil(t, m.ResponseMeta)
			assert.Equal(t, tt.want, m.ResponseMeta.Usage)
			if restarted := of[callbacks.OpenRetried](g.heard); len(restarted) > 0 {
				assert.Equal(t, hi(), g.requests[1].Messages)

				return
			}
			broke, completed := of[callbacks.Interrupted](g.heard), of[callbacks.Completed](g.heard)
			require.Len(t, broke, 1)
			require.Len(t, completed, 1)
			assert.Equal(t, tt.of, [2]int{int(broke[0].Usage.Completion), int(completed[0].Usage.Completion)})
			assert.EqualValues(t, tt.billed, completed[0].Billed.Total)

			g = play(t, fm.New(tt.first, tt.second), now(), continuation.WithBilledUsage())
			require.NoError(t, g.err)
			assert.EqualValues(t, tt.billed, g.message(t).ResponseMeta.Usage.TotalTokens, "if that is asked for")
		})
	}
}
