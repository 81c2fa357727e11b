package continuation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"github.com/eino-carryon/carryon/snapshot"
)

// TestSignedThoughtGoesWithItsSignature: a provider that signs its thoughts refuses one without a signature.
func TestSignedThoughtGoesWithItsSignature(t *testing.T) {
	t.Parallel()
	const thinking, signature = "_eino_claude_thinking", "_eino_claude_thinking_signature"
	thought := fm.Chunk(&schema.Message{
		Role: schema.Assistant, ReasoningContent: "A thought.", Extra: map[string]any{thinking: "A thought."},
	})
	signed := fm.Chunk(&schema.Message{Role: schema.Assistant, Extra: map[string]any{signature: "c2ln"}})
	end := fm.Script{fm.Text("world."), fm.Finish("stop")}

	r, _, _ := ctRun(t, fm.New(fm.Script{thought, fm.Text("Hello "), fm.Reset()}, end).TypeName("Claude"))
	require.NoError(t, r.err)
	assert.Equal(t, schema.AssistantMessage("Hello", nil), r.requests[1].Messages[1])

	r, _, _ = ctRun(t, fm.New(fm.Script{thought, signed, fm.Text("Hello "), fm.Reset()}, end).TypeName("Claude"))
	require.NoError(t, r.err)
	partial := r.requests[1].Messages[1]
	assert.Equal(t, "A thought.", partial.ReasoningContent)
	assert.Equal(t, map[string]any{thinking: "A thought.", signature: "c2ln"}, partial.Extra)
}

// TestCallerMayUseItsSlicesAgain changes them while the answer is read.
func TestCallerMayUseItsSlicesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")})
		m, _ := ctWrap(t, inner, ctNow())
		in, call := ctInput(), []model.Option{model.WithTemperature(0.5)}
		reader, err := m.Stream(t.Context(), in, call...)
		require.NoError(t, err)
		in[0], call[0] = schema.UserMessage("Another question."), model.WithTemperature(1)
		chunks, err := fm.Collect(reader)
		require.NoError(t, err)
		assert.Equal(t, "Hello world.", fm.Concat(t, chunks).Content)
		second := inner.Requests()[1]
		assert.Equal(t, ctInput()[0], second.Messages[0])
		assert.InDelta(t, 0.5, *second.Options.Temperature, 0)
		ctLetGo(t, inner)
	})
}

// TestSlowConsumerBeforeAWait: the time that the consumer took does not count when it then has to wait.
func TestSlowConsumerBeforeAWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		inner := fm.New(fm.Script{
			fm.Text("Hello "), fm.Text(""), fm.Gate(nil, release), fm.Text(""), fm.Idle(119 * time.Second),
			fm.Text("world."), fm.Finish("stop"),
		})
		m, events := ctWrap(t, inner)
		reader, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		_, err = reader.Recv()
		require.NoError(t, err)

		<-time.After(time.Hour)
		close(release)
		chunks, err := fm.Collect(reader)
		require.NoError(t, err)
		assert.Equal(t, "world.", fm.Concat(t, chunks).Content)
		assert.Empty(t, events.names())
		ctLetGo(t, inner)
	})
}

// TestALeftAttemptIsNotReadOn leaves a model that ignores its context and has a lot more to say.
func TestALeftAttemptIsNotReadOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		first := fm.Script{fm.Text("Hello "), fm.StallIgnoringContext(release)}
		for range 1000 {
			first = append(first, fm.Text("late"))
		}
		inner := fm.New(first, fm.Script{fm.Text("world."), fm.Finish("stop")})
		m, _ := ctWrap(t, inner, ctNow())
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		close(release)
		ctLetGo(t, inner)
		assert.Less(t, inner.Requests()[0].Sent, 10)
	})
}

// TestJoinWaitsNoLonger: a beginning that may yet turn out to be a repetition is held back for 300 ms, not until the
// provider says more.
func TestJoinWaitsNoLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(
			fm.Script{fm.Text("Rain fell on the old harbour"), fm.Reset()},
			fm.Script{fm.Text("the old"), fm.Idle(time.Minute), fm.Text(" pier."), fm.Finish("stop")},
		)
		m, events := ctWrap(t, inner, ctNow())
		reader, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		_, err = reader.Recv()
		require.NoError(t, err)

		began := time.Now()
		chunk, err := reader.Recv()
		require.NoError(t, err)
		assert.Equal(t, "the old", chunk.Content)
		assert.Equal(t, 300*time.Millisecond, time.Since(began))
		assert.Equal(t, callbacks.ConfidenceLow, ctOnly[callbacks.Joined](t, events).Confidence)
		chunks, err := fm.Collect(reader)
		require.NoError(t, err)
		assert.Equal(t, " pier.", fm.Concat(t, chunks).Content)
		ctLetGo(t, inner)
	})
}

