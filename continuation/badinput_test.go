package continuation_test

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctWholeCalls checks that a message has exactly these calls, each "id name arguments", with unique rising indices.
func ctWholeCalls(t *testing.T, m *schema.Message, want ...string) {
	t.Helper()
	var got []string
	last := -1
	for _, c := range m.ToolCalls {
		got = append(got, strings.TrimSpace(c.ID+" "+c.Function.Name+" "+c.Function.Arguments))
		if assert.NotNil(t, c.Index) {
			assert.Greater(t, *c.Index, last, "indices rise")
			last = *c.Index
		}
	}
	assert.Equal(t, want, got)
}

func TestOddChunks(t *testing.T) {
	t.Parallel()
	chunk := func(role schema.RoleType, name, text string) fm.Step {
		return fm.Chunk(&schema.Message{Role: role, Name: name, Content: text})
	}
	for name, script := range map[string]fm.Script{
		"nil chunks":        {fm.Nil(), fm.Text("Hello "), fm.Nil(), fm.Nil(), fm.Text("world."), fm.Finish("stop"), fm.Nil()},
		"conflicting roles": {chunk("assistant", "", "Hello "), chunk("user", "", "world."), fm.Finish("stop")},
		"conflicting names": {chunk("assistant", "a", "Hello "), chunk("assistant", "b", "world."), fm.Finish("stop")},
		"no roles":          {chunk("", "", "Hello "), chunk("", "", "world."), fm.Finish("stop")},
		"chunks after EOF":  {fm.Text("Hello "), fm.Text("world."), fm.Finish("stop"), fm.EOF(), fm.ThenMore(fm.Text("late"), fm.Finish("length"))},
		"text at the end":   {fm.Text("Hello "), fm.Chunk(&schema.Message{Content: "world.", ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}})},
		"text behind":       {fm.Text("Hello "), fm.Finish("stop"), fm.Text("world.")},
		"two reasons":       {fm.Text("Hello "), fm.Finish("length"), fm.Text("world."), fm.Finish("stop")},
		"empty record":      {fm.Text("Hello "), fm.Usage(0, 0), fm.Text("world."), fm.FinishUsage("stop", 0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, events, _ := ctRun(t, fm.New(script))
			require.NoError(t, r.err)
			m := r.message(t)
			assert.Equal(t, "Hello world.", m.Content)
			assert.Equal(t, "stop", m.ResponseMeta.FinishReason)
			assert.Empty(t, events.names())
		})
	}
}

func TestErrorsAfterErrors(t *testing.T) {
	t.Parallel()
	first := fm.ResetError()
	r, events, _ := ctRun(t, fm.New(
		fm.Script{fm.Text("Hello "), fm.Fail(first), fm.ThenMore(fm.Fail(ctStatus(401)), fm.Text("late"), fm.Fail(errors.New("again")))},
		fm.Script{fm.Text("world."), fm.Finish("stop")},
	), ctNow())
	require.NoError(t, r.err)
	assert.Equal(t, "Hello world.", r.text())
	assert.Equal(t, first.Error(), ctOnly[callbacks.Interrupted](t, events).ErrorMessage)
}

