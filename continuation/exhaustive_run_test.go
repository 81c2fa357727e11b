package continuation_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// exRun is one call of Stream, read to its end.
type exRun struct {
	log       *exTranscript
	streamErr error // of Stream itself
	err       error // nil for a clean end
	requests  []faultmodel.Request
	chunks    []*schema.Message
	took      time.Duration
}

// exStream asks a decorated m for input's answer, reads it, and checks what holds for every call: one message comes out,
// the transcript keeps its grammar, every attempt is cancelled and closed. It must run in a bubble, whose end fails for
// each goroutine that is left.
func exStream(t *testing.T, m *faultmodel.Model, input []*schema.Message, opts ...continuation.Option) exRun {
	t.Helper()
	log := &exTranscript{}
	live := 0 // attempts that went on when the next one was due
	watch := callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
		switch e.(type) {
		case callbacks.Started, callbacks.OpenRetried:
			for _, r := range m.Requests() {
				if !r.Cancelled {
					live++
				}
			}
		}
	})
	decorated := continuation.Wrap(m, append(
		[]continuation.Option{continuation.WithHandler(log), continuation.WithHandler(watch)}, opts...)...)
	run := exReadAll(t.Context(), decorated, log, input)
	synctest.Wait()
	run.requests = m.Requests()

	clean := run.err == nil && run.streamErr == nil
	exCheckGrammar(t, log, clean)
	end := log.end()
	require.Equal(t, clean, end.Outcome == callbacks.OutcomeComplete || end.Outcome == callbacks.OutcomeRecovered, end.Outcome)
	require.Len(t, run.requests, end.Requests)
	require.Equal(t, exLastReason(run.chunks), end.FinishReason, "of what the consumer got")
	require.Zero(t, m.Open(), "a script is still being played")
	require.Zero(t, m.Unclosed(), "a reader was not closed")
	require.Zero(t, live, "an attempt was left and not cancelled")
	for n, r := range run.requests {
		if n > 0 {
			before := run.requests[n-1]
			require.False(t, before.ClosedAt.After(r.At), "attempt %d was closed after the next one had begun", n-1)
		}
		require.True(t, r.Cancelled, "attempt %d was not cancelled", r.Number)
		require.Equal(t, exOptionsWant(), r.Options, "the options were not passed on as they are")
		require.Equal(t, exOwnOptions{Effort: "low"}, *model.GetImplSpecificOptions(&exOwnOptions{}, r.Raw...))
	}

	return run
}

// exLastReason returns the finish reason in the chunks; empty if there is none.
func exLastReason(chunks []*schema.Message) string {
	reason := ""
	for _, m := range chunks {
		if r := snapshot.FinishReason(m); r != "" {
			reason = r
		}
	}

	return reason
}

// exReadAll reads one answer of decorated to its end and closes the reader.
func exReadAll(ctx context.Context, decorated *continuation.Model, log *exTranscript, input []*schema.Message) exRun {
	run := exRun{log: log}
	began := time.Now()
	reader, err := decorated.Stream(ctx, input, exOptions()...)
	if err != nil {
		run.streamErr = err

		return run
	}
	defer reader.Close()
	for {
		m, err := reader.Recv()
		if err == nil {
			log.add(exLine{chunk: m})
			run.chunks = append(run.chunks, m)

			continue
		}
		if err != io.EOF { //nolint:errorlint // a clean end is io.EOF itself
			run.err = err
		}
		log.add(exLine{err: err})

		break
	}
	if _, err := reader.Recv(); err != io.EOF { //nolint:errorlint // as above
		run.err = errors.Join(run.err, errors.New("after its end the reader does not say EOF"), err)
	}
	run.took = time.Since(began)

	return run
}

func (r exRun) message(t *testing.T) *schema.Message {
	t.Helper()
	require.NoError(t, r.streamErr)
	require.NoError(t, r.err)

	return exIndexed(faultmodel.Concat(t, r.chunks))
}

// exInput is a conversation with a turn behind it. Each call returns an equal one that shares nothing with the others.
func exInput() []*schema.Message {
	index := 0

	return []*schema.Message{
		{Role: schema.System, Content: "Answer briefly."},
		{Role: schema.User, Content: "What does it say?", Extra: map[string]any{"seen": []string{"a"}}},
		{
			Role: schema.Assistant, Content: "I shall see.", Extra: map[string]any{"trace": map[string]any{"id": "t-0"}},
			ToolCalls: []schema.ToolCall{{
				Index: &index, ID: "call_0", Type: "function",
				Function: schema.FunctionCall{Name: "read", Arguments: `{"path":"note.txt"}`},
				Extra:    map[string]any{"signature": []byte{7}},
			}},
		},
		{Role: schema.Tool, Content: "Bring bread.", ToolCallID: "call_0", ToolName: "read"},
		{Role: schema.User, Content: "And now?"},
	}
}

// exOwnOptions are options that only one client knows.
type exOwnOptions struct{ Effort string }

func exOptions() []model.Option {
	return append(make([]model.Option, 0, 8),
		model.WithTemperature(0.25), model.WithModel("tiny-1"), model.WithStop([]string{"###"}),
		model.WithTools([]*schema.ToolInfo{{Name: "search", Desc: "looks it up"}}),
		model.WrapImplSpecificOptFn(func(o *exOwnOptions) { o.Effort = "low" }),
	)
}

func exOptionsWant() model.Options { return *model.GetCommonOptions(nil, exOptions()...) }

// exCell is one answer that breaks once, at one place, from one cause.
type exCell struct {
	script exScript
	typ    string // of the client; an unknown one if empty
	usage  bool   // the model reports what it bills
	at     int    // chunks before the break
	cause  exCause
}

func (c exCell) model(breaks ...faultmodel.Break) *faultmodel.Model {
	m := faultmodel.Continuer(c.script.script(), breaks...)
	if c.usage {
		m.WithUsage()
	}
	if c.typ != "" {
		m.TypeName(c.typ)
	}

	return m
}

// bare returns the chunks of the unbroken answer.
func (c exCell) bare(t *testing.T) []*schema.Message {
	t.Helper()
	reader, err := c.model().Stream(t.Context(), exInput(), exOptions()...)
	require.NoError(t, err)
	chunks, err := faultmodel.Collect(reader)
	require.NoError(t, err)

	return chunks
}

// exEachSetting runs f for every script, for a known client with and without usage, and for an unknown one.
func exEachSetting(t *testing.T, f func(t *testing.T, c exCell)) {
	t.Helper()
	settings := map[string]exCell{
		"known": {typ: "OpenAI"}, "known with usage": {typ: "OpenAI", usage: true}, "unknown": {},
	}
	for _, script := range exScripts() {
		for name, c := range settings {
			c.script = script
			t.Run(script.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				f(t, c)
			})
		}
	}
}
