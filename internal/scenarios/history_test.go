package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// sendable checks what every provider asks of an input.
func sendable(t *testing.T, in []*schema.Message, caller int) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range in {
		if m.Role != schema.Tool {
			require.Empty(t, open, "a call without a result in front of message %d", i)
		}
		switch m.Role {
		case schema.Assistant:
			require.True(t, strings.TrimSpace(m.Content) != "" || len(m.ToolCalls) > 0, "message %d says nothing", i)
			for _, c := range m.ToolCalls {
				require.True(t, json.Valid([]byte(c.Function.Arguments)), "arguments of message %d: %s", i, c.Function.Arguments)
				open[c.ID] = true
			}
			require.True(t, i < caller || m.Content == strings.TrimSpace(m.Content), "message %d ends with white space", i)
		case schema.Tool:
			require.True(t, open[m.ToolCallID], "a result without a call at %d", i)
			delete(open, m.ToolCallID)
		case schema.System:
			require.Less(t, i, caller, "a standing instruction was added")
		default:
		}
	}
	require.Empty(t, open, "a call without a result")
}

// inputs are conversations of all endings.
func inputs() map[string][]*schema.Message {
	called := schema.AssistantMessage("", []schema.ToolCall{{ID: "c0", Function: schema.FunctionCall{Name: "look", Arguments: "{}"}}})

	return map[string][]*schema.Message{
		"a question":       hi(),
		"an instruction":   {schema.SystemMessage("Be short."), schema.UserMessage("Say it.")},
		"a tool's result":  {schema.UserMessage("Say it."), called, schema.ToolMessage("seen", "c0")},
		"half an answer":   {schema.UserMessage("Say it."), schema.AssistantMessage("It is", nil)},
		"a second message": {schema.UserMessage("Say it."), schema.UserMessage("Now.")},
	}
}

// broken are first attempts that break with all that there can be half of.
func broken() map[string]fm.Script {
	return map[string]fm.Script{
		"text":          {fm.Text("The sea ")},
		"text and call": {fm.Text("The sea \n\n"), fm.Call(0, "c1", "look", `{"a`)},
		"call":          {fm.Call(0, "c1", "look", `{"a`)},
		"calls":         {fm.Call(0, "c1", "look", `{"a`), fm.Call(1, "c2", "look", `[1`)},
		"white space":   {fm.Text(" \n")},
		"thought":       {fm.Reasoning("Hm")},
		"thought, text": {fm.Reasoning("Hm"), fm.Text("The sea")},
	}
}

// TestHistoryOfAContinuation: whatever the input ends with and whatever broke, the next request is one that providers take,
// and nothing in it is invented.
func TestHistoryOfAContinuation(t *testing.T) {
	t.Parallel()
	rest := fm.Script{fm.Text(" is calm."), fm.Finish("stop")}
	for _, input := range slices.Sorted(maps.Keys(inputs())) {
		for _, first := range slices.Sorted(maps.Keys(broken())) {
			ask := func(t *testing.T, opts ...continuation.Option) got {
				t.Helper()
				in := inputs()[input]
				g := playWith(t, fm.New(append(broken()[first], fm.Reset()), rest).TypeName("OpenAI"), in, nil, append(opts, now())...)
				require.NoError(t, g.err)
				require.Len(t, g.requests, 2)
				sendable(t, g.requests[1].Messages, len(in))

				return g
			}
			last := func(g got) *schema.Message { return g.requests[1].Messages[len(g.requests[1].Messages)-1] }
			restarts := !slices.Contains([]string{"text", "text and call", "thought, text"}, first)
			name := "/" + input + ", " + first
			// https://github.com/anomalyco/opencode/issues/13768
			t.Run("B085 it must end with a user message"+name, func(t *testing.T) {
				t.Parallel()
				g := ask(t)
				if !restarts {
					assert.Equal(t, schema.User, last(g).Role)
				}
			})
			// https://github.com/tailcallhq/forgecode/issues/1872
			t.Run("B087 the partial answer ends with white space"+name, func(t *testing.T) {
				t.Parallel()
				g := ask(t, continuation.WithDialect(continuation.Prefill()))
				if !restarts {
					assert.Equal(t, schema.Assistant, last(g).Role)
					assert.Equal(t, strings.TrimSpace(last(g).Content), last(g).Content)
				}
			})
			// https://github.com/block/buzz/pull/559
			t.Run("B089 an assistant message that says nothing"+name, func(t *testing.T) {
				t.Parallel()
				if g := ask(t); restarts {
					assert.Equal(t, inputs()[input], g.requests[1].Messages, "the request is not changed")
				}
			})
			// https://github.com/letta-ai/letta/issues/3308
			t.Run("B090 a call without a result"+name, func(t *testing.T) {
				t.Parallel()
				for _, m := range ask(t).requests[1].Messages[len(inputs()[input])-1:] {
					assert.True(t, len(m.ToolCalls) == 0 || m.ToolCalls[0].ID == "c0")
				}
			})
			// https://github.com/openclaw/openclaw/issues/14322
			t.Run("B091 a made-up result of a broken call"+name, func(t *testing.T) {
				t.Parallel()
				for _, m := range ask(t).requests[1].Messages {
					assert.True(t, m.Role != schema.Tool || m.ToolCallID == "c0")
				}
			})
		}
	}
}

