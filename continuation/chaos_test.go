package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
	"github.com/eino-carryon/carryon/snapshot"
)

// chSeeds is how many calls each of the tests below makes up.
const chSeeds = 800

// chEach plays f in a bubble of its own for each seed. What f makes up comes from r alone, so that a seed is a test.
func chEach(t *testing.T, f func(t *testing.T, r *rand.Rand)) {
	t.Helper()
	seeds := chSeeds
	if testing.Short() {
		seeds /= 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprintf("%04d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, rand.New(rand.NewPCG(uint64(seed), 1))) })
		})
	}
}

type chReader = *schema.StreamReader[*schema.Message]

// chConsume reads d's answer, now and then after a pause, and does stop after some time if it is not nil.
func chConsume(
	ctx context.Context, t *testing.T, r *rand.Rand, d *continuation.Model, log *exTranscript, stop func(chReader),
) exRun {
	t.Helper()
	run := exRun{log: log}
	reader, err := d.Stream(ctx, exInput(), exOptions()...)
	if err != nil {
		return exRun{log: log, streamErr: err}
	}
	defer reader.Close()
	if stop != nil {
		after := time.Duration(r.IntN(20_000)) * time.Millisecond
		defer time.AfterFunc(after, func() { stop(reader) }).Stop()
	}
	for {
		if chChance(r, 5) {
			<-time.After(time.Duration(r.IntN(10_000)) * time.Millisecond)
		}
		m, err := reader.Recv()
		if err == nil {
			log.add(exLine{chunk: m})
			run.chunks = append(run.chunks, m)

			continue
		}
		if err != io.EOF { //nolint:errorlint // a clean end is io.EOF itself
			run.err = err
		}
		break
	}
	_, err = reader.Recv()
	require.Equal(t, io.EOF, err, "after its end the reader says EOF")

	return run
}

func chSettled(t *testing.T, m *fm.Model) {
	t.Helper()
	synctest.Wait()
	require.Zero(t, m.Open(), "a script is still being played")
	require.Zero(t, m.Unclosed(), "a reader was not closed")
}

func chWrap(r *rand.Rand, m *fm.Model, log *exTranscript) *continuation.Model {
	opts := []continuation.Option{
		continuation.WithHandler(log), continuation.WithMaxContinuations(9), continuation.WithOpenRetries(5),
		continuation.WithFinishReasonRequired(true),
	}
	if chChance(r, 30) {
		opts = append(opts, continuation.WithDialect(continuation.Prefill()))
	}
	if chChance(r, 15) {
		opts = append(opts, continuation.WithWholeOutput())
	}
	if chChance(r, 50) {
		m.TypeName([]string{"OpenAI", "DeepSeek", "Gemini"}[r.IntN(3)])
	}

	return continuation.Wrap(m, opts...)
}

// TestChaosHonest breaks made up answers at made up places: what comes out is the answer, or its beginning and the tool
// calls that came whole.
func TestChaosHonest(t *testing.T) {
	t.Parallel()
	chEach(t, func(t *testing.T, r *rand.Rand) {
		t.Helper()
		answer := chAnswer(r)
		m, log := fm.Continuer(answer, chBreaks(r, answer.Chunks())...), &exTranscript{}
		if chChance(r, 50) {
			m.WithUsage()
		}
		d := chWrap(r, m, log)
		run := chConsume(t.Context(), t, r, d, log, nil)
		chSettled(t, m)
		defer chLog(t, log)
		require.NoError(t, run.streamErr)
		require.NoError(t, run.err)
		exCheckGrammar(t, log, true)

		want, got := answer.Message(t), continuation.Repair(run.message(t))
		require.Equal(t, want.ReasoningContent, got.ReasoningContent)
		require.Equal(t, "id", got.Extra["_eino_msg_id"])
		require.Equal(t, "t", got.Extra["trace"])
		require.Equal(t, 1, chReasons(run.chunks), "one finish reason")
		tools := slices.ContainsFunc(exEvents[callbacks.Started](log), func(e callbacks.Started) bool {
			return e.Plan == snapshot.SynthesizeToolUse
		})
		if !tools {
			require.Equal(t, want.Content, got.Content)
			require.Equal(t, want.ToolCalls, got.ToolCalls)
			require.Equal(t, want.ResponseMeta.FinishReason, got.ResponseMeta.FinishReason)

			return
		}
		require.True(t, strings.HasPrefix(want.Content, got.Content), "%q", got.Content)
		require.Equal(t, "tool_calls", got.ResponseMeta.FinishReason)
		require.NotEmpty(t, got.ToolCalls)
		for _, c := range got.ToolCalls {
			i := slices.IndexFunc(want.ToolCalls, func(w schema.ToolCall) bool { return w.ID == c.ID })
			require.GreaterOrEqual(t, i, 0)
			require.Equal(t, want.ToolCalls[i].Function, c.Function)
		}
	})
}

