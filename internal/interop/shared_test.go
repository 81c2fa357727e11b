package interop

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestOneModelServesManyAtOnce breaks a hundred streams of one decorated model in all ways, at the same time.
func TestOneModelServesManyAtOnce(t *testing.T) {
	const streams = 100
	a := thoughtTextAnswer()
	faults := []faultllm.Fault{
		faultllm.None(), faultllm.Reset(faultllm.InText(1)), faultllm.CleanEnd(faultllm.InReasoning(1)), refuse(503),
		faultllm.CutLine(faultllm.InText(2)), faultllm.CutChunked(faultllm.BeforeHeaders()), faultllm.NoFinish(),
	}
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: a.answer}},
		Plan: func(arrival faultllm.Arrival) faultllm.Fault {
			if arrival.Attempt > 0 {
				return faultllm.None()
			}

			return faults[arrival.N%len(faults)]
		},
	})
	m, whole := r.wrap(), answerOf(t, a.answer)

	var all sync.WaitGroup
	for n := range streams {
		all.Go(func() {
			reader, err := m.Stream(t.Context(), []*schema.Message{schema.UserMessage(fmt.Sprintf("Question %d.", n))})
			if !assert.NoError(t, err) {
				return
			}
			defer reader.Close()
			chunks, err := drain(reader)
			if !assert.NoError(t, err) {
				return
			}
			got, err := schema.ConcatMessages(chunks)
			if assert.NoError(t, err) {
				assert.Equal(t, whole.Content, got.Content)
				assert.Equal(t, whole.ReasoningContent, continuation.Repair(got).ReasoningContent)
			}
		})
	}
	all.Wait()
	assert.NotEmpty(t, eventsOf[callbacks.OpenRetried](r.events))
	assert.NotEmpty(t, eventsOf[callbacks.Completed](r.events))
	assert.Empty(t, eventsOf[callbacks.Exhausted](r.events))
}

// TestATokenLimitIsNotGivenTwice lowers the caller's limit by what the broken attempt has used of it.
func TestATokenLimitIsNotGivenTwice(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: textAnswer().answer}},
		Plan:   faultllm.InOrder(faultllm.Reset(faultllm.InText(5)), faultllm.Reset(faultllm.BeforeHeaders())),
	})
	chunks, err := stream(t.Context(), r.wrap(), model.WithMaxTokens(1000))
	require.NoError(t, err)
	assert.Equal(t, textAnswer().answer.Text(), concat(t, chunks).Content)
	records := r.ledger(t).Records
	require.Len(t, records, 3)
	assert.Equal(t, 1000, records[0].Request.MaxTokens)
	for _, rec := range records[1:] {
		assert.Less(t, rec.Request.MaxTokens, 1000)
		assert.Greater(t, rec.Request.MaxTokens, 900)
	}
}

// TestGenerateThroughTheStream heals an answer that nobody watches.
func TestGenerateThroughTheStream(t *testing.T) {
	for _, a := range answers() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, plainTransport, faultllm.Config{
				Script: faultllm.Script{{Answer: a.answer}},
				Plan:   faultllm.InOrder(refuse(503), faultllm.Reset(a.places[3].at)),
			})
			got, err := r.wrap(continuation.WithStreamingGenerate()).Generate(t.Context(), question())
			require.NoError(t, err)
			whole := answerOf(t, a.answer)
			assert.Equal(t, whole.Content, got.Content)
			assert.Equal(t, whole.ToolCalls, got.ToolCalls)
		})
	}
}

// TestGenerateAsksAgain repeats what was refused for the moment, or broke on the way.
func TestGenerateAsksAgain(t *testing.T) {
	a := toolAnswer().answer
	r := newRig(t, recordingTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: a}}, Plan: faultllm.InOrder(refuse(429), faultllm.CutChunked(faultllm.InText(1))),
	})
	got, err := r.wrap().Generate(t.Context(), question())
	require.NoError(t, err)
	assert.Equal(t, a.Text(), got.Content)
	require.Len(t, got.ToolCalls, 1)
	assert.Len(t, eventsOf[callbacks.OpenRetried](r.events), 2)
	assert.Equal(t, 3, r.ledger(t).Requests)
}
