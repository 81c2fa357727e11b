package scenarios_test

import (
	"fmt"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// thinker is a client that repeats its reasoning in Extra, and signs it there if it has a key for that.
type thinker struct{ client, reasoning, signature string }

func thinkers() []thinker {
	return []thinker{
		{"Claude", "_eino_claude_thinking", "_eino_claude_thinking_signature"},
		{"DeepSeek", "_eino_deepseek_reasoning_content", ""},
		{"OpenAI", "reasoning-content", ""},
		{"Ark", "ark-reasoning-content", ""},
	}
}

func (k thinker) thought(s string) fm.Step {
	return fm.Chunk(&schema.Message{Role: schema.Assistant, ReasoningContent: s, Extra: map[string]any{k.reasoning: s}})
}

func (k thinker) sign(s string) fm.Step {
	if k.signature == "" {
		return fm.Text("")
	}

	return fm.Chunk(&schema.Message{Role: schema.Assistant, Extra: map[string]any{k.signature: s}})
}

// asks returns the requests that the next turn makes of a history with m in it.
func asks(t *testing.T, client string, m *schema.Message) []*schema.Message {
	t.Helper()
	g := playWith(t, fm.New(fm.Script{fm.Text("Yes."), fm.Finish("stop")}).TypeName(client), []*schema.Message{
		schema.UserMessage("Say it."), m, schema.UserMessage("Are you sure?"),
	}, nil)
	require.NoError(t, g.err)

	return g.requests[0].Messages
}

// TestHalfAThought: what was not whole goes into no request, neither of this turn nor of a later one, nor does half a
// signature.
func TestHalfAThought(t *testing.T) {
	t.Parallel()
	for _, k := range thinkers() {
		last := fm.Script{k.thought("Whole."), k.sign("c2ln"), fm.Text("Hello."), fm.Finish("stop")}
		for label, first := range map[string]fm.Script{
			// https://github.com/pydantic/pydantic-ai/pull/7601
			"B073 it has no signature": {k.thought("Ha"), k.thought("lf")},
			// https://github.com/openclaw/openclaw/pull/109972
			"B074 its signature is cut": {k.thought("Half"), k.sign("ab")},
		} {
			t.Run(label+"/"+k.client, func(t *testing.T) {
				t.Parallel()
				for how, end := range map[string]fm.Step{"reset": fm.Reset(), "EOF": fm.EOF(), "error": fm.Finish("error")} {
					g := play(t, fm.New(append(append(fm.Script{}, first...), end), last).TypeName(k.client), now())
					require.NoError(t, g.err, how)
					assert.Equal(t, hi(), g.requests[1].Messages, how)
					for _, m := range []*schema.Message{g.message(t), asks(t, k.client, fm.Concat(t, g.chunks))[1]} {
						assert.Equal(t, "Whole.", m.ReasoningContent, how)
						assert.Equal(t, "Whole.", m.Extra[k.reasoning], how)
						assert.Equal(t, "Hello.", m.Content, how)
						if k.signature != "" {
							assert.Equal(t, "c2ln", m.Extra[k.signature], how)
						}
					}
				}
			})
		}
	}
}

// TestThoughtIsRefused: a request that a provider refuses for its thoughts is sent once more without any, and never again
// as it was.
func TestThoughtIsRefused(t *testing.T) {
	t.Parallel()
	k := thinkers()[0]
	first := fm.Script{k.thought("Whole."), k.sign("c2ln"), fm.Text("Hello "), fm.Reset()}
	for label, err := range map[string]*status{
		// https://github.com/0xMaxMa/claude-gateway/issues/114
		"B075 cannot be modified": {HTTPStatusCode: 400, Type: "invalid_request_error", Message: "thinking blocks in the latest assistant message cannot be modified"},
		// https://github.com/openclaw/openclaw/issues/95627
		"B077 invalid signature": {HTTPStatusCode: 400, Type: "invalid_request_error", Message: "Invalid `signature` in `thinking` block"},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			rest := fm.Script{fm.Text("world."), fm.Finish("end_turn")}
			g := play(t, fm.New(first, fm.Script{fm.OpenFail(err)}, rest).TypeName(k.client), now())
			require.NoError(t, g.err)
			assert.Equal(t, "Hello world.", g.message(t).Content)
			require.Len(t, g.requests, 3)
			assert.Equal(t, "Whole.", g.requests[1].Messages[1].ReasoningContent)
			assert.Equal(t, &schema.Message{Role: schema.Assistant, Content: "Hello"}, g.requests[2].Messages[1])

			g = play(t, fm.New(first, fm.Script{fm.OpenFail(err)}, fm.Script{fm.OpenFail(err)}).TypeName(k.client), now())
			var exhausted *continuation.ExhaustedError
			require.ErrorAs(t, g.err, &exhausted)
			assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
			assert.Equal(t, "Hello ", exhausted.Partial.Content)
			require.ErrorIs(t, g.err, err)
			assert.Len(t, g.requests, 3)

			g = play(t, fm.New(fm.Script{fm.OpenFail(err)}).TypeName(k.client), now())
			assert.Equal(t, error(err), g.err, "the caller's own request")
			assert.Len(t, g.requests, 1)
		})
	}
}