// TestDialectIsNotGuessed: what a provider takes is known by the type of its client, or said, not guessed from a name.
func TestDialectIsNotGuessed(t *testing.T) {
	t.Parallel()
	// https://github.com/router-for-me/CLIProxyAPI/issues/5319
	for _, name := range []string{"claude-opus-4", "gpt-5", "deepseek-r1", "my-own-model", ""} {
		t.Run("B086 a list of model names/"+name, func(t *testing.T) {
			t.Parallel()
			for client, prefill := range map[string]bool{"OpenAI": false, "Claude": false, "Ollama": true, "SomethingElse": false} {
				g := playWith(t, fm.Continuer(prose(), fm.BreakAt(2, fm.Reset())).TypeName(client), hi(), []model.Option{model.WithModel(name)}, now())
				require.NoError(t, g.err)
				assert.Equal(t, prose().Text(), g.text())
				assert.Equal(t, prefill, len(g.requests[1].Messages) == 2, client)
			}
		})
	}
}

// TestPromptIsNoInstruction: it is the user's, in the user's words, for one request.
func TestPromptIsNoInstruction(t *testing.T) {
	t.Parallel()
	// https://github.com/PKU-YuanGroup/OpenAI4S/pull/175
	t.Run("B093 it stays as a system message", func(t *testing.T) {
		t.Parallel()
		in := inputs()["an instruction"]
		inner := fm.Continuer(prose(), fm.BreakAt(1, fm.Reset()), fm.BreakAt(1, fm.Reset()), fm.BreakAt(1, fm.Reset()))
		g := playWith(t, inner, in, nil, now())
		require.NoError(t, g.err)
		for _, r := range g.requests[1:] {
			require.Len(t, r.Messages, 4, "one pair, not one more each time")
			assert.Equal(t, []schema.RoleType{schema.Assistant, schema.User}, []schema.RoleType{r.Messages[2].Role, r.Messages[3].Role})
		}
		assert.Equal(t, inputs()["an instruction"], in, "the caller's history is the caller's")
		m := g.message(t)
		assert.Equal(t, prose().Text(), m.Content)
		assert.NotContains(t, fmt.Sprint(asks(t, "OpenAI", m)), "connection broke", "nor does a later turn hear of it")
	})
	// https://github.com/BerriAI/litellm/issues/18229
	t.Run("B094 it is English and cannot be switched off", func(t *testing.T) {
		t.Parallel()
		broken := func() *fm.Model { return fm.Continuer(prose(), fm.BreakAt(2, fm.Reset())) }
		g := play(t, broken(), now(), continuation.WithPrompt(func(continuation.Interruption) string { return "Bitte weiter." }))
		require.NoError(t, g.err)
		assert.Equal(t, "user: Bitte weiter.", g.sent(1)[2])
		g = play(t, broken(), now(), continuation.WithDialect(continuation.Prefill()), continuation.WithoutHint())
		require.NoError(t, g.err)
		assert.Len(t, g.requests[1].Messages, 2, "nothing is said but the answer itself")
	})
	// https://github.com/QwenLM/qwen-code/pull/7896
	t.Run("B097 the request grows and its limit does not shrink", func(t *testing.T) {
		t.Parallel()
		answer := fm.Script{}
		for range 6 {
			answer = append(answer, fm.Text(strings.Repeat("A sentence of some length. ", 20)))
		}
		inner := fm.Continuer(append(answer, fm.Finish("stop")), fm.BreakAt(2, fm.Reset()), fm.BreakAt(2, fm.Reset()), fm.BreakAt(2, fm.Reset()))
		g := playWith(t, inner, hi(), []model.Option{model.WithMaxTokens(2000)}, now())
		require.NoError(t, g.err)
		require.Len(t, g.requests, 4)
		for i, r := range g.requests[1:] {
			before := g.requests[i]
			assert.Len(t, r.Messages, 3)
			assert.Less(t, *r.Options.MaxTokens, *before.Options.MaxTokens)
			assert.LessOrEqual(t, r.PromptTokens-len(r.Messages[1].Content), g.requests[1].PromptTokens-len(g.requests[1].Messages[1].Content))
		}
	})
}

