package scenarios_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// finishers are the types of clients whose whole answers always have a finish reason.
func finishers() []string {
	return []string{"OpenAI", "Qwen", "OpenRouter", "DeepSeek", "Claude", "Gemini", "Ollama", "Ark", "ResponsesAPI"}
}

// TestBareEOF: a clean end without a finish reason is a break, behind every chunk and with every client.
func TestBareEOF(t *testing.T) {
	t.Parallel()
	long := fm.Script{}
	for i := range 24 {
		long = append(long, fm.Text(fmt.Sprintf("word%d ", i)))
	}
	for name, answer := range map[string]fm.Script{
		// https://github.com/anomalyco/opencode/issues/39968
		"B001 a gateway closes the body": {fm.Text("Water "), fm.Text("boils."), fm.Finish("stop")},
		// https://github.com/anomalyco/opencode/issues/44385
		"B003 a gateway cuts what takes long": {
			fm.Reasoning("Let me "), fm.Reasoning("see."), fm.Text("Water "), fm.Text("boils."), fm.Finish("stop"),
		},
		// https://github.com/vllm-project/vllm/issues/52852
		"B009 a server drops the stream": {fm.Role(), fm.Text("Water boils."), fm.Usage(3, 4), fm.Finish("stop")},
		// https://github.com/sashabaranov/go-openai/issues/490
		"B014 a client reports the end of the body as the end of the answer": append(long, fm.Finish("stop")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chunks := answer.Chunks() - 1
			for _, client := range finishers() {
				if strings.HasPrefix(name, "B014") && client != "OpenAI" {
					continue // the longest, with the client that was reported
				}
				if client == "Ollama" && strings.HasPrefix(name, "B009") {
					continue // a usage record proves the end there
				}
				everyBreak(t, client, answer, chunks, fm.EOF)
			}
		})
	}
}

// TestBareEOFBehindAThought: an answer that is only a thought is no answer.
func TestBareEOFBehindAThought(t *testing.T) {
	t.Parallel()
	// https://github.com/anomalyco/opencode/issues/37852
	t.Run("B002 a sub-agent returns nothing, and no error", func(t *testing.T) {
		t.Parallel()
		for _, thoughts := range []int{1, 2, 150, 300} {
			answer := fm.Script{}
			for range thoughts {
				answer = append(answer, fm.Reasoning("x"))
			}
			for _, client := range append(finishers(), "FaultModel") {
				stats := callbacks.NewStats()
				g := play(t, fm.New(answer, fm.Script{fm.Reasoning("y"), fm.Text("Here."), fm.Finish("stop")}).TypeName(client),
					now(), continuation.WithHandler(stats))
				scene{
					text: "Here.", thought: "y", finish: "stop", requests: 2,
					events: []string{"broke: truncated, WholeRestart", "started 1", "reset", "completed: stop"},
				}.check(t, g)
				assert.Equal(t, []string{"user: Say it."}, g.sent(1), "the request is not changed")
				assert.Equal(t, 1, stats.Total().Interrupted, "it is counted")
				assert.Equal(t, map[callbacks.Cause]int{callbacks.CauseTruncated: 1}, stats.Total().Causes)
			}
		}
	})
}

// TestEndsThatAreNone tells a limit of length, which the provider tells of, from an end that nobody tells of.
func TestEndsThatAreNone(t *testing.T) {
	t.Parallel()
	rest := fm.Script{fm.Text("b"), fm.Finish("stop")}
	scenes(t,
		// https://github.com/openclaw/openclaw/pull/108989
		scene{
			name: "B005 incomplete, and said so", client: "OpenAI", script: []fm.Script{{fm.Text("a"), fm.Finish("length")}},
			text: "a", finish: "length", requests: 1,
		},
		scene{
			name: "B005 incomplete, and said so in other words", client: "Claude", script: []fm.Script{{fm.Text("a"), fm.Finish("max_tokens")}},
			text: "a", finish: "max_tokens", requests: 1,
		},
		scene{
			name: "B005 no terminal event", client: "OpenAI", script: []fm.Script{{fm.Text("a"), fm.EOF()}, rest}, opts: with(now()),
			text: "ab", finish: "stop", requests: 2,
			events: []string{"broke: truncated, ContinueText", "started 1", "completed: stop"},
		},
		// https://github.com/xiaoyu-work/claw-os/issues/11
		scene{
			name: "B007 a tool block is cut", client: "Claude", opts: with(now()),
			script: []fm.Script{{fm.Text("a"), fm.Call(0, "id", "n", `{"p":`), fm.EOF()}, rest},
			text:   "ab", finish: "stop", requests: 2,
			events: []string{
				"broke: truncated, TruncateBeforeTool", "discarded: n 5", "cancel: id n", "started 1", "completed: stop",
			},
		},
		scene{
			name: "B007 a tool block is cut, and the model is not known", opts: with(now()),
			script: []fm.Script{{fm.Text("a"), fm.Call(0, "id", "n", `{"p":`), fm.EOF()}, rest},
			text:   "ab", finish: "stop", requests: 2,
			events: []string{
				"broke: truncated, TruncateBeforeTool", "discarded: n 5", "cancel: id n", "started 1", "completed: stop",
			},
		},
	)
}

