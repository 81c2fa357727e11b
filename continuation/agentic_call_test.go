package continuation_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestAgenticFailedResponse: a response whose status is an error is classified by that error, and the message that comes
// out says nothing of it.
func TestAgenticFailedResponse(t *testing.T) {
	t.Parallel()
	meta := func(s openai.ResponseStatus, e *openai.ResponseError) fm.Step {
		return agChunk(&schema.AgenticResponseMeta{OpenAIExtension: &openai.ResponseMetaExtension{Status: s, Error: e}}, nil)
	}
	for name, c := range map[string]struct {
		failure *openai.ResponseError
		class   continuation.Kind
		ends    bool
	}{
		"overloaded":  {&openai.ResponseError{Code: openai.ResponseErrorCodeServerError, Message: "The server had an error"}, continuation.Transient, false},
		"rate limit":  {&openai.ResponseError{Code: openai.ResponseErrorCodeRateLimitExceeded, Message: "Slow down"}, continuation.RateLimited, false},
		"no error":    {nil, continuation.Transient, false},
		"bad request": {&openai.ResponseError{Code: openai.ResponseErrorCodeInvalidPrompt, Message: "Invalid prompt"}, continuation.InvalidRequest, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(
					fm.Script{fm.BlockText(0, "Hello wor"), meta(openai.ResponseStatusFailed, c.failure)},
					fm.Script{fm.BlockText(0, "ld."), meta(openai.ResponseStatusCompleted, nil)})
				inner.TypeName("OpenAI")
				chunks, err := agAsk(t, typed(t, inner))
				msg := fm.ConcatAgentic(t, chunks)
				if c.ends {
					require.Error(t, err)
					assert.Equal(t, c.class, continuation.DefaultClassifier(err).Kind)
					assert.Equal(t, "Hello wor", agText(msg))

					return
				}
				require.NoError(t, err)
				assert.Equal(t, "Hello world.", agText(msg))
				assert.Equal(t, &openai.ResponseMetaExtension{Status: openai.ResponseStatusCompleted}, msg.ResponseMeta.OpenAIExtension)
			})
		})
	}
}

// TestAgenticUsage: the message's usage is that of one answer, or what was billed.
func TestAgenticUsage(t *testing.T) {
	t.Parallel()
	usage := func(prompt, completion int) fm.Step {
		return agChunk(&schema.AgenticResponseMeta{TokenUsage: &schema.TokenUsage{
			PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion,
		}}, nil)
	}
	for name, c := range map[string]struct {
		opts []continuation.Option
		want schema.TokenUsage
	}{
		"one answer": {nil, schema.TokenUsage{PromptTokens: 10, CompletionTokens: 7, TotalTokens: 17}},
		"billed":     {[]continuation.Option{continuation.WithBilledUsage()}, schema.TokenUsage{PromptTokens: 24, CompletionTokens: 7, TotalTokens: 31}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(fm.Script{usage(10, 2), fm.BlockText(0, "Hello wor"), fm.Reset()},
					fm.Script{fm.BlockText(0, "ld."), fm.StopReason("end_turn", 14, 5)})
				chunks, err := agAsk(t, typed(t, inner, c.opts...))
				require.NoError(t, err)
				assert.Equal(t, c.want, *fm.ConcatAgentic(t, chunks).ResponseMeta.TokenUsage)
			})
		})
	}
}

// TestAgenticGenerate: Generate asks again, and can go through the recovering stream.
func TestAgenticGenerate(t *testing.T) {
	t.Parallel()
	end := fm.StopReason("end_turn", 1, 1)
	for name, c := range map[string]struct {
		scripts []fm.Script
		opts    []continuation.Option
	}{
		"as it is":   {[]fm.Script{{fm.BlockText(0, "Hello world."), end}}, nil},
		"once more":  {[]fm.Script{{fm.OpenFail(fm.ResetError())}, {fm.BlockText(0, "Hello world."), end}}, nil},
		"by streams": {[]fm.Script{{fm.BlockText(0, "Hello wor"), fm.Reset()}, {fm.BlockText(0, "ld."), end}}, []continuation.Option{continuation.WithStreamingGenerate()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.NewAgentic(c.scripts...)
				msg, err := typed(t, inner, c.opts...).Generate(t.Context(), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
				require.NoError(t, err)
				assert.Equal(t, "Hello world.", agText(msg))
				assert.Len(t, inner.Requests(), len(c.scripts))
			})
		})
	}
}

