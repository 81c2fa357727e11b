package continuation_test

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
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

// ctLog is several handlers' one list of what happened, in order.
type ctLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *ctLog) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *ctLog) handler(name string) continuation.Option {
	return continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) { l.add(name + " " + e.Name()) }))
}

func ctBroken() *fm.Model {
	return fm.New(fm.Script{fm.Text("Hello "), fm.Reset()}, fm.Script{fm.Text("world."), fm.Finish("stop")})
}

func TestHandlersInOrder(t *testing.T) {
	t.Parallel()
	log := &ctLog{}
	r, _, _ := ctRun(t, ctBroken(), ctNow(), log.handler("a"), log.handler("b"), log.handler("c"))
	require.NoError(t, r.err)
	var want []string
	for _, e := range []string{
		"llm_stream_interrupted", "llm_stream_continuation_started", "llm_stream_joined", "llm_stream_continuation_completed",
		"llm_stream_ended",
	} {
		want = append(want, "a "+e, "b "+e, "c "+e)
	}
	assert.Equal(t, want, log.lines)
}

func TestHandlerThatPanics(t *testing.T) {
	t.Parallel()
	log := &ctLog{}
	n := 0
	r, events, took := ctRun(t, ctBroken(), ctNow(), log.handler("before"),
		continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
			n++
			panic(e)
		})))
	require.NoError(t, r.err)
	assert.Equal(t, "Hello world.", r.text())
	assert.Zero(t, took)
	assert.Equal(t, 5, n, "it gets the next event all the same")
	assert.Len(t, log.lines, 5)
	assert.Len(t, events.names(), 4)
	assert.Empty(t, ctOf[callbacks.HandlerStalled](events))
}

func TestHandlerThatBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var (
			release = make(chan struct{})
			log     ctLog
			seen    ctEvents
		)
		blocking := continuation.WithHandler(callbacks.HandlerFunc(func(ctx context.Context, e callbacks.Event) {
			seen.Handle(ctx, e)
			<-release
		}))
		inner := ctBroken()
		m, events := ctWrap(t, inner, ctNow(), log.handler("before"), blocking)
		began := time.Now()
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		assert.Equal(t, "Hello world.", r.text())
		assert.Equal(t, time.Second, time.Since(began), "left behind, once")
		assert.Equal(t, []string{"llm_stream_interrupted"}, seen.names(), "and gets nothing more")
		stalled := ctOnly[callbacks.HandlerStalled](t, events)
		assert.Equal(t, 1, stalled.Handler)
		assert.Equal(t, "llm_stream_interrupted", stalled.Event)
		assert.Equal(t, time.Second, stalled.Limit)
		assert.Len(t, events.names(), 5)
		assert.Contains(t, log.lines, "before handler_stalled")

		close(release)
		ctLetGo(t, inner)
		r = ctStream(t.Context(), m) // another call: script ended
		require.Error(t, r.err)
	})
}

func TestAllHandlersBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		block := continuation.WithHandler(callbacks.HandlerFunc(func(context.Context, callbacks.Event) { <-release }))
		m, err := continuation.New(ctBroken(), ctNow(), block, block, block)
		require.NoError(t, err)
		began := time.Now()
		r := ctStream(t.Context(), m)
		require.NoError(t, r.err)
		assert.LessOrEqual(t, time.Since(began), 3*time.Second)
		close(release)
	})
}

// TestHandlersComeBeforeTheNextChunk: what happened is known before what follows is read.
func TestHandlersComeBeforeTheNextChunk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &ctLog{}
		slow := continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
			<-time.After(900 * time.Millisecond)
			log.add(e.Name())
		}))
		m, _ := ctWrap(t, ctBroken(), ctNow(), slow)
		reader, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		defer reader.Close()
		for err == nil {
			var msg *schema.Message
			if msg, err = reader.Recv(); err == nil && msg.Content != "" {
				log.add(msg.Content)
			}
		}
		assert.Equal(t, []string{
			"Hello ", "llm_stream_interrupted", "llm_stream_continuation_started", "llm_stream_joined", "world.", "llm_stream_continuation_completed",
			"llm_stream_ended",
		}, log.lines)
	})
}

func TestHandlerMayCloseTheReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reader *schema.StreamReader[*schema.Message]
		inner := ctBroken()
		m, events := ctWrap(t, inner, continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
			if _, ok := e.(callbacks.Started); ok {
				reader.Close()
			}
		})))
		reader, _ = m.Stream(t.Context(), ctInput())
		began := time.Now()
		var err error
		for err == nil {
			_, err = reader.Recv()
		}
		require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
		assert.Zero(t, time.Since(began))
		assert.Equal(t, "reader_closed", ctOnly[callbacks.Cancelled](t, events).Reason)
		ctLetGo(t, inner)
		assert.Len(t, inner.Requests(), 1)
	})
}

func TestWhoseEventsTheyAre(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.Respond(func(n int, _ []*schema.Message) fm.Script {
			if n%2 == 0 {
				return fm.Script{fm.Text("Hello "), fm.Reset()}
			}

			return fm.Script{fm.Text("world."), fm.Finish("stop")}
		}).TypeName("OpenAI")
		m, events := ctWrap(t, inner, ctNow())
		ctx := continuation.ContextWithRunID(t.Context(), "run-7")
		in := []*schema.Message{schema.UserMessage("Hi"), schema.AssistantMessage("Hi.", nil), schema.UserMessage("And?")}
		require.NoError(t, ctStreamOf(ctx, m, in, model.WithModel("small")).err)
		require.NoError(t, ctStreamOf(t.Context(), m, ctInput()).err)

		ids := map[string]bool{}
		for i, e := range events.list() {
			of := e.Of()
			ids[of.CallID] = true
			want := callbacks.Call{CallID: of.CallID, Provider: "OpenAI", Model: "small", RunID: "run-7", TurnID: "2"}
			if i >= 4 {
				want = callbacks.Call{CallID: of.CallID, Provider: "OpenAI", Model: "unknown", TurnID: "1"}
			}
			assert.Equal(t, want, of, strconv.Itoa(i))
		}
		assert.Len(t, ids, 2)
		assert.NotContains(t, ids, "")
	})
	t.Run("by options", func(t *testing.T) {
		t.Parallel()
		_, events, _ := ctRun(t, ctBroken(), continuation.WithIdentity("Acme", "large"), continuation.WithRunID(func(context.Context) string { return "mine" }))
		of := ctOnly[callbacks.Completed](t, events).Call
		assert.Equal(t, callbacks.Call{CallID: of.CallID, Provider: "Acme", Model: "large", RunID: "mine", TurnID: "1"}, of)
	})
}

// TestEventsHoldNoText looks for the prompt, the answer, arguments and reasoning in the events of a call with everything.
func TestEventsHoldNoText(t *testing.T) {
	t.Parallel()
	inner := fm.New(
		fm.Script{fm.Reasoning("SECRET thought"), fm.Reset()},
		fm.Script{fm.Text("SECRET answer "), fm.Call(0, "c1", "add", `{"SECRET":`), fm.Reset()},
		fm.Script{fm.Text("SECRET rest "), fm.Call(0, "c2", "add", `{"SECRET":1}`), fm.Call(1, "c3", "sub", `{"SECRET":`), fm.Reset()},
	)
	synctest.Test(t, func(t *testing.T) {
		m, events := ctWrap(t, inner)
		r := ctStreamOf(t.Context(), m, []*schema.Message{schema.UserMessage("SECRET question")})
		require.NoError(t, r.err)
		require.Len(t, ctOf[callbacks.Interrupted](events), 3)
		for _, e := range events.list() {
			text, err := json.Marshal(e)
			require.NoError(t, err)
			assert.NotContains(t, string(text), "SECRET", e.Name())
		}
	})
}
