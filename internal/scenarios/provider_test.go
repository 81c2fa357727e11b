package scenarios_test

import (
	"context"
	"errors"
	"fmt"
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

// overloads are the forms in which an overload inside an open stream reaches the decorator.
func overloads() map[string]error {
	typed := &status{HTTPStatusCode: 200, Type: "overloaded_error", Message: "Overloaded"}

	return map[string]error{
		"type beside status 200": typed,
		"type alone":             &status{Type: "overloaded_error"},
		"status 529":             &status{HTTPStatusCode: 529, Message: "try again"},
		"name in the text":       errors.New("received error while streaming: overloaded_error"),
		"the event's body":       errors.New(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`),
		"wrapped":                fmt.Errorf("connection error: %w", typed),
		"wrapped twice":          fmt.Errorf("stream: %w", fmt.Errorf("connection error: %w", typed)),
		"joined":                 errors.Join(errors.New("connection error"), typed),
	}
}

// TestOverloadInsideAStream: what the error says is looked at, not only a status that was sent before there was an error.
func TestOverloadInsideAStream(t *testing.T) {
	t.Parallel()
	answer := fm.Script{fm.Text("Water "), fm.Text("boils at "), fm.Text("100 degrees."), fm.Finish("stop")}
	for name, err := range overloads() {
		// https://github.com/anthropics/anthropic-sdk-go/issues/200
		t.Run("B019 the error has no structure/"+name, func(t *testing.T) {
			t.Parallel()
			g := play(t, fm.Continuer(answer, fm.BreakAt(1, fm.Fail(err))))
			scene{
				text: answer.Text(), finish: "stop", requests: 2, took: time.Second,
				events: []string{"broke: overloaded, ContinueText", "started 1", "completed: stop"},
			}.check(t, g)
		})
		// https://github.com/anthropics/anthropic-sdk-python/issues/688
		t.Run("B021 the client repeats nothing behind the first event/"+name, func(t *testing.T) {
			t.Parallel()
			everyBreak(t, "Claude", answer, 3, func() fm.Step { return fm.Fail(err) })
		})
		// https://github.com/anthropics/anthropic-sdk-typescript/issues/346
		t.Run("B022 the cause is lost/"+name, func(t *testing.T) {
			t.Parallel()
			g := play(t, fm.Continuer(answer, fm.BreakAt(1, fm.Fail(err)), fm.BreakAt(1, fm.Fail(err))), now(), continuation.WithMaxContinuations(1))
			require.ErrorIs(t, g.err, err)
			var exhausted *continuation.ExhaustedError
			require.ErrorAs(t, g.err, &exhausted)
			assert.Equal(t, err, exhausted.First)
			assert.Equal(t, err, exhausted.Last)
			assert.Contains(t, g.err.Error(), err.Error())
		})
	}
}

// TestNameBeatsNumber: a failure of the server is one, whatever number a gateway gives it.
func TestNameBeatsNumber(t *testing.T) {
	t.Parallel()
	// https://github.com/anthropics/anthropic-sdk-python/issues/1477
	for _, name := range []string{"internalServerException", "InternalServerException", "serviceUnavailableException", "throttlingException"} {
		for _, code := range []int{400, 404, 422, 200, 0} {
			t.Run(fmt.Sprintf("B023 a server's exception with the status of a bad request/%s %d", name, code), func(t *testing.T) {
				t.Parallel()
				err := &status{HTTPStatusCode: code, Type: name}
				g := play(t, fm.New(
					fm.Script{fm.OpenFail(err)}, fm.Script{fm.Text("a"), fm.Fail(err)}, fm.Script{fm.Text("b"), fm.Finish("stop")},
				), now())
				require.NoError(t, g.err)
				assert.Equal(t, "ab", g.text())
				assert.Len(t, g.requests, 3)
			})
		}
	}
}

// TestPreamble: chunks without content commit to nothing, and do not come twice.
func TestPreamble(t *testing.T) {
	t.Parallel()
	quota := &status{Type: "insufficient_quota", Message: "You exceeded your current quota."}
	created := fm.Chunk(&schema.Message{Role: schema.Assistant, Extra: map[string]any{"openai-request-id": "r1"}})
	scenes(t,
		// https://github.com/maximhq/bifrost/issues/5395
		scene{name: "B025 no credit, behind the event that opens", script: []fm.Script{{created, fm.Fail(quota)}}, requests: 1, err: quota},
		scene{name: "B025 no credit, behind a role", script: []fm.Script{{fm.Role(), fm.Fail(quota)}}, requests: 1, err: quota},
		scene{name: "B025 no credit, behind a usage", script: []fm.Script{{fm.Usage(9, 0), fm.Fail(quota)}}, requests: 1, err: quota},
		scene{name: "B025 no credit, behind text", script: []fm.Script{{fm.Text("a"), fm.Fail(quota)}}, requests: 1, err: quota, text: "a"},
	)
	for name, preamble := range map[string]fm.Script{
		"role": {fm.Role()}, "event": {created}, "both": {fm.Role(), created}, "usage": {fm.Usage(9, 0)}, "none": {},
	} {
		// https://github.com/zirkelc/ai-retry/issues/51
		t.Run("B026 the stream's start is sent again/"+name, func(t *testing.T) {
			t.Parallel()
			g := play(t, fm.New(append(preamble, fm.Reset()), append(preamble, fm.Text("a"), fm.Finish("stop"))), now())
			scene{text: "a", finish: "stop", requests: 2, events: []string{"open retried: connection_reset"}}.check(t, g)
			m := g.message(t)
			assert.Equal(t, schema.Assistant, m.Role)
			for key := range m.Extra {
				assert.Equal(t, "r1", m.Extra[key], "%s is not joined with itself", key)
			}
		})
	}
}

// TestErrorsThatNobodyMends: what repeating cannot mend is not repeated, wherever it comes.
func TestErrorsThatNobodyMends(t *testing.T) {
	t.Parallel()
	// https://github.com/anomalyco/opencode/pull/12768
	for _, name := range []string{
		"invalid_prompt", "invalid_request_error", "context_length_exceeded", "insufficient_quota", "authentication_error",
		"permission_error", "model_not_found", "content_policy_violation",
	} {
		for place, script := range map[string]fm.Script{
			"Stream": {fm.OpenFail(&status{Type: name})}, "first": {fm.Fail(&status{Type: name})},
			"role": {fm.Role(), fm.Fail(&status{Type: name})}, "thought": {fm.Reasoning("x"), fm.Fail(&status{Type: name})},
			"text": {fm.Text("a"), fm.Fail(&status{Type: name})}, "call": {fm.Call(0, "c", "f", `{"`), fm.Fail(&status{Type: name})},
		} {
			t.Run("B027 it was sent again for ever/"+name+"/"+place, func(t *testing.T) {
				t.Parallel()
				g := play(t, fm.New(script), now())
				var s *status
				require.ErrorAs(t, g.err, &s)
				assert.Equal(t, name, s.Type)
				assert.Len(t, g.requests, 1)
				assert.Zero(t, g.took)
				require.NotErrorIs(t, g.err, continuation.ErrExhausted)
				assert.Empty(t, of[callbacks.Started](g.heard))
			})
		}
	}
}

// TestHTTP2: what net/http says of a stream or a connection that the other side ended.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	goAway := []string{
		"http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug=\"\"",
		"http2: server sent GOAWAY and closed the connection; LastStreamID=7, ErrCode=ENHANCE_YOUR_CALM, debug=\"too_many_pings\"",
	}
	for i, text := range goAway {
		// https://github.com/stacklok/mecatl/issues/103
		t.Run(fmt.Sprintf("B030 the connection goes away behind a thought/%d", i), func(t *testing.T) {
			t.Parallel()
			for thoughts := 1; thoughts < 4; thoughts++ {
				first := fm.Script{}
				for range thoughts {
					first = append(first, fm.Reasoning("x"))
				}
				scene{
					text: "a", thought: "y", finish: "stop", requests: 2,
					events: []string{"broke: goaway, WholeRestart", "started 1", "reset", "completed: stop"},
				}.check(t, play(t, fm.New(
					append(first, fm.Fail(errors.New(text))), fm.Script{fm.Reasoning("y"), fm.Text("a"), fm.Finish("stop")},
				), now()))
			}
		})
	}
	for text, cause := range map[string]callbacks.Cause{
		"stream error: stream ID 1; INTERNAL_ERROR; received from peer":         callbacks.CauseConnectionReset,
		"stream error: stream ID 3; NO_ERROR; received from peer":               callbacks.CauseConnectionReset,
		"stream error: stream ID 5; CANCEL; received from peer":                 callbacks.CauseConnectionReset,
		"stream error: stream ID 7; REFUSED_STREAM; received from peer":         callbacks.CauseConnectionReset,
		"failed to read: stream error: stream ID 9; PROTOCOL_ERROR":             callbacks.CauseConnectionReset,
		"http2: client connection lost":                                         callbacks.CauseConnectionReset,
		"http2: client connection force closed via ClientConn.Close":            callbacks.CauseConnectionReset,
		"connection error: PROTOCOL_ERROR":                                      callbacks.CauseConnectionReset,
		"Post \"https://api.example.com\": " + goAway[0]:                        callbacks.CauseGoAway,
		"error, reading stream: http2: server sent GOAWAY and closed the conn.": callbacks.CauseGoAway,
	} {
		// https://github.com/coddy-project/coddy-agent/pull/298
		t.Run("B031 a stream error in real words/"+text, func(t *testing.T) {
			t.Parallel()
			scene{
				text: "ab", finish: "stop", requests: 2,
				events: []string{fmt.Sprintf("broke: %s, ContinueText", cause), "started 1", "completed: stop"},
			}.check(t, play(t, fm.New(
				fm.Script{fm.Text("a"), fm.Fail(errors.New(text))}, fm.Script{fm.Text("b"), fm.Finish("stop")},
			), now()))
		})
	}
}

