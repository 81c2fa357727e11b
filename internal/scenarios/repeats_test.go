package scenarios_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// prose is an answer in pieces.
func prose() fm.Script {
	return fm.Script{
		fm.Text("The harbour was quiet "), fm.Text("that morning, and the boats "), fm.Text("lay at their moorings.\n\n"),
		fm.Text("Nobody had come "), fm.Text("down from the town yet."), fm.Finish("stop"),
	}
}

// TestRestartIsAnnounced: whoever shows the answer is told to forget it before the first chunk of the new one comes.
func TestRestartIsAnnounced(t *testing.T) {
	t.Parallel()
	// https://github.com/google-gemini/gemini-cli/issues/7428
	t.Run("B034 the new attempt is shown behind the failed one", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var seen []string
			inner := fm.New(
				fm.Script{fm.Reasoning("Partial "), fm.Reasoning("thought"), fm.Reset()},
				fm.Script{fm.Reasoning("Full thought"), fm.Text("Full "), fm.Reset()},
				fm.Script{fm.Text("content"), fm.Finish("stop")},
			)
			m := continuation.Wrap(inner, now(), continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
				if _, is := e.(callbacks.StreamReset); is {
					seen = append(seen, "reset")
				}
			})))
			r, err := m.Stream(t.Context(), hi())
			require.NoError(t, err)
			defer r.Close()
			for c, err := r.Recv(); err == nil; c, err = r.Recv() {
				seen = append(seen, c.ReasoningContent+c.Content)
			}
			assert.Equal(t, []string{"Partial ", "thought", "reset", "Full thought", "Full ", "content", ""}, seen, "text is not taken back")
			assert.Equal(t, hi(), inner.Requests()[1].Messages)
			assert.Equal(t, "Full", inner.Requests()[2].Messages[1].Content, "where text was shown the rest is asked for")
		})
	})
}

// TestOnlyTheRestIsAskedFor: the request carries what was shown, so that it is neither shown nor paid for again.
func TestOnlyTheRestIsAskedFor(t *testing.T) {
	t.Parallel()
	long := fm.Script{}
	for i := range 80 {
		long = append(long, fm.Text(fmt.Sprintf("Sentence %d of an answer that goes on for a long time, until its connection breaks. ", i)))
	}
	for name, tt := range map[string]struct {
		answer fm.Script
		cause  error
	}{
		// https://github.com/agentscope-ai/agentscope-java/issues/2478
		"B035 the stream is subscribed to again": {prose(), &os.SyscallError{Syscall: "read", Err: errors.New("input/output error")}},
		// https://github.com/NuGuardAI/nuguard/issues/455
		"B038 both attempts are added up": {prose(), fmt.Errorf("mid-stream: %w", os.ErrDeadlineExceeded)},
		// https://github.com/earendil-works/pi/issues/8031
		"B039 a long answer is written twice": {append(long, fm.Finish("stop")), errors.New("terminated")},
		// awakenworks/awaken, inference.rs: https://github.com/awakenworks/awaken
		"B151 the result is the second half": {
			fm.Script{fm.Text("Hello, this is"), fm.Text(" the second half."), fm.Finish("stop")}, fm.ResetError(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shown := 0
			for n := 1; n < tt.answer.Chunks(); n++ {
				inner := fm.Continuer(tt.answer, fm.BreakAt(n, fm.Fail(tt.cause)))
				g := play(t, inner, now())
				require.NoError(t, g.err)
				require.Equal(t, tt.answer.Text(), g.text(), "behind chunk %d", n)
				require.Len(t, g.requests, 2)
				shown = g.requests[0].CompletionTokens
				prefix := tt.answer.Text()[:shown]
				require.Equal(t, "assistant: "+strings.TrimSpace(prefix), g.sent(1)[1])
				rest := len(strings.TrimPrefix(tt.answer.Text(), strings.TrimSpace(prefix)))
				require.Equal(t, rest, g.requests[1].CompletionTokens, "what is paid for")

				again := play(t, fm.Continuer(tt.answer, fm.BreakAt(n, fm.Fail(tt.cause))).WithRestart(), now())
				require.NoError(t, again.err)
				require.Equal(t, tt.answer.Text(), again.text(), "a model that begins anew in the same words, behind chunk %d", n)
			}
			assert.Equal(t, len(tt.answer.Text()), shown)
		})
	}
}

// TestPiecesOfTwoCalls: what an attempt left of a call is not joined with what the next one calls.
func TestPiecesOfTwoCalls(t *testing.T) {
	t.Parallel()
	args, again := `{"code":"print(1)"}`, fm.Script{fm.Call(0, "id2", "run", `{"code":"print(1)"}`), fm.Finish("tool_calls")}
	// https://github.com/endolith/open-interpreter/issues/291
	for cut := range len(args) {
		for name, first := range map[string]fm.Script{
			"with an index": {fm.Call(0, "id", "run", args[:cut])}, "without": {fm.CallNoIndex("id", "run", args[:cut])},
			"in pieces": {fm.Call(0, "id", "run", ""), fm.Call(0, "", "", args[:cut])},
		} {
			t.Run(fmt.Sprintf("B037 half a program is run/%s/%d", name, cut), func(t *testing.T) {
				t.Parallel()
				g := scene{
					script: []fm.Script{append(first, fm.Reset()), again}, opts: with(now()),
					calls: []string{"id2 run " + args}, finish: "tool_calls", requests: 2,
					events: []string{
						"broke: connection_reset, WholeRestart", fmt.Sprintf("discarded: run %d", cut), "cancel: id run", "started 1", "reset",
						"completed: tool_calls",
					},
				}.run(t)
				for _, c := range g.chunks {
					for _, call := range c.ToolCalls {
						assert.Equal(t, "id2", call.ID, "nothing of the first is shown")
						assert.NotNil(t, call.Index)
					}
				}
			})
		}
	}
}

