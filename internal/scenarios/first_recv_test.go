package scenarios_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestEveryErrorAtEveryPlace: an error is recovered from wherever it comes: by Stream, by the first Recv, behind chunks
// that say nothing, and behind each that says something.
func TestEveryErrorAtEveryPlace(t *testing.T) {
	t.Parallel()
	var v any
	answer := fm.Script{
		fm.Role(), fm.Reasoning("Hm."), fm.Text("The harbour was quiet "), fm.Text("that morning, "), fm.Usage(3, 9), fm.Text("all day."), fm.Finish("stop"),
	}
	for label, err := range map[string]error{
		// https://github.com/spring-projects/spring-ai/issues/847
		"B158 a retry guards only how the stream is made": &status{HTTPStatusCode: 503, Message: "unavailable"},
		// https://github.com/langchain4j/langchain4j/issues/681
		"B159 a stream is not retried at all": fm.ResetError(),
		// https://github.com/RooCodeInc/Roo-Code/issues/324
		"B161 a stream that cannot be parsed": json.Unmarshal([]byte(`{"choices":[`), &v),
		// https://github.com/aaif-goose/goose/issues/10897
		"B162 a body that cannot be decoded": errors.New("error decoding response body: malformed chunked encoding"),
		// https://github.com/Quorinex/Kiro-Go/issues/142
		"B165 the body is cut in front of the first delta": fmt.Errorf("read: %w", io.ErrUnexpectedEOF),
		// https://github.com/openai/openai-python/issues/2356
		"B166 the body is cut after minutes": io.ErrUnexpectedEOF,
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			everyBreak(t, "OpenAI", answer, answer.Chunks()-1, func() fm.Step { return fm.Fail(err) })
			everyBreak(t, "FaultModel", answer, 1, func() fm.Step { return fm.OpenFail(err) })
		})
	}
	// https://github.com/aaif-goose/goose/pull/10968
	t.Run("B170 too many requests, said by the first Recv", func(t *testing.T) {
		t.Parallel()
		for name, first := range map[string]fm.Script{"first": {}, "role": {fm.Role()}, "usage": {fm.Usage(3, 0)}} {
			g := play(t, fm.New(append(first, fm.Fail(comeBack(429, "Retry-After", "8"))), answer))
			require.NoError(t, g.err, name)
			assert.Equal(t, answer.Text(), g.text(), name)
			assert.GreaterOrEqual(t, g.took, 8*time.Second, name)
			assert.LessOrEqual(t, g.took, 10*time.Second, name)
		}
	})
}

// TestAfterTheLastAttempt: what came is in the error, and so is what broke it at last.
func TestAfterTheLastAttempt(t *testing.T) {
	t.Parallel()
	// https://github.com/openai/codex/issues/19121
	t.Run("B163 reconnecting five of five, and nothing is left", func(t *testing.T) {
		t.Parallel()
		causes := []error{
			fm.ResetError(), io.ErrUnexpectedEOF, &status{Type: "overloaded_error"}, syscall.EPIPE, errors.New("http2: client connection lost"),
			&status{HTTPStatusCode: 500, Message: "the last one"},
		}
		g := play(t, fm.Respond(func(n int, _ []*schema.Message) fm.Script {
			return fm.Script{fm.Text(fmt.Sprintf("part %d; ", n)), fm.Fail(causes[n])}
		}))
		var exhausted *continuation.ExhaustedError
		require.ErrorAs(t, g.err, &exhausted)
		assert.Equal(t, "part 0; part 1; part 2; part 3; part 4; part 5; ", exhausted.Partial.Content)
		assert.Equal(t, exhausted.Partial.Content, g.text())
		assert.Equal(t, 5, exhausted.Attempts)
		require.ErrorIs(t, g.err, causes[0])
		require.ErrorIs(t, g.err, causes[5])
		assert.Contains(t, g.err.Error(), "the last one")
		assert.GreaterOrEqual(t, g.took, (1+2+4+8+16)*time.Second)
	})
}

// TestContinuationStreams: the rest comes as it is written, not in one piece.
func TestContinuationStreams(t *testing.T) {
	t.Parallel()
	// https://github.com/CyberShadow/CyDo/pull/6
	t.Run("B169 the rest is asked for without streaming", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			second := fm.Script{}
			for i := range 6 {
				second = append(second, fm.Text(fmt.Sprintf("Sentence %d is about something else. ", i)), fm.Idle(10*time.Second))
			}
			inner := fm.New(fm.Script{fm.Text("It begins. "), fm.Reset()}, append(second, fm.Finish("stop")))
			r, err := continuation.Wrap(inner, now()).Stream(t.Context(), hi())
			require.NoError(t, err)
			defer r.Close()
			began, at := time.Now(), []time.Duration{}
			for c, err := r.Recv(); err == nil; c, err = r.Recv() {
				if c.Content != "" {
					at = append(at, time.Since(began).Truncate(time.Second))
				}
			}
			const s = time.Second
			assert.Equal(t, []time.Duration{0, 0, 10 * s, 20 * s, 30 * s, 40 * s, 50 * s}, at)
			for _, request := range inner.Requests() {
				assert.False(t, request.Generate)
			}
		})
	})
}
