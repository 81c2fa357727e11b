package continuation_test

import (
	"fmt"
	"math"
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

func ctTools() []*schema.ToolInfo { return []*schema.ToolInfo{{Name: "add", Desc: "adds"}} }

// ctChunkWithExtra is an empty chunk whose Extra tells whose it is.
func ctChunkWithExtra(key string) fm.Step {
	return fm.Chunk(&schema.Message{Role: schema.Assistant, Extra: map[string]any{key: "x"}})
}

func TestFirstContentLimit(t *testing.T) {
	t.Parallel()
	const minute = time.Minute
	for name, first := range map[string]fm.Script{
		"Stream blocks":     {fm.OpenStall()},
		"no chunk":          {fm.Stall()},
		"role only":         {fm.Role(), fm.Stall()},
		"Stream and silent": {fm.OpenIdle(3 * minute), fm.Stall()},
		"nothing but noise": {
			fm.Role(), fm.Idle(minute), fm.Text(""), fm.Idle(minute), fm.Usage(3, 0), fm.Idle(minute), fm.Nil(), fm.Idle(minute),
			ctChunkWithExtra("request-id"), fm.Idle(minute - 1), fm.Text(""), fm.Stall(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, took := ctRun(t, fm.New(first, fm.Script{fm.Text("Hello."), fm.Finish("stop")}), ctNow())
			require.NoError(t, r.err)
			assert.Equal(t, "Hello.", r.text())
			assert.Equal(t, 5*minute, took)
			assert.Equal(t, callbacks.CauseIdleStall, ctOnly[callbacks.OpenRetried](t, events).Cause)
		})
	}
}

func TestFirstContentLimitCoversStreamItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.OpenStall()}, fm.Script{fm.Text("Hello."), fm.Finish("stop")})
		m, _ := ctWrap(t, inner)
		began := time.Now()
		reader, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		assert.Equal(t, 5*time.Minute, time.Since(began), "Stream returns a reader when the open has to be made again")
		assert.Len(t, inner.Requests(), 1, "the wait belongs to Recv")
		chunks, err := fm.Collect(reader)
		require.NoError(t, err)
		assert.Equal(t, "Hello.", fm.Concat(t, chunks).Content)
		ctLetGo(t, inner)
	})
}

// ctIdleOf returns how long a call waits between two pieces of content.
func ctIdleOf(t *testing.T, inner *fm.Model, call []model.Option, bind bool, opts ...continuation.Option) (took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, inner, append(opts, ctNow())...)
		var of model.BaseChatModel = m
		if bind {
			bound, err := m.WithTools(ctTools())
			require.NoError(t, err)
			of = bound
		}
		began := time.Now()
		r := ctStream(t.Context(), of, call...)
		took = time.Since(began)
		require.NoError(t, r.err)
		require.Equal(t, "Hello world.", r.text())
		require.ErrorContains(t, fmt.Errorf("%s", ctOnly[callbacks.Interrupted](t, events).ErrorMessage), took.String())
		ctLetGo(t, inner)
	})

	return took
}

func TestIdleLimitByType(t *testing.T) {
	t.Parallel()
	const short, long = 2 * time.Minute, 5 * time.Minute
	tools := []model.Option{model.WithTools(ctTools())}
	for name, c := range map[string]struct {
		typ   string
		extra string
		call  []model.Option
		bind  bool
		opts  []continuation.Option
		want  time.Duration
	}{
		"OpenAI":                {typ: "OpenAI", want: short},
		"OpenAI with tools":     {typ: "OpenAI", call: tools, want: short},
		"DeepSeek":              {typ: "DeepSeek", want: short},
		"Claude":                {typ: "Claude", want: long},
		"Gemini":                {typ: "Gemini", want: long},
		"Ollama":                {typ: "Ollama", want: long},
		"unknown":               {typ: "Homemade", want: short},
		"unknown with tools":    {typ: "Homemade", call: tools, want: long},
		"unknown, bound tools":  {typ: "Homemade", bind: true, want: long},
		"by identity":           {typ: "Homemade", opts: []continuation.Option{continuation.WithIdentity("Claude", "")}, want: long},
		"identity over type":    {typ: "Claude", opts: []continuation.Option{continuation.WithIdentity("OpenAI", "")}, want: short},
		"by Extra":              {typ: "", extra: "_eino_claude_thinking_signature", want: long},
		"by Extra, with tools":  {typ: "", extra: "openai-request-id", call: tools, want: short},
		"set":                   {typ: "OpenAI", opts: []continuation.Option{continuation.WithIdleTimeout(7 * time.Second)}, want: 7 * time.Second},
		"set, of another type":  {typ: "Claude", opts: []continuation.Option{continuation.WithIdleTimeout(time.Hour)}, want: time.Hour},
		"set, with first limit": {typ: "Claude", opts: []continuation.Option{continuation.WithFirstContentTimeout(time.Second)}, want: long},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := fm.Script{fm.Text("Hello "), fm.Stall()}
			if c.extra != "" {
				first = append(fm.Script{ctChunkWithExtra(c.extra)}, first...)
			}
			inner := fm.New(first, fm.Script{fm.Text("world."), fm.Finish("stop")}).TypeName(c.typ)
			assert.Equal(t, c.want, ctIdleOf(t, inner, c.call, c.bind, c.opts...))
		})
	}
}