// TestCancelledByTheProvider: whether the caller has cancelled is asked of the caller's context.
func TestCancelledByTheProvider(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"499": &status{HTTPStatusCode: 499, Message: "client closed request"}, "cancelled": &status{Type: "cancelled"},
		"context.Canceled": fmt.Errorf("upstream: %w", context.Canceled),
	} {
		// https://github.com/decisionbox-io/decisionbox-platform/pull/234
		t.Run("B033 it kills the run/"+name, func(t *testing.T) {
			t.Parallel()
			for place, scripts := range map[string][]fm.Script{
				"Stream": {{fm.OpenFail(err)}, {fm.Text("ab"), fm.Finish("stop")}},
				"text":   {{fm.Text("a"), fm.Fail(err)}, {fm.Text("b"), fm.Finish("stop")}},
			} {
				g := play(t, fm.New(scripts...), now())
				require.NoError(t, g.err, place)
				assert.Equal(t, "ab", g.text(), place)
				assert.Len(t, g.requests, 2, place)

				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					inner := fm.Respond(func(int, []*schema.Message) fm.Script {
						cancel()

						return fm.Script{fm.OpenFail(err)}
					})
					g := ask(ctx, continuation.Wrap(inner, now()), hi())
					require.ErrorIs(t, g.err, context.Canceled, "the caller's own")
					assert.Len(t, inner.Requests(), 1)
				})
			}
		})
	}
}
