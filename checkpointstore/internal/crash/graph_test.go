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
	m, err := continuation.New(chat, continuation.WithCheckpoints(telling{store, c.said},
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
	var script faultllm.Script
	needed := 0
	for i := range branches {
		a := faultllm.Answer{Parts: []faultllm.Part{faultllm.Say(branchText(i))}}
		script = append(script, faultllm.Turn{Says: fmt.Sprintf("Branch %d:", i), Answer: a})
		needed += faultllm.Needed(a)
	}
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		random := rand.New(rand.NewPCG(*seed, 4))
		for run := range max(1, *kills/20) {
			provider, err := faultllm.Start(faultllm.Config{Script: script, PieceSize: 8, Pace: time.Millisecond})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, provider.Close()) })
			c := child{
				Place: at, Provider: provider.URL(), RunID: fmt.Sprint("graph-", run), Journal: filepath.Join(t.TempDir(), "none"),
				Graph: true, Every: 15 * time.Millisecond, Bytes: 256,
			}
			for range 3 {
				asked := provider.Ledger().Requests
				p := c.start(t)
				n := 20 + random.IntN(120)
				if p.until(t, func(line) bool { n--; return n < 0 }) {
					p.kill(t)
				}
				goesOn(t, p, provider, asked)
			}
			asked := provider.Ledger().Requests
			p := c.start(t)
			p.wait(t)
			goesOn(t, p, provider, asked)
			keys := make(map[string]bool)
			for _, l := range p.said {
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
			for i, text := range p.shown() {
				assert.Equal(t, branchText(i), text)
			}
			assert.Len(t, p.shown(), branches)
			billed := provider.Ledger().Completion
			assert.Less(t, billed, needed+3*branches*(256/4+10), "%d are needed", needed)
			t.Logf("%d tokens were billed, %d are needed", billed, needed)
		}
	})
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
