//go:build unix

package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// branches is how many models run side by side under one run id.
const branches = 4

func branchText(i int) string {
	return fmt.Sprintf("%d is the number of this branch. ", i) + []string{first, second, third, second + third}[i]
}

// runGraph runs a graph of models side by side, says what each of them delivers, and commits.
func (c *child) runGraph(ctx context.Context, store checkpointstore.Store) error {
	ctx = continuation.ContextWithRunID(ctx, c.RunID)
	chat, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: c.Provider, APIKey: "none", Model: "scripted-1"})
	if err != nil {
		return err
	}
	m, err := continuation.New(chat, continuation.WithCheckpoints(tellOf(store, c.said),
		continuation.FlushEvery(c.Every, c.Bytes), continuation.StartTimeout(20*time.Second), continuation.KeepUntilCommit(),
		continuation.MaxTakeovers(100)), continuation.WithBackoff(func(int) time.Duration { return 0 }))
	if err != nil {
		return err
	}
	g := compose.NewGraph[string, map[string]any]()
	for i := range branches {
		ask := compose.InvokableLambda(func(_ context.Context, about string) ([]*schema.Message, error) {
			return []*schema.Message{schema.UserMessage(fmt.Sprintf("Branch %d: %s", i, about))}, nil
		})
		asks, answers := fmt.Sprint("asks-", i), fmt.Sprint("answers-", i)
		err = errors.Join(err, g.AddLambdaNode(asks, ask), g.AddChatModelNode(answers, m, compose.WithOutputKey(fmt.Sprint(i))),
			g.AddEdge(compose.START, asks), g.AddEdge(asks, answers), g.AddEdge(answers, compose.END))
	}
	r, compiled := g.Compile(ctx)
	if err = errors.Join(err, compiled); err != nil {
		return err
	}
	out, err := r.Stream(ctx, "the move")
	if err == nil {
		err = c.hearBranches(out)
	}
	if err == nil {
		err = continuation.Commit(ctx, store, c.RunID)
	}
	if err != nil {
		c.said.say(line{Kind: saidFailed, Err: err.Error()})
	}
	c.said.say(line{Kind: saidEnd})

	return nil
}

func (c *child) hearBranches(out *schema.StreamReader[map[string]any]) error {
	defer out.Close()
	for {
		chunk, err := out.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range branches {
			if m, ok := chunk[fmt.Sprint(i)].(*schema.Message); ok && m.Content != "" {
				c.said.say(line{Kind: saidChunk, N: i, Text: m.Content})
			}
		}
	}
}

// TestKilledGraph: models that run side by side under one run id do not disturb each other's checkpoints, and each goes on
// where it was.
func TestKilledGraph(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		random := rand.New(rand.NewPCG(*seed, 4))
		for run := range max(1, *kills/20) {
			w := newGraphWorld(t, at, fmt.Sprint("graph-", run), nil)
			for range 3 {
				n := 20 + random.IntN(120)
				w.live(t, func(line) bool { n--; return n < 0 })
			}
			w.live(t, func(line) bool { return false })
			w.settle(t, s)
			t.Logf("%d tokens were billed, %d are needed", w.provider.Ledger().Completion, w.needed)
		}
	})
}

// TestKilledGraphPaysOnce: what was in the store when the process died is not asked for again. The provider waits in the
// middle of each answer until the dead one has all that came, so that no token is on its way when it dies.
func TestKilledGraphPaysOnce(t *testing.T) {
	t.Parallel()
	const half = 100 // bytes; whole tokens
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		w := newGraphWorld(t, at, "graph", faultllm.ByAttempt(faultllm.Stall(faultllm.InTextBytes(half))))
		stored := make(map[string]bool)
		w.live(t, func(l line) bool {
			if l.Kind == saidPutEnd && l.Size >= half {
				stored[l.Key] = true
			}

			return len(stored) == branches
		})
		assert.Len(t, stored, branches, "each had stored what came")
		w.live(t, func(line) bool { return false })
		w.settle(t, s)
		assert.Equal(t, w.needed, w.provider.Ledger().Completion, "tokens billed")
	})
}

// graphWorld is what the processes of a graph find.
type graphWorld struct {
	child
	provider *faultllm.Server
	needed   int // tokens
	last     *process
}

func newGraphWorld(t *testing.T, at place, runID string, plan faultllm.Plan) *graphWorld {
	t.Helper()
	w := &graphWorld{}
	var script faultllm.Script
	for i := range branches {
		a := faultllm.Answer{Parts: []faultllm.Part{faultllm.Say(branchText(i))}}
		script = append(script, faultllm.Turn{Says: fmt.Sprintf("Branch %d:", i), Answer: a})
		w.needed += faultllm.Needed(a)
	}
	provider, err := faultllm.Start(faultllm.Config{Script: script, PieceSize: 8, Pace: time.Millisecond, Plan: plan})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, provider.Close()) })
	w.provider = provider
	w.child = child{
		Place: at, Provider: provider.URL(), RunID: runID, Journal: filepath.Join(t.TempDir(), "none"),
		Graph: true, Every: 15 * time.Millisecond, Bytes: 256,
	}

	return w
}

// live lets a process live until it says what is waited for, or to its end.
func (w *graphWorld) live(t *testing.T, until func(line) bool) {
	t.Helper()
	asked := w.provider.Ledger().Requests
	w.last = w.start(t)
	if w.last.until(t, until) {
		w.last.kill(t)
	} else {
		w.last.wait(t)
	}
	goesOn(t, w.last, w.provider, asked)
}

// settle checks what the last process showed and left.
func (w *graphWorld) settle(t *testing.T, s checkpointstore.Store) {
	t.Helper()
	keys := make(map[string]bool)
	for _, l := range w.last.said {
		assert.NotEqual(t, saidFailed, l.Kind, l.Err)
		if l.Kind == saidGot {
			keys[l.Key] = true
		}
	}
	assert.Len(t, keys, branches, "each has a key of its own")
	for key := range keys {
		_, err := s.Get(t.Context(), key)
		require.ErrorIs(t, err, checkpointstore.ErrNotFound, "nothing stays in the store")
	}
	for i, text := range w.last.shown() {
		assert.Equal(t, branchText(i), text)
	}
	assert.Len(t, w.last.shown(), branches)
}

// goesOn checks that each branch is asked for from where the store's text ends.
func goesOn(t *testing.T, p *process, provider *faultllm.Server, asked int) {
	t.Helper()
	require.NoError(t, provider.WaitIdle(t.Context()))
	for _, r := range provider.Ledger().Records[asked:] {
		want := 0
		for _, l := range p.said {
			if l.Kind == saidGot && l.Text != "" && strings.HasPrefix(branchText(r.Turn), l.Text) {
				want = len(strings.TrimRight(l.Text, " "))
			}
		}
		assert.Equal(t, want, r.From, "branch %d", r.Turn)
	}
}