func TestOnlyContentRearms(t *testing.T) {
	t.Parallel()
	const almost = 2*time.Minute - 1
	t.Run("noise", func(t *testing.T) {
		t.Parallel()
		noise := fm.Script{fm.Text("Hello ")}
		for range 3 {
			noise = append(noise, fm.Idle(30*time.Second), fm.Text(""), fm.Role(), fm.Usage(1, 1), fm.Nil(), ctChunkWithExtra("x-id"))
		}
		noise = append(noise, fm.Idle(30*time.Second-1), fm.Text(""), fm.Stall())
		inner := fm.New(noise, fm.Script{fm.Text("world."), fm.Finish("stop")})
		assert.Equal(t, 2*time.Minute, ctIdleOf(t, inner, nil, false))
	})
	t.Run("content", func(t *testing.T) {
		t.Parallel()
		first := fm.Script{
			fm.Idle(5*time.Minute - 1), fm.Reasoning("Hm"), fm.Idle(almost), fm.Text("a"), fm.Idle(almost), fm.Call(0, "c1", "add", ""), fm.Idle(almost),
			fm.Call(0, "", "", `{"a":`), fm.Idle(almost), fm.Call(0, "", "", `1}`), fm.Idle(almost), fm.Finish("tool_calls"),
		}
		r, events, _ := ctRun(t, fm.New(first))
		require.NoError(t, r.err)
		assert.Equal(t, first.Message(t).Content, r.text())
		assert.Empty(t, events.names())
	})
}

// TestSlowConsumer reads a chunk an hour; only the provider's silence may count.
func TestSlowConsumer(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]time.Duration{"ready chunks": 0, "slow chunks": 119 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				script := fm.Script{fm.Role()}
				for range 30 {
					script = append(script, fm.Text("word "), fm.Idle(pause), fm.Text(""))
				}
				inner := fm.New(append(script, fm.Finish("stop")))
				m, events := ctWrap(t, inner)
				reader, err := m.Stream(t.Context(), ctInput())
				require.NoError(t, err)
				defer reader.Close()
				n := 0
				for err == nil {
					<-time.After(time.Hour)
					var msg *schema.Message
					if msg, err = reader.Recv(); err == nil && msg.Content != "" {
						n++
					}
				}
				assert.Equal(t, 30, n)
				assert.Empty(t, events.names())
				ctLetGo(t, inner)
			})
		})
	}
}

func TestLimitDoubledAfterAStall(t *testing.T) {
	t.Parallel()
	limits := []continuation.Option{ctNow(), continuation.WithIdleTimeout(10 * time.Second), continuation.WithFirstContentTimeout(30 * time.Second)}
	t.Run("between contents", func(t *testing.T) {
		t.Parallel()
		r, events, took := ctRun(t, fm.New(
			fm.Script{fm.Text("One, "), fm.Stall()},                                   // 10 s
			fm.Script{fm.Idle(59 * time.Second), fm.Text("two, and "), fm.Stall()},    // 59 + 20 s
			fm.Script{fm.Text("three, and "), fm.Idle(9 * time.Second), fm.Reset()},   // 9 s
			fm.Script{fm.Text("four, and "), fm.Stall()},                              // 10 s: that was no stall
			fm.Script{fm.Text("five."), fm.Idle(19 * time.Second), fm.Finish("stop")}, // 19 s
		), limits...)
		require.NoError(t, r.err)
		assert.Equal(t, "One, two, and three, and four, and five.", r.text())
		assert.Equal(t, (10+59+20+9+10+19)*time.Second, took)
		assert.Len(t, ctOf[callbacks.Interrupted](events), 4)
	})
	t.Run("before the first", func(t *testing.T) {
		t.Parallel()
		r, _, took := ctRun(t, fm.New(fm.Script{fm.Stall()}, fm.Script{fm.Idle(59 * time.Second), fm.Text("a"), fm.Finish("stop")}), limits...)
		require.NoError(t, r.err)
		assert.Equal(t, 89*time.Second, took)
	})
	t.Run("never an overflow", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(
			fm.Script{fm.Text("Hello "), fm.Stall()}, fm.Script{fm.Idle(time.Hour), fm.Text("world."), fm.Finish("stop")},
		), ctNow(), continuation.WithIdleTimeout(time.Second), continuation.WithFirstContentTimeout(math.MaxInt64))
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		assert.Len(t, ctOf[callbacks.Interrupted](events), 1)
	})
}

func TestStallAsError(t *testing.T) {
	t.Parallel()
	r, _, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Stall()}, fm.Script{fm.Stall()}), ctNow(), continuation.WithMaxContinuations(1))
	require.ErrorIs(t, r.err, continuation.ErrIdleStall)
	exhausted := (*continuation.ExhaustedError)(nil)
	require.ErrorAs(t, r.err, &exhausted)
	assert.ErrorIs(t, exhausted.First, continuation.ErrIdleStall)
	assert.ErrorIs(t, exhausted.Last, continuation.ErrIdleStall)
	assert.Equal(t, "Hello ", exhausted.Partial.Content)
}
