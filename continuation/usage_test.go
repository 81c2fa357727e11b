package continuation_test

import (
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

func ctUsage(prompt, completion int) *schema.TokenUsage {
	return &schema.TokenUsage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
}

func TestUsageOfARecoveredAnswer(t *testing.T) {
	t.Parallel()
	billed := []continuation.Option{continuation.WithBilledUsage()}
	end := func(prompt, completion int) fm.Script {
		return fm.Script{fm.Text("end."), fm.FinishUsage("stop", prompt, completion)}
	}
	for name, c := range map[string]struct {
		scripts []fm.Script
		opts    []continuation.Option
		want    *schema.TokenUsage // of the message; nil: unknown
		billed  int                // in all
		missing int                // attempts that have not reported all they used
	}{
		"both known":            {[]fm.Script{{fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 12), 40, 0},
		"both known, billed":    {[]fm.Script{{fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, end(18, 7)}, billed, ctUsage(28, 12), 40, 0},
		"first unknown":         {[]fm.Script{{fm.Text("Hello, "), fm.Reset()}, end(18, 7)}, nil, ctUsage(18, 7), 25, 1},
		"last unknown":          {[]fm.Script{{fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, ctDone()}, nil, ctUsage(10, 5), 15, 1},
		"never reported":        {[]fm.Script{{fm.Text("Hello, "), fm.Reset()}, ctDone()}, nil, nil, 0, 2},
		"never reported, too":   {[]fm.Script{{fm.Text("Hello, "), fm.Reset()}, ctDone()}, billed, nil, 0, 2},
		"cumulative records":    {[]fm.Script{{fm.Text("Hello, "), fm.Usage(10, 2), fm.Usage(10, 5), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 12), 40, 0},
		"three attempts":        {[]fm.Script{{fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, {fm.Text("dear, "), fm.Usage(18, 3), fm.Reset()}, end(21, 7)}, nil, ctUsage(10, 15), 64, 0},
		"restart":               {[]fm.Script{{fm.Reasoning("Hm"), fm.Usage(10, 50), fm.Reset()}, end(10, 7)}, nil, ctUsage(10, 57), 77, 0},
		"calls and no request":  {[]fm.Script{{fm.Call(0, "c1", "add", `{}`), fm.Usage(10, 5), fm.Reset()}}, nil, ctUsage(10, 5), 15, 0},
		"calls, and zeros":      {[]fm.Script{{fm.Usage(0, 0), fm.Call(0, "c1", "add", `{}`), fm.Reset()}}, nil, &schema.TokenUsage{}, 0, 1},
		"calls, never reported": {[]fm.Script{{fm.Call(0, "c1", "add", `{}`), fm.Reset()}}, nil, nil, 0, 1},
		"one before the rest":   {[]fm.Script{{fm.Usage(10, 1), fm.Text("Hello, "), fm.Text("my dear "), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 8), 36, 1},
		"one with the first":    {[]fm.Script{{ctCounted("Hello, ", 1), fm.Text("my dear "), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 8), 36, 1},
		"only with the first":   {[]fm.Script{{ctCounted("Hello, ", 1), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 8), 36, 1},
		"with each":             {[]fm.Script{{ctCounted("Hello, ", 1), ctCounted("my dear ", 3), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 10), 38, 0},
		"no content before":     {[]fm.Script{{fm.Fail(ctStatus(503))}, {fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, end(18, 7)}, nil, ctUsage(10, 12), 40, 0},
		"nothing but the end":   {[]fm.Script{{fm.Text("Hello."), fm.Usage(10, 5), fm.Reset()}, {fm.Finish("stop")}}, nil, ctUsage(10, 5), 15, 0},
		"calls, told too soon":  {[]fm.Script{{fm.Usage(10, 1), fm.Call(0, "c1", "add", `{}`), fm.Reset()}}, nil, ctUsage(10, 1), 11, 1},
		"reason in disguise":    {[]fm.Script{{fm.Text("Hello, "), fm.FinishUsage("error", 10, 5)}, end(18, 7)}, nil, ctUsage(10, 12), 40, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(c.scripts...), c.opts...)
			require.NoError(t, r.err)
			m := r.message(t)
			require.NotNil(t, m.ResponseMeta)
			assert.Equal(t, c.want, m.ResponseMeta.Usage)
			completed := ctOf[callbacks.Completed](events)
			last := completed[len(completed)-1]
			assert.Equal(t, c.billed, last.Billed.Total)
			assert.Equal(t, c.billed != 0, last.Billed.Known)
			assert.Equal(t, c.billed != 0, last.Answer.Known, "unknown is not zero")
			assert.Equal(t, c.missing, last.Billed.Unreported)
			assert.Equal(t, c.missing, last.Answer.Unreported)
			mark, marked := m.Extra[continuation.ExtraUnreported]
			assert.Equal(t, c.want != nil && c.missing > 0, marked, "a sum that is too low says so, and no other")
			if marked {
				assert.Equal(t, c.missing, mark)
			}

			before := 0
			for _, s := range c.scripts[:len(c.scripts)-1] {
				before += s.Chunks()
			}
			after := false // the records behind the last break
			for i, chunk := range r.chunks {
				after = after || chunk.Content != "" && i >= before
				if after && i < len(r.chunks)-1 && chunk.ResponseMeta != nil {
					assert.Nil(t, chunk.ResponseMeta.Usage, "one record, in the last chunk")
				}
			}
		})
	}
}

// ctCounted is a chunk with the usage so far.
func ctCounted(text string, completion int) fm.Step {
	m := schema.AssistantMessage(text, nil)
	m.ResponseMeta = &schema.ResponseMeta{Usage: ctUsage(10, completion)}

	return fm.Chunk(m)
}

func TestUsageDetails(t *testing.T) {
	t.Parallel()
	usage := func(prompt, cached, completion, reasoning int) fm.Step {
		u := ctUsage(prompt, completion)
		u.PromptTokenDetails.CachedTokens, u.CompletionTokensDetails.ReasoningTokens = cached, reasoning

		return fm.Chunk(&schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{Usage: u}})
	}
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Text("Hello, "), usage(10, 4, 5, 2), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop"), usage(18, 9, 7, 3)},
	))
	require.NoError(t, r.err)
	want := ctUsage(10, 12)
	want.PromptTokenDetails.CachedTokens, want.CompletionTokensDetails.ReasoningTokens = 4, 5
	assert.Equal(t, want, r.message(t).ResponseMeta.Usage)
	e := ctOnly[callbacks.Interrupted](t, events)
	assert.True(t, e.UsageFlushed)
	assert.Equal(t, 15, e.Usage.Total)
	completed := ctOnly[callbacks.Completed](t, events)
	assert.Equal(t, 25, completed.Usage.Total)
	assert.Equal(t, 22, completed.Answer.Total)
	assert.Equal(t, 13, completed.Billed.Cached)
}

func TestUsageOfAnExhaustedAnswer(t *testing.T) {
	t.Parallel()
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Text("Hello, "), fm.Usage(10, 5), fm.Reset()}, fm.Script{fm.Text("dear, "), fm.Usage(18, 3), fm.Reset()},
	), continuation.WithMaxContinuations(1))
	assert.Equal(t, 1, ctExhausted(t, r, events).Attempts)
	assert.Equal(t, 36, ctOnly[callbacks.Exhausted](t, events).Billed.Total)
	assert.Equal(t, 21, ctOnly[callbacks.Failed](t, events).Usage.Total)
}

func TestUsageOfAnUnbrokenAnswer(t *testing.T) {
	t.Parallel()
	script := fm.Script{fm.Usage(10, 1), fm.Text("Hello."), fm.Usage(10, 3), fm.FinishUsage("stop", 10, 4), fm.Usage(10, 5)}
	for _, opts := range [][]continuation.Option{nil, {continuation.WithBilledUsage()}} {
		r, events, _ := ctRun(t, fm.New(script), opts...)
		require.NoError(t, r.err)
		assert.Equal(t, script.Message(t), r.message(t))
		assert.Empty(t, events.list())
	}
}

// TestDroppedChunksAreBilledOnce: what a client reports in several records of one attempt is no sum, also if some of its
// chunks are dropped by the join.
func TestDroppedChunksAreBilledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, fm.New(
			fm.Script{fm.Text("The quick brown fox jumps over the lazy dog. Then it "), fm.Reset()},
			fm.Script{fm.Usage(100, 1), fm.Text("The quick "), fm.Usage(100, 9), fm.Text("brown fox jumps over a sleeping cat."), fm.Finish("stop")},
			fm.Script{fm.Text("sleeps."), fm.Usage(50, 2), fm.Finish("stop")},
		), ctNow())
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		done := ctOnly[callbacks.Completed](t, events)
		assert.Equal(t, 150, done.Billed.Prompt)
		assert.Equal(t, 11, done.Billed.Completion)
	})
}