// TestNothingToContinue: a model that nothing came of is not told to go on.
func TestNothingToContinue(t *testing.T) {
	t.Parallel()
	for how, end := range map[string]fm.Step{"reset": fm.Reset(), "EOF": fm.EOF(), "overloaded": fm.Fail(&status{Type: "overloaded_error"})} {
		for name, first := range map[string]fm.Script{
			"no chunk": {}, "role": {fm.Role()}, "usage": {fm.Usage(9, 0)}, "thought": {fm.Reasoning("Hm")}, "white space": {fm.Text(" ")},
		} {
			// https://github.com/NousResearch/hermes-agent/pull/112421
			t.Run("B095 the model guesses what it was to continue/"+name+", "+how, func(t *testing.T) {
				t.Parallel()
				for input, in := range inputs() {
					g := playWith(t, fm.New(append(first, end), fm.Script{fm.Text("Hello."), fm.Finish("stop")}), in, nil, now())
					require.NoError(t, g.err)
					assert.Equal(t, in, g.requests[1].Messages, input)
					assert.Equal(t, "Hello.", strings.TrimSpace(g.text()))
				}
			})
		}
	}
}

// TestStructuredOutput: two documents are never made one.
func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	doc := `{"a":1,"list":[{"b":"two"},{"b":"three"}],"end":true}`
	for cut := 1; cut < len(doc); cut++ {
		// https://github.com/ai-dynamo/dynamo/pull/7930
		t.Run(fmt.Sprintf("B098 nested or doubled JSON/%d", cut), func(t *testing.T) {
			t.Parallel()
			inner := func(second string) *fm.Model {
				return fm.Respond(func(n int, _ []*schema.Message) fm.Script {
					if n == 0 {
						return fm.Script{fm.Text(doc[:cut]), fm.Reset()}
					}

					return fm.Script{fm.Text(second), fm.Finish("stop")}
				})
			}
			for name, second := range map[string]string{"the same": doc, "another": `{"z":[9],"y":"other"}`, "fenced": "```json\n" + doc + "\n```"} {
				g := play(t, inner(second), now())
				if g.err == nil {
					require.True(t, json.Valid([]byte(g.text())), "%s: %s", name, g.text())
				} else {
					require.ErrorIs(t, g.err, continuation.ErrExhausted)
					require.Equal(t, doc[:cut], g.text(), name)
				}

				g = play(t, inner(second), now(), continuation.WithWholeOutput())
				require.NoError(t, g.err)
				require.Equal(t, second, g.text(), "whole output: %s", name)
				require.Equal(t, hi(), g.requests[1].Messages)
				require.Len(t, g.requests, 2)
			}
			g := play(t, inner(doc[cut:]), now())
			require.NoError(t, g.err)
			require.Equal(t, doc, g.text(), "the rest of the document")
			require.Empty(t, of[callbacks.Failed](g.heard))
			require.False(t, errors.Is(g.err, continuation.ErrExhausted))
		})
	}
}
