package continuation_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctCallWith makes one call with an input and options of the call, and returns the requests.
func ctCallWith(t *testing.T, inner *fm.Model, in []*schema.Message, call []model.Option, opts ...continuation.Option) (requests []fm.Request, text string, events *ctEvents) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := ctJSON(t, in)
		m, ev := ctWrap(t, inner, append(opts, ctNow())...)
		r := ctStreamOf(t.Context(), m, in, call...)
		require.NoError(t, r.err)
		ctLetGo(t, inner)
		assert.Equal(t, before, ctJSON(t, in), "the caller's messages are not changed")
		requests, text, events = inner.Requests(), r.text(), ev
	})

	return requests, text, events
}

func TestMaxTokensOfAContinuation(t *testing.T) {
	t.Parallel()
	six := strings.Repeat("word, ", 100) // 600 bytes
	end := fm.Script{fm.Text("the end."), fm.Finish("stop")}
	for name, c := range map[string]struct {
		limit   int // 0: none
		scripts []fm.Script
		want    []int
	}{
		"known usage":            {1000, []fm.Script{{fm.Text(six), fm.Usage(9, 300), fm.Reset()}, end}, []int{1000, 700}},
		"estimated":              {1000, []fm.Script{{fm.Text(six), fm.Reset()}, end}, []int{1000, 900}},
		"reasoning counts":       {1000, []fm.Script{{fm.Reasoning(six), fm.Text(six), fm.Reset()}, end}, []int{1000, 800}},
		"two continuations":      {1000, []fm.Script{{fm.Text(six), fm.Usage(9, 300), fm.Reset()}, {fm.Text("more, and "), fm.Usage(9, 100), fm.Reset()}, end}, []int{1000, 700, 600}},
		"never below 256":        {300, []fm.Script{{fm.Text(six), fm.Usage(9, 290), fm.Reset()}, end}, []int{300, 256}},
		"used up":                {300, []fm.Script{{fm.Text(six), fm.Usage(9, 4000), fm.Reset()}, end}, []int{300, 256}},
		"never above the limit":  {100, []fm.Script{{fm.Text(six), fm.Usage(9, 50), fm.Reset()}, end}, []int{100, 100}},
		"none":                   {0, []fm.Script{{fm.Text(six), fm.Usage(9, 300), fm.Reset()}, end}, []int{0, 0}},
		"a restart is unchanged": {1000, []fm.Script{{fm.Reasoning(six), fm.Usage(9, 300), fm.Reset()}, end}, []int{1000, 1000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			call := []model.Option{model.WithTemperature(0.5)}
			if c.limit > 0 {
				call = append(call, model.WithMaxTokens(7), model.WithMaxTokens(c.limit))
			}
			call = append(call, model.WithTopP(0.25))
			requests, _, _ := ctCallWith(t, fm.New(c.scripts...), ctInput(), call)
			require.Len(t, requests, len(c.want))
			for i, r := range requests {
				got := 0
				if r.Options.MaxTokens != nil {
					got = *r.Options.MaxTokens
				}
				assert.Equal(t, c.want[i], got, "request %d", i)
				assert.InDelta(t, 0.5, *r.Options.Temperature, 0)
				assert.InDelta(t, 0.25, *r.Options.TopP, 0)
			}
		})
	}
}

type ctImplOptions struct{ effort string }

func TestOptionsGoOnVerbatim(t *testing.T) {
	t.Parallel()
	effort := model.WrapImplSpecificOptFn(func(o *ctImplOptions) { o.effort += "high" })
	call := make([]model.Option, 0, 8)
	call = append(call, model.WithTools(ctTools()), effort, model.WithStop([]string{"END"}), model.WithMaxTokens(900))
	requests, _, _ := ctCallWith(t, fm.New(
		fm.Script{fm.OpenFail(ctStatus(503))}, fm.Script{fm.Reasoning("Hm"), fm.Reset()}, fm.Script{fm.Text("Hello "), fm.Reset()}, ctDone(),
	), ctInput(), call)
	require.Len(t, requests, 4)
	for i, r := range requests {
		assert.Equal(t, "high", model.GetImplSpecificOptions(&ctImplOptions{}, r.Raw...).effort, "request %d", i)
		assert.Equal(t, []string{"END"}, r.Options.Stop)
		require.Len(t, r.Options.Tools, 1)
		if i < 3 {
			assert.Len(t, r.Raw, len(call))
		}
	}
	for _, o := range call[len(call):cap(call)] {
		assert.Zero(t, model.GetCommonOptions(nil, o).MaxTokens, "what lies behind the caller's slice")
	}
}