// TestCutInsideACharacter: a request never ends inside one, and none is lost.
func TestCutInsideACharacter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Größe: 10 µm — 世界 🎉 end.", `{"größe":"10 µm","welt":"世界 🎉"}`} {
		answer := fm.Script{}
		for i := range len(text) {
			answer = append(answer, fm.Text(text[i:i+1]))
		}
		answer = append(answer, fm.Finish("stop"))
		// https://github.com/simstudioai/sim/issues/3068
		t.Run("B047 the connection breaks between two bytes/"+text, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < answer.Chunks(); n++ {
				for _, client := range []string{"FaultModel", "Ollama"} {
					g := play(t, fm.Continuer(answer, fm.BreakAt(n, fm.Reset())).TypeName(client), now())
					require.NoError(t, g.err)
					require.Equal(t, text, g.text(), "%s: behind byte %d", client, n)
					require.True(t, utf8.ValidString(strings.Join(g.sent(1), "")), "%s: behind byte %d", client, n)
				}
				g := play(t, fm.Continuer(answer, fm.BreakAt(n, fm.Reset())).WithRestart(), now())
				if n <= 12 { // less proves nothing: it is not glued, or said to be doubtful
					joins := of[callbacks.Joined](g.heard)
					require.True(t, g.err != nil || g.text() == text || joins[0].Confidence == callbacks.ConfidenceLow, "behind byte %d", n)

					continue
				}
				require.NoError(t, g.err)
				require.Equal(t, text, g.text(), "and the model begins anew, behind byte %d", n)
			}
		})
	}
}

// TestDialects: whether a provider goes on from a trailing assistant message is known of it or said by the user; the safe
// way is to ask, and a model that answers anew does not show.
func TestDialects(t *testing.T) {
	t.Parallel()
	// https://github.com/ls1intum/edutelligence/pull/853
	t.Run("B049 a server closes the message and answers anew", func(t *testing.T) {
		t.Parallel()
		whole := prose().Text()
		for name, tt := range map[string]struct {
			client string
			opts   []continuation.Option
			last   schema.RoleType
		}{
			"a server like OpenAI's":   {"OpenAI", nil, schema.User},
			"one that nobody knows":    {"FaultModel", nil, schema.User},
			"one that is known":        {"Ollama", nil, schema.Assistant},
			"one of which it was said": {"OpenAI", with(continuation.WithDialect(continuation.Prefill())), schema.Assistant},
		} {
			g := play(t, fm.New(fm.Script{fm.Text(whole[:40]), fm.Reset()}, fm.Script{fm.Text(whole[40:]), fm.Finish("stop")}).TypeName(tt.client),
				append(tt.opts, now())...)
			require.NoError(t, g.err)
			assert.Equal(t, whole, g.text(), name)
			assert.Equal(t, tt.last, g.requests[1].Messages[len(g.requests[1].Messages)-1].Role, name)
		}
		g := play(t, fm.New(fm.Script{fm.Text(whole[:40]), fm.Reset()}, prose()).TypeName("OpenAI"), now())
		require.NoError(t, g.err)
		assert.Equal(t, whole, g.text(), "it answers anew")
	})
	// https://github.com/unslothai/unsloth/pull/10219
	for place, refusal := range map[string]func(error) fm.Script{
		"Stream": func(err error) fm.Script { return fm.Script{fm.OpenFail(err)} },
		"Recv":   func(err error) fm.Script { return fm.Script{fm.Role(), fm.Fail(err)} },
	} {
		t.Run("B050 the continuation is refused/"+place, func(t *testing.T) {
			t.Parallel()
			prefill := continuation.WithDialect(continuation.Prefill())
			for _, message := range []string{
				"The conversation must end with a user message.", "Cannot set add_generation_prompt and continue_final_message.", "No.",
			} {
				scene{
					text: "ab", finish: "stop", requests: 3,
					events: []string{"broke: connection_reset, ContinueText", "started 1", "notice: prefill_refused", "completed: stop"},
				}.check(t, play(t, fm.New(
					fm.Script{fm.Text("a"), fm.Reset()}, refusal(&status{HTTPStatusCode: 400, Message: message}),
					fm.Script{fm.Text("b"), fm.Finish("stop")},
				), now(), prefill, continuation.WithMaxContinuations(1)))
			}

			other := &status{HTTPStatusCode: 400, Message: "Cannot set add_generation_prompt and continue_final_message."}
			g := play(t, fm.New(fm.Script{fm.Text("a"), fm.Reset()}, refusal(other), refusal(other)), now(), prefill)
			var exhausted *continuation.ExhaustedError
			require.ErrorAs(t, g.err, &exhausted)
			assert.Equal(t, continuation.ReasonRefused, exhausted.Reason)
			require.EqualError(t, exhausted.First, fm.ResetError().Error(), "what broke the answer")
			assert.Equal(t, error(other), exhausted.Last)
			assert.Len(t, g.requests, 3, "not five times")
		})
	}
}
