package continuation_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
)

// Each chunk is read before the provider makes the next one: of the original answer, of a continuation once it is
// joined, of a restart, of reasoning, and beside a held tool call.
func TestExhaustiveNothingIsDrained(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		gate := faultmodel.Gate(nil, release)
		m := faultmodel.New(
			faultmodel.Script{
				faultmodel.Reasoning("Hm, "), gate, faultmodel.Reasoning("well."), gate, faultmodel.Reset(),
			},
			faultmodel.Script{
				faultmodel.Reasoning("I see."), gate, faultmodel.Text("One boat "), gate, faultmodel.Text("left."), gate,
				faultmodel.Call(0, "call_1", "search", `{"q":`), faultmodel.Reasoning("late"), gate, faultmodel.Reset(),
			},
			faultmodel.Script{
				faultmodel.Text(" Two crews rowed home."), gate, faultmodel.Text(" It"), gate, faultmodel.Text(" rained."), gate,
				faultmodel.Finish("stop"),
			},
		)
		reader, err := continuation.Wrap(m).Stream(t.Context(), exInput(), exOptions()...)
		require.NoError(t, err)
		defer reader.Close()
		for _, want := range []string{
			"Hm, ", "well.", "I see.", "One boat ", "left.", "late", " Two crews rowed home.", " It", " rained.",
		} {
			chunk, err := reader.Recv() // in a bubble this would be a deadlock if it needed the next chunk
			require.NoError(t, err)
			require.Equal(t, want, chunk.Content+chunk.ReasoningContent)
			release <- struct{}{}
		}
		chunk, err := reader.Recv()
		require.NoError(t, err)
		require.Equal(t, "stop", chunk.ResponseMeta.FinishReason)
		_, err = reader.Recv()
		require.ErrorIs(t, err, io.EOF)
		require.Len(t, m.Requests(), 3)
	})
}

// exGuest is one of many callers of the same decorator.
type exGuest struct {
	number int
	cause  exCause
	at     int
	tools  bool
}

func exGuestOf(n int) exGuest {
	causes := exCauses()

	return exGuest{number: n, cause: causes[n%len(causes)], at: 1 + n%4, tools: n%3 == 0}
}

func (g exGuest) name() string { return fmt.Sprintf("guest %03d", g.number) }

func (g exGuest) answer() faultmodel.Script {
	script := faultmodel.Script{
		faultmodel.Text(g.name()), faultmodel.Text(" asked, "), faultmodel.Text("waited and "), faultmodel.Text("went home."),
	}
	if g.tools {
		return append(script, faultmodel.Call(0, g.name(), "search", `{"q":`), faultmodel.Call(0, "", "", `1}`),
			faultmodel.Finish("tool_calls"))
	}

	return append(script, faultmodel.Finish("stop"))
}

// exServeGuests answers each guest as a continuer would, and breaks each guest's first answer.
func exServeGuests(_ int, input []*schema.Message) faultmodel.Script {
	var g exGuest
	for n := range 100 {
		if g = exGuestOf(n); input[0].Content == g.name() {
			break
		}
	}
	if len(input) > 1 {
		return g.answer().From(len(input[1].Content))
	}

	return append(append(faultmodel.Script{}, g.answer()[:g.at]...), g.cause.steps...)
}

// One decorator serves a hundred goroutines, each with a fault of its own.
func TestExhaustiveConcurrent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := faultmodel.Respond(exServeGuests).TypeName("OpenAI")
		stats := &exTranscript{}
		decorated := continuation.Wrap(m, continuation.WithHandler(stats))
		var all sync.WaitGroup
		for n := range 100 {
			all.Go(func() {
				g := exGuestOf(n)
				run := exReadAll(t.Context(), decorated, &exTranscript{}, []*schema.Message{schema.UserMessage(g.name())})
				if !assert.NoError(t, run.err, g.name()) || !assert.NoError(t, run.streamErr) {
					return
				}
				message, err := schema.ConcatMessages(run.chunks)
				assert.NoError(t, err)
				want := g.answer().Message(t)
				want.Extra = map[string]any{"carryon_continuations": 1}
				assert.Equal(t, want, message)
			})
		}
		all.Wait()
		synctest.Wait()
		require.Zero(t, m.Unclosed())
		require.Len(t, m.Requests(), 200)
		calls := make(map[string][]callbacks.Event)
		for _, line := range stats.lines {
			calls[line.event.Of().CallID] = append(calls[line.event.Of().CallID], line.event)
		}
		require.Len(t, calls, 100, "each call has an id of its own")
		for _, events := range calls {
			exCheckGrammar(t, exTranscriptOf(events), true)
		}
	})
}

func exTranscriptOf(events []callbacks.Event) *exTranscript {
	l := &exTranscript{}
	for _, e := range events {
		l.add(exLine{event: e})
	}

	return l
}

// While a call is held, its progress is told at most four times a second, and the call comes in one piece.
func TestExhaustiveProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		script := faultmodel.Script{faultmodel.Call(0, "call_1", "search", `{"q":"`)}
		for range 100 {
			script = append(script, faultmodel.Idle(30*time.Millisecond), faultmodel.Call(0, "", "", "x"))
		}
		script = append(script, faultmodel.Call(0, "", "", `"}`), faultmodel.Finish("tool_calls"))
		run := exStream(t, faultmodel.New(script), exInput())
		require.Equal(t, `{"q":"`+strings.Repeat("x", 100)+`"}`, run.message(t).ToolCalls[0].Function.Arguments)
		progress := exEvents[callbacks.ToolCallProgress](run.log)
		limit := int(run.took.Milliseconds())/250 + 1
		require.LessOrEqual(t, len(progress), limit)
		require.GreaterOrEqual(t, len(progress), limit/2)
		for n, e := range progress {
			require.Equal(t, "call_1", e.ID)
			require.Equal(t, "search", e.ToolName)
			require.True(t, n == 0 || e.Bytes > progress[n-1].Bytes)
		}
		require.Len(t, run.chunks, 2)
	})
}
