package continuation_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctTurn is a conversation whose last turn called two tools, and a third one that was cut off, if cut.
func ctTurn(t *testing.T, cut bool) []*schema.Message {
	t.Helper()
	script := fm.Script{fm.Text("Let me. "), fm.Call(0, "c1", "add", `{"a":1}`), fm.Call(1, "c2", "sub", `{"b":2}`)}
	if cut {
		script = append(script, fm.Call(2, "c3", "paint", `{"c":`))
	}
	r, _, _ := ctRun(t, fm.New(append(script, fm.Reset())))
	require.NoError(t, r.err)
	answer := r.message(t)
	require.Len(t, answer.ToolCalls, 2)

	return []*schema.Message{schema.UserMessage("Do it."), answer, schema.ToolMessage("one", "c1"), schema.ToolMessage("two", "c2")}
}

func ctDone() fm.Script { return fm.Script{fm.Text("Done."), fm.Finish("stop")} }

// ctAsked makes one call with in and returns the messages of its one request.
func ctAsked(t *testing.T, in []*schema.Message, opts ...continuation.Option) (out []*schema.Message) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		before := ctJSON(t, in)
		inner := fm.New(ctDone())
		m, events := ctWrap(t, inner, opts...)
		require.NoError(t, ctStreamOf(t.Context(), m, in).err)
		assert.Equal(t, before, ctJSON(t, in), "the caller's messages are not changed")
		assert.Empty(t, events.names())
		out = inner.Requests()[0].Messages
	})

	return out
}

func ctJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)

	return string(text)
}

func ctIsHint(t *testing.T, text string) {
	t.Helper()
	assert.Contains(t, text, "paint")
	assert.NotContains(t, text, "add")
	assert.Contains(t, text, "transport error")
}

func TestHintAsAUserMessage(t *testing.T) {
	t.Parallel()
	in := ctTurn(t, true)
	out := ctAsked(t, in)
	require.Len(t, out, len(in)+1)
	assert.Equal(t, ctJSON(t, in), ctJSON(t, out[:len(in)]), "behind all results")
	assert.Equal(t, schema.User, out[len(in)].Role)
	ctIsHint(t, out[len(in)].Content)
}

func TestHintInToolResult(t *testing.T) {
	t.Parallel()
	in := ctTurn(t, true)
	out := ctAsked(t, in, continuation.HintInToolResult())
	require.Len(t, out, len(in))
	assert.Equal(t, ctJSON(t, in[:len(in)-1]), ctJSON(t, out[:len(in)-1]), "the last result only")
	last := out[len(in)-1]
	rest, ok := strings.CutPrefix(last.Content, "two")
	assert.True(t, ok)
	assert.Equal(t, schema.Tool, last.Role)
	assert.Equal(t, "c2", last.ToolCallID)
	ctIsHint(t, rest)

	t.Run("of several parts", func(t *testing.T) {
		t.Parallel()
		in := ctTurn(t, true)
		in[3].Content, in[3].UserInputMultiContent = "", make([]schema.MessageInputPart, 1, 4)
		in[3].UserInputMultiContent[0] = schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: "two"}
		parts := ctAsked(t, in, continuation.HintInToolResult())[3].UserInputMultiContent
		require.Len(t, parts, 2)
		ctIsHint(t, parts[1].Text)
		assert.Empty(t, in[3].UserInputMultiContent[:2][1], "nor what lies behind the caller's slice")
	})
}

func TestNoHint(t *testing.T) {
	t.Parallel()
	cut, whole := ctTurn(t, true), ctTurn(t, false)
	with := func(more ...*schema.Message) []*schema.Message { return append(slices.Clip(cut), more...) }
	for name, c := range map[string]struct {
		in   []*schema.Message
		opts []continuation.Option
	}{
		"nothing dropped":        {in: whole},
		"switched off":           {in: cut, opts: []continuation.Option{continuation.WithoutHint()}},
		"after the next answer":  {in: with(schema.AssistantMessage("Done.", nil), schema.UserMessage("And now?"))},
		"after a user's message": {in: with(schema.UserMessage("And now?"))},
		"before the results":     {in: cut[:2]},
		"another turn's results": {in: with(
			schema.AssistantMessage("", []schema.ToolCall{{ID: "c9", Function: schema.FunctionCall{Name: "add", Arguments: "{}"}}}), schema.ToolMessage("nine", "c9"),
		)},
		"nil message":       {in: []*schema.Message{schema.UserMessage("a"), nil}},
		"nothing but tools": {in: cut[2:]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, ctJSON(t, c.in), ctJSON(t, ctAsked(t, c.in, c.opts...)))
		})
	}
}