func TestOddToolCalls(t *testing.T) {
	t.Parallel()
	type cells struct {
		script fm.Script
		want   []string
	}
	for name, c := range map[string]cells{
		"index repeats":     {fm.Script{fm.Call(0, "c1", "add", `{"a":1}`), fm.Call(0, "c2", "sub", `{"b":2}`)}, []string{`c1 add {"a":1}`, `c2 sub {"b":2}`}},
		"index goes back":   {fm.Script{fm.Call(1, "c1", "add", `{"a":1}`), fm.Call(0, "c2", "sub", `{"b":2}`)}, []string{`c1 add {"a":1}`, `c2 sub {"b":2}`}},
		"negative index":    {fm.Script{fm.Call(-1, "c1", "add", `{"a":`), fm.Call(-1, "", "", `1}`), fm.Call(-7, "c2", "sub", `{}`)}, []string{`c1 add {"a":1}`, `c2 sub {}`}},
		"huge index":        {fm.Script{fm.Call(1<<62, "c1", "add", `{}`), fm.Call(0, "c2", "sub", `{}`)}, []string{`c1 add {}`, `c2 sub {}`}},
		"no index":          {fm.Script{fm.CallNoIndex("c1", "add", `{"a":`), fm.CallNoIndex("", "", `1}`), fm.CallNoIndex("c2", "sub", `{}`)}, []string{`c1 add {"a":1}`, `c2 sub {}`}},
		"id changes":        {fm.Script{fm.Call(0, "c1", "add", `{"a":`), fm.Call(0, "c9", "", `1}`)}, []string{`c1 add {"a":1}`}},
		"id late":           {fm.Script{fm.Call(0, "", "add", `{"a":`), fm.Call(0, "c1", "", `1}`)}, []string{`c1 add {"a":1}`}},
		"name late":         {fm.Script{fm.Call(0, "c1", "", ``), fm.Call(0, "", "add", `{"a":`), fm.Call(0, "", "", `1}`)}, []string{`c1 add {"a":1}`}},
		"name at the end":   {fm.Script{fm.Call(0, "c1", "", `{"a":1}`), fm.Call(0, "", "add", ``)}, []string{`c1 add {"a":1}`}},
		"name repeats":      {fm.Script{fm.Call(0, "c1", "add", `{"a":`), fm.Call(0, "c1", "add", `1}`)}, []string{`c1 add {"a":1}`}},
		"interleaved":       {fm.Script{fm.Call(0, "c1", "add", `{"a":`), fm.Call(1, "c2", "sub", `{"b":`), fm.Call(0, "", "", `1}`), fm.Call(1, "", "", `2}`)}, []string{`c1 add {"a":1}`, `c2 sub {"b":2}`}},
		"no id":             {fm.Script{fm.Call(0, "", "add", `{}`), fm.Call(1, "", "add", `{}`)}, []string{`add {}`, `add {}`}},
		"same id twice":     {fm.Script{fm.Call(0, "c1", "add", `{}`), fm.Call(1, "c1", "add", `{}`)}, []string{`c1 add {}`, `c1 add {}`}},
		"two in one chunk":  {fm.Script{fm.Chunk(&schema.Message{ToolCalls: []schema.ToolCall{{ID: "c1", Function: schema.FunctionCall{Name: "add", Arguments: `{}`}}, {ID: "c2", Function: schema.FunctionCall{Name: "sub", Arguments: `{}`}}}})}, []string{`c1 add {}`, `c2 sub {}`}},
		"spaces around":     {fm.Script{fm.Call(0, "c1", "add", " {\"a\":"), fm.Call(0, "", "", "1}\n")}, []string{"c1 add  {\"a\":1}"}},
		"braces in strings": {fm.Script{fm.Call(0, "c1", "add", `{"a":"}\"`), fm.Call(0, "", "", `{"}`)}, []string{`c1 add {"a":"}\"{"}`}},
	} {
		for end, steps := range map[string]fm.Script{"finished": {fm.Finish("tool_calls")}, "broken": {fm.Reset()}} {
			t.Run(name+"/"+end, func(t *testing.T) {
				t.Parallel()
				r, _, _ := ctRun(t, fm.New(append(append(fm.Script{fm.Text("Let me.")}, c.script...), steps...)))
				require.NoError(t, r.err)
				m := r.message(t)
				ctWholeCalls(t, m, c.want...)
				assert.Equal(t, "tool_calls", m.ResponseMeta.FinishReason)
				assert.Len(t, r.requests, 1)
			})
		}
	}
}

func TestCallWithoutAName(t *testing.T) {
	t.Parallel()
	nameless := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "", `{"a":1}`)}
	t.Run("finished", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(append(nameless, fm.Finish("tool_calls"))))
		require.NoError(t, r.err)
		ctWholeCalls(t, r.message(t), `c1  {"a":1}`)
		assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticeToolCallPassed}, ctNotices(events))
	})
	t.Run("broken", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(append(nameless, fm.Reset()), fm.Script{fm.Text("Done."), fm.Finish("stop")}))
		require.NoError(t, r.err)
		assert.Equal(t, "Let me. Done.", r.text())
		assert.Empty(t, r.message(t).ToolCalls)
		assert.Equal(t, "c1", ctOnly[callbacks.ToolCallCancel](t, events).ID)
	})
}

// TestHugeArguments sends 100 MB of arguments for one call, which nobody can hold back.
func TestHugeArguments(t *testing.T) {
	// Not parallel: it counts what is allocated.
	const piece = 64 << 10
	script := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "paint", `{"a":"`)}
	for range 100 << 20 / piece {
		script = append(script, fm.Call(0, "", "", strings.Repeat("x", piece)))
	}
	script = append(script, fm.Call(0, "", "", `"}`), fm.Finish("tool_calls"))
	for name, c := range map[string]struct {
		opts  []continuation.Option
		limit int
	}{
		"default": {limit: 16 << 20},
		"set":     {[]continuation.Option{continuation.WithMaxBufferedBytes(1 << 20)}, 1 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r, events, _ := ctRun(t, fm.New(script), c.opts...)
			runtime.ReadMemStats(&after)

			exhausted := ctExhausted(t, r, events)
			assert.Equal(t, continuation.ReasonMaxBufferedBytes, exhausted.Reason)
			assert.Equal(t, "Let me. ", exhausted.Partial.Content)
			buffer := (*continuation.BufferError)(nil)
			require.ErrorAs(t, r.err, &buffer)
			assert.Equal(t, continuation.BufferError{Tool: "paint", ID: "c1", Limit: c.limit}, *buffer)
			assert.Contains(t, r.err.Error(), "paint")
			assert.LessOrEqual(t, r.requests[0].Sent, c.limit/piece+64, "it was read on")
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8*c.limit+16<<20), "bytes allocated")
		})
	}
}