func TestPrefill(t *testing.T) {
	t.Parallel()
	broken := func() *fm.Model {
		return fm.New(fm.Script{fm.Text("Hello \n"), fm.Reset()}, fm.Script{fm.Text(" world."), fm.Finish("stop")})
	}
	t.Run("ends with the partial answer", func(t *testing.T) {
		t.Parallel()
		requests, text, events := ctCallWith(t, broken(), ctInput(), nil, continuation.WithDialect(continuation.Prefill()))
		assert.Equal(t, "Hello \nworld.", text)
		require.Len(t, requests[1].Messages, 2)
		assert.Equal(t, schema.AssistantMessage("Hello", nil), requests[1].Messages[1])
		started := ctOnly[callbacks.Started](t, events)
		assert.Equal(t, "assistant", started.HistoryRewrite)
		assert.Equal(t, "none", started.Prompt)
	})
	t.Run("by the provider's type", func(t *testing.T) {
		t.Parallel()
		requests, _, _ := ctCallWith(t, broken().TypeName("Ollama"), ctInput(), nil)
		assert.Len(t, requests[1].Messages, 2)
		requests, _, _ = ctCallWith(t, broken().TypeName("Ollama"), ctInput(), nil, continuation.WithDialect(continuation.UserTurn()))
		assert.Len(t, requests[1].Messages, 3)
	})
	t.Run("marked", func(t *testing.T) {
		t.Parallel()
		mark := func(m *schema.Message) { m.Extra = map[string]any{"prefix": true} }
		call := []model.Option{model.WithTemperature(0.5)}
		requests, _, _ := ctCallWith(t, broken(), ctInput(), call, continuation.WithDialect(continuation.PrefillWith(mark, model.WithStop([]string{"END"}))))
		assert.Empty(t, requests[0].Options.Stop)
		assert.Equal(t, map[string]any{"prefix": true}, requests[1].Messages[1].Extra)
		assert.Equal(t, []string{"END"}, requests[1].Options.Stop)
		assert.NotNil(t, requests[1].Options.Temperature)
	})
}

func TestPrefillRefused(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"This model does not support assistant message prefill.", "The conversation MUST end with a user message."} {
		for place, second := range map[string]fm.Script{
			"Stream": {fm.OpenFail(&ctStatusError{HTTPStatusCode: 400, Message: message})},
			"Recv":   {fm.Role(), fm.Fail(&ctStatusError{HTTPStatusCode: 400, Message: message})},
		} {
			t.Run(place+": "+message, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					first := fm.Script{fm.Text("Hello "), fm.Reset()}
					rest := fm.Script{fm.Text("world."), fm.Finish("stop")}
					inner := fm.New(first, second, rest, first, rest)
					m, events := ctWrap(t, inner, continuation.WithMaxContinuations(1), continuation.WithDialect(continuation.Prefill()),
						continuation.WithBackoff(func(int) time.Duration { return time.Second }))
					r := ctStream(t.Context(), m)
					require.NoError(t, r.err)
					assert.Equal(t, "Hello world.", r.text())
					requests := inner.Requests()
					require.Len(t, requests, 3)
					assert.Equal(t, requests[1].At, requests[2].At, "at once")
					assert.Len(t, requests[1].Messages, 2)
					require.Len(t, requests[2].Messages, 3)
					assert.Equal(t, schema.User, requests[2].Messages[2].Role)
					assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticePrefillRefused}, ctNotices(events))
					ctOnly[callbacks.Interrupted](t, events)
					ctOnly[callbacks.Started](t, events)
					ctOnly[callbacks.Completed](t, events)
					assert.Equal(t, 1, r.message(t).Extra[continuation.ExtraContinuations])

					require.NoError(t, ctStream(t.Context(), m).err)
					requests = inner.Requests()
					require.Len(t, requests, 5, "remembered")
					assert.Len(t, requests[4].Messages, 3)
					ctLetGo(t, inner)
				})
			})
		}
	}
}