func TestHintSurvivesStorage(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*testing.T, *schema.Message) *schema.Message{
		"JSON": func(t *testing.T, m *schema.Message) *schema.Message {
			t.Helper()
			var out schema.Message
			require.NoError(t, json.Unmarshal([]byte(ctJSON(t, m)), &out))

			return &out
		},
		"gob": func(t *testing.T, m *schema.Message) *schema.Message {
			t.Helper()
			var (
				b   bytes.Buffer
				out schema.Message
			)
			require.NoError(t, gob.NewEncoder(&b).Encode(m))
			require.NoError(t, gob.NewDecoder(&b).Decode(&out))

			return &out
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := ctTurn(t, true)
			in[1] = store(t, in[1])
			out := ctAsked(t, in)
			require.Len(t, out, len(in)+1)
			ctIsHint(t, out[len(in)].Content)
		})
	}
}

func TestHintRefused(t *testing.T) {
	t.Parallel()
	refusal := errors.New("unknown")
	refusal = errors.Join(refusal, ctStatus(400))
	for name, opts := range map[string][]continuation.Option{
		"user message": nil, "tool result": {continuation.HintInToolResult()},
	} {
		for place, first := range map[string]fm.Script{"by Stream": {fm.OpenFail(refusal)}, "by Recv": {fm.Role(), fm.Fail(refusal)}} {
			t.Run(name+" "+place, func(t *testing.T) {
				t.Parallel()
				in := ctTurn(t, true)
				synctest.Test(t, func(t *testing.T) {
					inner := fm.New(first, ctDone(), ctDone(), ctDone())
					m, events := ctWrap(t, inner, append(opts, continuation.WithOpenRetries(0))...)
					began := time.Now()
					r := ctStreamOf(t.Context(), m, in)
					require.NoError(t, r.err)
					assert.Equal(t, "Done.", r.text())
					assert.Zero(t, time.Since(began), "at once")
					assert.Equal(t, []callbacks.NoticeKind{callbacks.NoticeHintRefused}, ctNotices(events))
					assert.Len(t, events.names(), 1, "no interruption, no retry")

					require.NoError(t, ctStreamOf(t.Context(), m, in).err)
					bound, err := m.WithTools(ctTools())
					require.NoError(t, err)
					require.NoError(t, ctStreamOf(t.Context(), bound, in).err)
					requests := inner.Requests()
					require.Len(t, requests, 4)
					assert.NotEqual(t, ctJSON(t, in), ctJSON(t, requests[0].Messages))
					for _, r := range requests[1:] {
						assert.Equal(t, ctJSON(t, in), ctJSON(t, r.Messages), "remembered")
					}
					ctLetGo(t, inner)
				})
			})
		}
	}
	t.Run("not because of the hint", func(t *testing.T) {
		t.Parallel()
		in := ctTurn(t, true)
		synctest.Test(t, func(t *testing.T) {
			inner := fm.New(fm.Script{fm.OpenFail(refusal)}, fm.Script{fm.OpenFail(refusal)})
			m, _ := ctWrap(t, inner)
			require.ErrorIs(t, ctStreamOf(t.Context(), m, in).err, refusal)
			assert.Len(t, inner.Requests(), 2)
			ctLetGo(t, inner)
		})
	})
	t.Run("without a hint", func(t *testing.T) {
		t.Parallel()
		r, events, _ := ctRun(t, fm.New(fm.Script{fm.OpenFail(refusal)}))
		require.ErrorIs(t, r.err, refusal)
		assert.Len(t, r.requests, 1)
		assert.Empty(t, events.names())
	})
}

// TestHintStaysInContinuations: what the first request said, its continuations say as well.
func TestHintStaysInContinuations(t *testing.T) {
	t.Parallel()
	in := ctTurn(t, true)
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Reasoning("Hm"), fm.Reset()}, fm.Script{fm.Text("Done, "), fm.Reset()}, fm.Script{fm.Text("all."), fm.Finish("stop")})
		m, _ := ctWrap(t, inner)
		r := ctStreamOf(t.Context(), m, in)
		require.NoError(t, r.err)
		assert.Equal(t, "Done, all.", r.text())
		requests := inner.Requests()
		require.Len(t, requests, 3)
		assert.Len(t, requests[0].Messages, len(in)+1)
		assert.Equal(t, requests[0].Messages, requests[1].Messages)
		assert.Equal(t, requests[0].Messages, requests[2].Messages[:len(in)+1])
		assert.Len(t, requests[2].Messages, len(in)+3)
	})
}