// TestServersWithoutFinishReason: an answer that is whole is not asked for for ever, although it looks cut.
func TestServersWithoutFinishReason(t *testing.T) {
	t.Parallel()
	// https://github.com/vllm-project/vllm/issues/27572
	t.Run("B010 the finish reason is null, and the usage is there", func(t *testing.T) {
		t.Parallel()
		for name, end := range map[string]fm.Script{
			"null": {fm.Text("All of it."), fm.FinishUsage("null", 10, 5)},
			"none": {fm.Text("All of it."), fm.Usage(10, 5)},
		} {
			g := play(t, fm.New(end).TypeName("Ollama"))
			assert.Len(t, g.requests, 1, "%s: the usage proves the end", name)
			assert.NoError(t, g.err)

			g = play(t, fm.New(end).TypeName("OpenAI"), continuation.WithFinishReasonRequired(false))
			assert.Len(t, g.requests, 1, "%s: the user knows", name)
			assert.NoError(t, g.err)
			assert.Equal(t, "All of it.", g.text())

			g = play(t, fm.New(end, fm.Script{fm.Finish("stop")}).TypeName("OpenAI"), now())
			assert.Len(t, g.requests, 2, "%s: by default it is asked for once", name)
			assert.Equal(t, "All of it.", g.text(), "nothing is added")
			assert.NoError(t, g.err)
		}
	})
	// https://github.com/waybarrios/vllm-mlx/issues/628
	t.Run("B011 the server never sends one", func(t *testing.T) {
		t.Parallel()
		for name, tt := range map[string]struct {
			opts     []continuation.Option
			requests []int // after each call
		}{
			"it is found out":    {nil, []int{2, 3, 4}},
			"it is switched off": {with(continuation.WithFinishReasonRequired(false)), []int{1, 2, 3}},
		} {
			synctest.Test(t, func(t *testing.T) {
				inner := fm.Respond(func(_ int, in []*schema.Message) fm.Script {
					if len(in) > 1 {
						return fm.Script{fm.Text("There is no more.")}
					}

					return fm.Script{fm.Text("full answer.")}
				})
				m := continuation.Wrap(inner, tt.opts...)
				for call, requests := range tt.requests {
					g := ask(t.Context(), m, hi())
					require.NoError(t, g.err)
					assert.Equal(t, "full answer.", g.text(), "%s: call %d", name, call)
					assert.Len(t, inner.Requests(), requests, "%s: call %d", name, call)
				}
				letGo(t, inner)
			})
		}
	})
}

// TestFrameThatIsNoJSON: a frame that the client cannot read is a break like any other.
func TestFrameThatIsNoJSON(t *testing.T) {
	t.Parallel()
	var v any
	syntax, short := json.Unmarshal([]byte("retry: 3000"), &v), json.Unmarshal([]byte(`{"a":`), &v)
	answer := fm.Script{fm.Text("Water "), fm.Text("boils at "), fm.Text("100 degrees."), fm.Finish("stop")}
	for name, err := range map[string]error{
		// https://github.com/openai/openai-go/pull/555
		"B017 a keep-alive is read as JSON":          short,
		"B017 a keep-alive is read as JSON, too":     syntax,
		"B017 a keep-alive is read as JSON, wrapped": fmt.Errorf("error, unmarshal stream: %w", short),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			everyBreak(t, "OpenAI", answer, 3, func() fm.Step { return fm.Fail(err) })
			g := play(t, fm.Continuer(answer, fm.BreakAt(1, fm.Fail(err))), now())
			require.Len(t, of[callbacks.Interrupted](g.heard), 1)
			assert.Equal(t, callbacks.CauseMalformedFrame, of[callbacks.Interrupted](g.heard)[0].Cause)
			assert.Equal(t, snapshot.ContinueText, of[callbacks.Interrupted](g.heard)[0].Plan)
		})
	}
}