// TestAgenticWholeOutput: nothing but thoughts is shown of an answer that breaks, and it is asked for again.
func TestAgenticWholeOutput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.NewAgentic(
			fm.Script{fm.BlockThought(0, "Hm.", "sig"), fm.BlockText(1, `{"a":`), fm.Reset()},
			fm.Script{fm.BlockThought(0, "Well.", "sig"), fm.BlockText(1, `{"b":1}`), fm.StopReason("end_turn", 1, 1)})
		chunks, err := agAsk(t, typed(t, inner, continuation.WithWholeOutput()))
		require.NoError(t, err)
		clean := continuation.RepairTyped(fm.ConcatAgentic(t, chunks))
		require.Len(t, clean.ContentBlocks, 2)
		assert.Equal(t, "Well.", clean.ContentBlocks[0].Reasoning.Text)
		assert.JSONEq(t, `{"b":1}`, agText(clean))
		assert.Len(t, inner.Requests()[1].Agentic(), 1)
	})
}

// TestAgenticMedia: a delivered image cannot be continued.
func TestAgenticMedia(t *testing.T) {
	t.Parallel()
	image := fm.Block(1, schema.NewContentBlock(&schema.AssistantGenImage{URL: "https://example.com/a.png"}))
	_, err := agAsk(t, typed(t, fm.NewAgentic(fm.Script{fm.BlockText(0, "Look: "), image, fm.Reset()})))
	exhausted := (*continuation.ExhaustedError)(nil)
	require.ErrorAs(t, err, &exhausted)
	assert.Equal(t, continuation.ReasonMedia, exhausted.Reason)
	assert.Equal(t, "Look: ", exhausted.Partial.Content)
}

// TestAgenticControl: the caller's own end wins, and the request below ends with it.
func TestAgenticControl(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(context.CancelFunc, *schema.StreamReader[*schema.AgenticMessage]){
		"cancel": func(cancel context.CancelFunc, _ *schema.StreamReader[*schema.AgenticMessage]) { cancel() },
		"close":  func(_ context.CancelFunc, r *schema.StreamReader[*schema.AgenticMessage]) { r.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				inner := fm.NewAgentic(fm.Script{fm.BlockText(0, "Hello"), fm.Stall()})
				r, err := typed(t, inner).Stream(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
				require.NoError(t, err)
				defer r.Close()
				_, err = r.Recv()
				require.NoError(t, err)
				stop(cancel, r)
				_, err = r.Recv()
				require.Error(t, err)
				assert.False(t, errors.Is(err, continuation.ErrExhausted))
				synctest.Wait()
				assert.Zero(t, inner.Unclosed())
				assert.Len(t, inner.Requests(), 1)
			})
		})
	}
}

// TestAgenticNested: below another decorator one passes through.
func TestAgenticNested(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.NewAgentic(fm.Script{fm.BlockText(0, "Hello wor"), fm.Reset()}, fm.Script{fm.BlockText(0, "ld."), fm.StopReason("end_turn", 1, 1)})
		handler, events := agEvents()
		outer, err := continuation.NewTyped[*schema.AgenticMessage](typed(t, inner, handler))
		require.NoError(t, err)
		chunks, err := agAsk(t, outer)
		require.NoError(t, err)
		assert.Equal(t, "Hello world.", agText(fm.ConcatAgentic(t, chunks)))
		require.Len(t, events(), 2)
		for _, e := range events() {
			notice, ok := e.(callbacks.Notice)
			require.True(t, ok)
			assert.Equal(t, callbacks.NoticeNested, notice.Kind)
		}
	})
}