// TestEverythingHeldIsBounded holds back what is no argument: text behind a call, and calls without arguments.
func TestEverythingHeldIsBounded(t *testing.T) {
	t.Parallel()
	kib := strings.Repeat("x", 1<<10)
	for name, of := range map[string]func(int) fm.Step{
		"text behind a call":      func(int) fm.Step { return fm.Text(kib) },
		"calls without arguments": func(i int) fm.Step { return fm.Call(i+1, "", kib, "") },
		"many open calls":         func(i int) fm.Step { return fm.Call(i+1, "", "paint", `{"`+kib) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := fm.Script{fm.Call(0, "c1", "paint", `{"a":"`)}
			for i := range 1 << 10 {
				script = append(script, of(i))
			}
			r, _, _ := ctRun(t, fm.New(append(script, fm.Finish("tool_calls"))), continuation.WithMaxBufferedBytes(64<<10))
			buffer := (*continuation.BufferError)(nil)
			require.ErrorAs(t, r.err, &buffer)
			assert.Less(t, r.requests[0].Sent, 256)
		})
	}
}

func TestInvalidUTF8(t *testing.T) {
	t.Parallel()
	text := "caf\xe9, na\xc3\xafve, \xf0\x9f\x98"
	for name, c := range map[string]fm.Script{
		"finished":      {fm.Text(text), fm.Finish("stop")},
		"every byte":    {},
		"ends with EOF": {fm.Text(text), fm.Finish("stop"), fm.EOF()},
		"reason beside": {fm.Chunk(&schema.Message{Content: text, ResponseMeta: &schema.ResponseMeta{FinishReason: "stop"}})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "every byte" {
				for i := range len(text) {
					c = append(c, fm.Text(text[i:i+1]))
				}
				c = append(c, fm.Finish("stop"))
			}
			r, _, _ := ctRun(t, fm.New(c))
			require.NoError(t, r.err)
			assert.Equal(t, text, r.text(), "no byte may change")
			if name == "reason beside" {
				assert.Len(t, r.chunks, 1, "nor a chunk be split")
			}
		})
	}
	t.Run("broken inside a rune", func(t *testing.T) {
		t.Parallel()
		r, _, _ := ctRun(t, fm.New(fm.Script{fm.Text("Look: \xf0\x9f"), fm.Reset()}, fm.Script{fm.Text("\U0001F600!"), fm.Finish("stop")}), ctNow())
		require.NoError(t, r.err)
		assert.Equal(t, "Look: \U0001F600!", r.text())
		assert.True(t, utf8.ValidString(r.text()))
		partial := r.requests[1].Messages[1]
		assert.Equal(t, "Look:", partial.Content)
	})
}

func TestPanicBelow(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	whole := fm.Script{fm.Text("world."), fm.Finish("stop")}
	for name, c := range map[string]struct {
		first fm.Script
		ok    bool
	}{
		"in Stream":           {first: fm.Script{fm.OpenPanic(boom)}},
		"in the first Recv":   {first: fm.Script{fm.Panic(boom)}},
		"in a Recv":           {first: fm.Script{fm.Text("Hello "), fm.Panic(boom)}, ok: true},
		"after the finish":    {first: fm.Script{fm.Text("Hello world."), fm.Finish("stop"), fm.Panic(boom)}, ok: true},
		"beside a whole call": {first: fm.Script{fm.Text("Hello world."), fm.Call(0, "c1", "add", "{}"), fm.Panic(boom)}, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, took := ctRun(t, fm.New(c.first, whole), ctNow())
			assert.Zero(t, took)
			if c.ok {
				require.NoError(t, r.err)
				assert.Equal(t, "Hello world.", r.text())

				return
			}
			panicked := (*continuation.PanicError)(nil)
			require.ErrorAs(t, r.err, &panicked)
			assert.Equal(t, boom, panicked.Value)
			assert.NotEmpty(t, panicked.Stack)
			assert.ErrorIs(t, r.err, boom)
			assert.Len(t, r.requests, 1)
		})
	}
}

func TestPanicInAnOption(t *testing.T) {
	t.Parallel()
	for name, opt := range map[string]continuation.Option{
		"prompt":     continuation.WithPrompt(func(continuation.Interruption) string { panic("boom") }),
		"back-off":   continuation.WithBackoff(func(int) time.Duration { panic("boom") }),
		"classifier": continuation.WithClassifier(func(error) continuation.Class { panic("boom") }),
		"mark":       continuation.WithDialect(continuation.PrefillWith(func(*schema.Message) { panic("boom") })),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _, _ := ctRun(t, fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}), opt)
			panicked := (*continuation.PanicError)(nil)
			require.ErrorAs(t, r.err, &panicked)
			assert.Equal(t, "boom", panicked.Value)
			assert.LessOrEqual(t, len(r.requests), 1)
		})
	}
}

func TestNilReader(t *testing.T) {
	t.Parallel()
	r, events, took := ctRun(t, fm.New(fm.Script{fm.NilReader()}))
	require.ErrorContains(t, r.err, "neither a reader nor an error")
	assert.Len(t, r.requests, 1)
	assert.Zero(t, took)
	assert.Empty(t, events.names())
}