// TestErrorMessagesInEventsAreBounded gives a handler of every event with an error message a very long one.
func TestErrorMessagesInEventsAreBounded(t *testing.T) {
	t.Parallel()
	long := func(s string) error { return errors.New(s + strings.Repeat("ä", 4<<10)) }
	messages := func(opts []continuation.Option, scripts ...fm.Script) []string {
		_, events, _ := ctRun(t, fm.New(scripts...), append(opts, ctNow())...)
		var out []string
		for _, e := range events.list() {
			switch e := e.(type) {
			case callbacks.Interrupted:
				out = append(out, e.ErrorMessage)
			case callbacks.Failed:
				out = append(out, e.ErrorMessage)
			case callbacks.OpenRetried:
				out = append(out, e.ErrorMessage)
			case callbacks.LateError:
				out = append(out, e.ErrorMessage)
			case callbacks.Notice:
				out = append(out, e.Message)
			}
		}

		return out
	}
	reset := fmt.Errorf("%w: %w", fm.ResetError(), long("reset"))
	refusal := func(s string) error { return &ctStatusError{HTTPStatusCode: 400, Message: s + long("").Error()} }
	all := messages(nil,
		fm.Script{fm.OpenFail(reset)}, fm.Script{fm.Text("Hello "), fm.Fail(long("odd"))}, fm.Script{fm.Text("dear "), fm.Fail(reset)},
		fm.Script{fm.Text("world."), fm.Finish("stop"), fm.Fail(reset)})
	require.Len(t, all, 5, "open retried, interrupted, failed, interrupted, late error")
	all = append(all, messages([]continuation.Option{continuation.WithDialect(continuation.Prefill())},
		fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.OpenFail(refusal("No prefill. "))}, ctDone())...)
	require.Len(t, all, 7, "interrupted, prefill refused")
	cut := 0
	for _, message := range all {
		assert.LessOrEqual(t, len(message), callbacks.MaxErrorMessage)
		if len(message) > callbacks.MaxErrorMessage/2 {
			cut++
		}
	}
	assert.Equal(t, 6, cut, "all but the reset before the prefill")
}

// sgSilent is a client that takes any end of its body for the end of the answer.
type sgSilent struct{ client *http.Client }

func (m sgSilent) Stream(ctx context.Context, in []*schema.Message, _ ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://example.com", http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Messages", fmt.Sprint(len(in)))
	response, err := m.client.Do(request)
	if err != nil {
		return nil, err
	}
	text, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()

	return schema.StreamReaderFromArray([]*schema.Message{{Role: schema.Assistant, Content: string(text)}}), nil
}

func (m sgSilent) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, errors.New("not needed")
}

func (sgSilent) GetType() string { return "Homemade" }

// sgServer answers the first request with a body that breaks, and the next one with the rest.
type sgServer struct{ requests int }

func (s *sgServer) RoundTrip(*http.Request) (*http.Response, error) {
	s.requests++
	body := io.Reader(strings.NewReader("world."))
	if s.requests == 1 {
		body = io.MultiReader(strings.NewReader("Hello "), sgBroken{})
	}

	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

type sgBroken struct{}

func (sgBroken) Read([]byte) (int, error) { return 0, fm.ResetError() }

// TestTransportTellsWhyTheBodyEnded: without it the answer of such a client would pass for a whole one.
func TestTransportTellsWhyTheBodyEnded(t *testing.T) {
	t.Parallel()
	server := &sgServer{}
	client := &http.Client{Transport: continuation.NewTransport(server)}
	m, events := ctWrap(t, sgSilent{client}, ctNow(), continuation.WithFinishReasonRequired(false))
	r := ctStream(t.Context(), m)
	require.NoError(t, r.err)
	assert.Equal(t, "Hello world.", r.text())
	assert.Equal(t, 2, server.requests)
	assert.Equal(t, callbacks.CauseConnectionReset, ctOnly[callbacks.Interrupted](t, events).Cause)
}

// TestTextStandsWhereItStood: text behind a held call waits for it, so that the order stays.
func TestTextStandsWhereItStood(t *testing.T) {
	t.Parallel()
	r, _, _ := ctRun(t, fm.New(fm.Script{
		fm.Text("One. "), fm.Call(0, "c1", "add", `{"a":`), fm.Text("Two. "), fm.Call(0, "", "", `1}`), fm.Text("Three."),
		fm.Finish("tool_calls"),
	}))
	require.NoError(t, r.err)
	var order []string
	for _, chunk := range r.chunks {
		if chunk.Content != "" {
			order = append(order, chunk.Content)
		}
		for _, c := range chunk.ToolCalls {
			order = append(order, c.ID)
		}
	}
	assert.Equal(t, []string{"One. ", "c1", "Two. ", "Three."}, order)
}

// TestArgumentsWithAnyOneByteChanged asks encoding/json, for every byte at every place, whether the call is whole.
func TestArgumentsWithAnyOneByteChanged(t *testing.T) {
	t.Parallel()
	const whole = `{"a":[1,-2.5e+3,0,true,[]],"b":{"c":null,"d":"\u00e9\n \\","e":false}} `
	for i := range len(whole) {
		for b := range 256 {
			arguments := whole[:i] + string([]byte{byte(b)}) + whole[i+1:]
			var acc snapshot.Accumulator
			require.NoError(t, acc.Add(&schema.Message{ToolCalls: []schema.ToolCall{
				{ID: "c1", Function: schema.FunctionCall{Name: "add", Arguments: arguments}},
			}}))
			isObject := json.Valid([]byte(arguments)) && strings.TrimSpace(arguments)[0] == '{'
			require.Equal(t, isObject, acc.CallState(0, true) == snapshot.CallWhole, "%q", arguments)
		}
	}
}