// TestThoughtBesideACall: providers that want a thought back with the calls it led to get it.
func TestThoughtBesideACall(t *testing.T) {
	t.Parallel()
	for _, k := range thinkers() {
		for label, script := range map[string]fm.Script{
			// https://github.com/HKUDS/nanobot/pull/3453
			"B078 the call goes back without it": {k.thought("I "), k.thought("look."), k.sign("c2ln"), fm.Call(0, "c", "look", "{}"), fm.Reset()},
			// https://github.com/warpdotdev/warp/issues/12346
			"B079 it is missing now and then": {k.thought("I look."), k.sign("c2ln"), fm.Text("Let me look."), fm.Call(0, "c", "look", "{}"), fm.Call(1, "d", "see", `{"`), fm.EOF()},
		} {
			t.Run(label+"/"+k.client, func(t *testing.T) {
				t.Parallel()
				g := play(t, fm.New(script).TypeName(k.client), now())
				require.NoError(t, g.err)
				for _, m := range []*schema.Message{g.message(t), asks(t, k.client, g.message(t))[1]} {
					assert.Equal(t, []string{"c look {}"}, callsOf(m))
					assert.Equal(t, "I look.", m.ReasoningContent)
					assert.Equal(t, "I look.", m.Extra[k.reasoning])
				}
				assert.Len(t, g.requests, 1)

				text := fm.Script{k.thought("I look."), k.sign("c2ln"), fm.Text("Here "), fm.Reset()}
				g = play(t, fm.New(text, fm.Script{fm.Text("it is."), fm.Finish("stop")}).TypeName(k.client), now())
				require.NoError(t, g.err)
				assert.Equal(t, "I look.", g.requests[1].Messages[1].ReasoningContent, "nor does a continuation lack it")
			})
		}
	}
}

// TestThoughtAlone: it is an answer if the provider says so, and nothing that stops a recovery if not.
func TestThoughtAlone(t *testing.T) {
	t.Parallel()
	for _, k := range thinkers() {
		for _, reason := range []string{"stop", "end_turn", "length"} {
			for label, thoughts := range map[string]fm.Script{
				// https://github.com/earendil-works/pi/issues/9266
				"B081 it is lost, or asked for three times": {k.thought("answer")},
				// https://github.com/google-gemini/gemini-cli/issues/24290
				"B082 the text is empty": {fm.Role(), k.thought("an"), k.thought("swer"), fm.Text("")},
			} {
				t.Run(fmt.Sprintf("%s/%s %s", label, k.client, reason), func(t *testing.T) {
					t.Parallel()
					g := play(t, fm.New(append(thoughts, fm.Finish(reason))).TypeName(k.client))
					scene{thought: "answer", finish: reason, requests: 1}.check(t, g)
				})
			}
		}
		for name, end := range map[string]fm.Step{"text": fm.Text("\n\n"), "signature": k.sign("c2ln"), "nothing": fm.Role()} {
			// https://github.com/router-for-me/CLIProxyAPI/issues/4658
			t.Run("B083 it counts as an answer that came/"+k.client+" closed by "+name, func(t *testing.T) {
				t.Parallel()
				bad := &status{HTTPStatusCode: 502, Message: "bad gateway"}
				g := play(t, fm.New(
					fm.Script{k.thought("x"), end, fm.Fail(bad)}, fm.Script{k.thought("y"), k.sign("c2ln"), fm.Text("Hello."), fm.Finish("stop")},
				).TypeName(k.client), now())
				require.NoError(t, g.err)
				assert.Equal(t, "Hello.", g.message(t).Content[len(g.message(t).Content)-6:])
				assert.Equal(t, hi(), g.requests[1].Messages)
				assert.Contains(t, g.told(), "reset")
				assert.Len(t, g.requests, 2)
			})
		}
	}
}