func TestInputThatEndsInAnAssistantMessage(t *testing.T) {
	t.Parallel()
	last := schema.AssistantMessage("Once upon", nil)
	last.Extra = map[string]any{"k": "v"}
	in := append(make([]*schema.Message, 0, 8), schema.UserMessage("A tale."), last)
	for name, d := range map[string]continuation.Dialect{"user turn": continuation.UserTurn(), "prefill": continuation.Prefill()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requests, text, _ := ctCallWith(t, fm.New(
				fm.Script{fm.Text(" a time "), fm.Reset()}, fm.Script{fm.Text("there was, "), fm.Reset()}, fm.Script{fm.Text("and is."), fm.Finish("stop")},
			), in, nil, continuation.WithDialect(d))
			assert.Equal(t, " a time there was, and is.", text)
			want := []int{2, 2, 2}
			if name == "user turn" {
				want = []int{2, 3, 3}
			}
			for i, partial := range []string{"Once upon", "Once upon a time", "Once upon a time there was,"} {
				require.Len(t, requests[i].Messages, want[i])
				assert.Equal(t, partial, requests[i].Messages[1].Content)
				assert.Equal(t, schema.Assistant, requests[i].Messages[1].Role)
				assert.Equal(t, "v", requests[i].Messages[1].Extra["k"])
			}
			assert.Nil(t, in[:3][2], "nor what lies behind the caller's slice")
		})
	}
	t.Run("that calls tools", func(t *testing.T) {
		t.Parallel()
		in := ctTurn(t, false)
		requests, _, _ := ctCallWith(t, fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, ctDone()), in, nil)
		assert.Len(t, requests[1].Messages, len(in)+2, "is not merged with")
	})
}

func TestPromptOfOnesOwn(t *testing.T) {
	t.Parallel()
	var got []continuation.Interruption
	failure := errors.New("what")
	requests, _, events := ctCallWith(t, fm.New(
		fm.Script{fm.Text("Hello, "), fm.Call(0, "c1", "add", `{"a`), fm.Fail(failure)}, fm.Script{fm.Text("dear "), fm.EOF()}, fm.Script{fm.Text("world."), fm.Finish("stop")},
	).TypeName("OpenAI"), ctInput(), nil, continuation.WithPromptInEvents(), continuation.WithPrompt(func(i continuation.Interruption) string {
		i.DroppedCalls = append([]string(nil), i.DroppedCalls...)
		got = append(got, i)

		return "Weiter, bitte."
	}))
	require.Len(t, got, 2)
	assert.Equal(t, []string{"add"}, got[0].DroppedCalls)
	assert.Equal(t, "Hello, ", got[0].Text)
	assert.Equal(t, failure, got[0].Err)
	assert.Equal(t, callbacks.CauseTruncated, got[1].Cause)
	assert.ErrorIs(t, got[1].Err, continuation.ErrTruncated)
	assert.Equal(t, 2, got[1].Continuation)
	assert.Empty(t, got[1].DroppedCalls)
	for _, r := range requests[1:] {
		assert.Equal(t, schema.UserMessage("Weiter, bitte."), r.Messages[len(r.Messages)-1])
	}
	for _, s := range ctOf[callbacks.Started](events) {
		assert.Equal(t, "custom", s.Prompt)
		assert.Equal(t, "Weiter, bitte.", s.PromptText)
	}
}