func chLog(t *testing.T, log *exTranscript) {
	t.Helper()
	if t.Failed() {
		t.Log(log)
	}
}

func chReasons(chunks []*schema.Message) int {
	n := 0
	for _, m := range chunks {
		if m.ResponseMeta != nil && m.ResponseMeta.FinishReason != "" {
			n++
		}
	}

	return n
}

// TestChaosRepeats is about models that repeat what they are shown, in part or, where there is enough of it to tell, all.
func TestChaosRepeats(t *testing.T) {
	t.Parallel()
	chEach(t, func(t *testing.T, r *rand.Rand) {
		t.Helper()
		word := 0
		text := chText(r, 30+r.IntN(60), &word)
		var chunks []*schema.Message
		for _, s := range chPieces(r, text, []int{5, 30, 200}[r.IntN(3)]) {
			chunks = append(chunks, exText(s))
		}
		answer := exSteps(append(chunks, exFinish("stop"))...)
		at, size := 0, 0
		for size < 80 {
			size += len(chunks[at].Content)
			at++
		}
		at += r.IntN(len(chunks) - at + 1)
		m, log := fm.Continuer(answer, fm.BreakAt(at, chFault(r, true)...)), &exTranscript{}
		if chChance(r, 50) {
			m.WithRestart()
		} else {
			m.WithWordsRepeat(30 + r.IntN(300))
		}
		d := continuation.Wrap(m, continuation.WithHandler(log), continuation.WithDialect(continuation.UserTurn()))
		run := chConsume(t.Context(), t, r, d, log, nil)
		chSettled(t, m)
		defer chLog(t, log)
		exCheckGrammar(t, log, run.err == nil)
		require.Equal(t, text, run.message(t).Content)
	})
}

// TestChaosWild plays scripts in which nothing fits, to consumers that stop at any time: every call ends, nothing is left
// running, and what was delivered adds up to one message.
func TestChaosWild(t *testing.T) {
	t.Parallel()
	chEach(t, func(t *testing.T, r *rand.Rand) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		scripts := rand.New(rand.NewPCG(r.Uint64(), 2)) // of the model's goroutine
		m := fm.Respond(func(int, []*schema.Message) fm.Script { return chWildScript(scripts) })
		stop := []func(chReader){nil, nil, chReader.Close, func(chReader) { cancel() }}[r.IntN(4)]
		log := &exTranscript{}
		d := chWrap(r, m, log)
		run := chConsume(ctx, t, r, d, log, stop)
		chSettled(t, m)
		defer chLog(t, log)

		events := &exTranscript{} // what chunks must be is checked below: those of a broken model keep no rules
		for _, line := range log.lines {
			if line.event != nil {
				events.add(line)
			}
		}
		closed := errors.Is(run.err, schema.ErrRecvAfterClosed) // the answer may have been whole by then
		exCheckGrammar(t, events, run.err == nil && run.streamErr == nil || closed)
		_, err := schema.ConcatMessages(run.chunks)
		require.NoError(t, err)
		for _, c := range run.chunks {
			for _, call := range c.ToolCalls {
				require.NotNil(t, call.Index)
			}
		}
	})
}
