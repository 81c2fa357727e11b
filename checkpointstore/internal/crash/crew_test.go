//go:build unix

package crash

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// The crew is an agent that asks four others at once, each of them a tool of it, in one turn.
const (
	crewOrder = "Four of you look at it. "
	crewFinal = "All four have looked, and the flat is large enough."
)

func crewName(i int) string { return fmt.Sprint("branch-", i) }

func crewScript() faultllm.Script {
	order := faultllm.Answer{Name: "order", Parts: []faultllm.Part{faultllm.Say(crewOrder)}}
	for i := range branches {
		order.Parts = append(order.Parts, faultllm.Call(fmt.Sprint("call_", i), crewName(i), fmt.Sprintf(`{"request": "Branch %d: the move"}`, i)))
	}
	script := faultllm.Script{{Says: question, Answer: order}}
	for i := range branches {
		script = append(script, faultllm.Turn{
			Says:   fmt.Sprintf("Branch %d:", i),
			Answer: faultllm.Answer{Name: crewName(i), Parts: []faultllm.Part{faultllm.Say(branchText(i))}},
		})
	}

	return append(script, faultllm.Turn{
		Says: "0 is the number", Answer: faultllm.Answer{Name: "final", Parts: []faultllm.Part{faultllm.Say(crewFinal)}},
	})
}

// runCrew runs the crew. Only the agent that asks the others has a journal.
func (c *child) runCrew(ctx context.Context, store checkpointstore.Store) error {
	history, err := c.journalled()
	if err != nil {
		return err
	}
	var crew []tool.BaseTool
	for i := range branches {
		agent, err := c.member(ctx, store, crewName(i), adk.ToolsConfig{})
		if err != nil {
			return err
		}
		crew = append(crew, adk.NewAgentTool(ctx, agent))
	}
	boss, err := c.member(ctx, store, "boss", adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: crew}}, newJournal(c))
	if err != nil {
		return err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: boss, EnableStreaming: true})
	final, err := c.hear(runner.Run(continuation.ContextWithRunID(ctx, c.RunID), history))
	if err != nil {
		c.said.say(line{Kind: saidFailed, Err: err.Error()})
	}
	c.said.say(line{Kind: saidEnd, Text: final})

	return nil
}

func (c *child) member(
	ctx context.Context, store checkpointstore.Store, name string, tools adk.ToolsConfig, before ...adk.ChatModelAgentMiddleware,
) (adk.Agent, error) {
	chat, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: c.Provider, APIKey: "none", Model: "scripted-1"})
	if err != nil {
		return nil, err
	}
	carryOn, err := continuation.NewMiddleware(
		continuation.WithCheckpoints(tellOf(store, c.said), continuation.FlushEvery(c.Every, c.Bytes),
			continuation.StartTimeout(20*time.Second), continuation.MaxTakeovers(100)),
		continuation.WithBackoff(func(int) time.Duration { return 0 }), continuation.WithIdentity("OpenAI", "scripted-1"),
	)
	if err != nil {
		return nil, err
	}

	return adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: name, Description: "looks", Instruction: "Be terse.", Model: chat, ToolsConfig: tools, Handlers: append(before, carryOn),
	})
}

// TestKilledCrew: four agents that run at once under one run id, below a fifth, are killed in mid answer with their process.
// In the next one each goes on where it was, the fifth does not ask again who is to look, and no token is paid for twice.
func TestKilledCrew(t *testing.T) {
	t.Parallel()
	const half = 100 // bytes; whole tokens
	faults := map[string][]faultllm.Fault{}
	needed := 0
	for _, turn := range crewScript() {
		needed += faultllm.Needed(turn.Answer)
	}
	for i := range branches {
		faults[crewName(i)] = []faultllm.Fault{faultllm.Stall(faultllm.InTextBytes(half))}
	}
	each(t, func(t *testing.T, at place, s checkpointstore.Store) {
		t.Helper()
		provider, err := faultllm.Start(faultllm.Config{Script: crewScript(), PieceSize: 8, Pace: time.Millisecond, Plan: faultllm.ByAnswer(faults)})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, provider.Close()) })
		c := child{
			Place: at, Provider: provider.URL(), RunID: "crew", Journal: filepath.Join(t.TempDir(), "journal"),
			Crew: true, Every: 15 * time.Millisecond, Bytes: 256,
		}
		keys, stored := map[string]bool{}, map[string]bool{}
		first := c.start(t)
		require.True(t, first.until(t, func(l line) bool {
			if l.Kind == saidPutEnd && l.Size >= half {
				stored[l.Key] = true
			}

			return len(stored) == branches
		}), "%s", &first.err)
		first.kill(t)

		second := c.start(t)
		second.wait(t)
		require.NotEmpty(t, second.said, "%s", &second.err)
		for _, l := range second.said {
			assert.NotEqual(t, saidFailed, l.Kind, l.Err)
			if l.Kind == saidGot {
				keys[l.Key] = true
			}
		}
		assert.Equal(t, crewFinal, second.said[len(second.said)-1].Text)
		assert.Len(t, keys, branches+1, "each agent has a key of its own")
		for key := range keys {
			_, err := s.Get(t.Context(), key)
			require.ErrorIs(t, err, checkpointstore.ErrNotFound, "nothing stays in the store")
		}
		messages, err := c.journalled()
		require.NoError(t, err)
		looked := map[string]string{}
		for _, m := range messages {
			if m.Role == schema.Tool {
				looked[m.ToolCallID] = m.Content
			}
		}
		for i := range branches {
			assert.Equal(t, branchText(i), looked[fmt.Sprint("call_", i)])
		}
		ledger := provider.Ledger()
		assert.Equal(t, needed, ledger.Completion, "tokens billed")
		for _, r := range ledger.Records[1+branches:] {
			if r.Turn > 0 && r.Turn <= branches {
				assert.Equal(t, len(strings.TrimRight(branchText(r.Turn - 1)[:half], " ")), r.From, "branch %d goes on where it was", r.Turn-1)
			}
		}
		assert.Len(t, ledger.Records, 1+2*branches+1)
	})
}
