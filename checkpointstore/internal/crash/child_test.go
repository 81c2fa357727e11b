//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cloudwego/eino-ext/components/model/openai"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/continuation"
)

// child is the agent that is killed. The turns before the answer under way are the program's own to keep, as in any
// program with sessions: it does so in a journal. The answer under way is carryon's to keep.
type child struct {
	Place    place
	Provider string // its base URL
	RunID    string
	Journal  string // the file's path
	Every    time.Duration
	Bytes    int
	Graph    bool   // it is no agent, but models side by side
	Crew     bool   // it is an agent that asks others
	StopAt   string // the kind of line behind which it stops itself; empty: it does not
	Since    uint64 // the epoch from which on such lines count
	Skip     int    // as many of them

	said *diary
}

func (c *child) run(ctx context.Context) error {
	c.said = &diary{to: json.NewEncoder(os.Stdout), stopAt: c.StopAt, since: c.Since, skip: c.Skip}
	c.said.say(line{Kind: saidUp})
	store, err := c.Place.open(ctx)
	if err != nil {
		return err
	}
	if c.Graph {
		return c.runGraph(ctx, store)
	}
	if c.Crew {
		return c.runCrew(ctx, store)
	}
	history, err := c.journalled()
	if err != nil {
		return err
	}
	if last := history[len(history)-1]; last.Role == schema.Assistant {
		c.said.say(line{Kind: saidFinished, Text: last.Content})
		c.said.say(line{Kind: saidEnd, Text: last.Content, Done: true})

		return nil
	}
	runner, err := c.agent(ctx, store)
	if err != nil {
		return err
	}
	final, err := c.hear(runner.Run(continuation.ContextWithRunID(ctx, c.RunID), history))
	if err != nil {
		c.said.say(line{Kind: saidFailed, Err: err.Error()})
	}
	c.said.say(line{Kind: saidEnd, Text: final})

	return nil
}

// hear says what is delivered, and returns the last message.
func (c *child) hear(events *adk.AsyncIterator[*adk.AgentEvent]) (text string, first error) {
	for n := 0; ; {
		e, ok := events.Next()
		if !ok {
			return text, first
		}
		if e.Err != nil && first == nil {
			first = e.Err
		}
		if e.Output == nil || e.Output.MessageOutput == nil || e.Output.MessageOutput.MessageStream == nil {
			continue
		}
		text = ""
		for {
			m, err := e.Output.MessageOutput.MessageStream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				if first == nil {
					first = err
				}

				break
			}
			text += m.Content
			if m.Content != "" {
				c.said.say(line{Kind: saidChunk, N: n, Text: m.Content})
			}
		}
		n++
	}
}

func (c *child) agent(ctx context.Context, store checkpointstore.Store) (*adk.Runner, error) {
	chat, err := openai.NewChatModel(ctx, &openai.ChatModelConfig{BaseURL: c.Provider, APIKey: "none", Model: "scripted-1"})
	if err != nil {
		return nil, err
	}
	carryOn, err := continuation.NewMiddleware(
		continuation.WithCheckpoints(tellOf(store, c.said),
			continuation.FlushEvery(c.Every, c.Bytes), continuation.StartTimeout(20*time.Second), continuation.MaxTakeovers(100)),
		continuation.WithBackoff(func(int) time.Duration { return 0 }),
		continuation.WithIdentity("OpenAI", "scripted-1"),
		continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
			if failed, ok := e.(callbacks.CheckpointFailed); ok {
				c.said.say(line{Kind: saidEvent, Text: failed.Operation, Err: failed.ErrorMessage})
			}
		})),
	)
	if err != nil {
		return nil, err
	}
	measure, err := utils.InferTool("measure", "Measures a room.", c.measure)
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
		Name: "mover", Description: "plans moves", Instruction: "Be terse.", Model: chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{measure}}},
		Handlers:    []adk.ChatModelAgentMiddleware{newJournal(c), carryOn},
	})
	if err != nil {
		return nil, err
	}

	return adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent, EnableStreaming: true}), nil
}

type room struct {
	Room string `json:"room" jsonschema:"required"`
}

// measure is a tool with an effect. It knows by the id of its call whether it had it already.
func (c *child) measure(ctx context.Context, in room) (string, error) {
	id := compose.GetToolCallID(ctx)
	c.said.say(line{Kind: saidTool, Text: id})
	err := os.Mkdir(c.Journal+"."+id, 0o700) // the effect
	if err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	c.said.say(line{Kind: saidToolEnd, Text: id})

	return in.Room + ": 12 m2", nil
}

// telling tells of a store's writes.
type telling struct {
	checkpointstore.Store
	said *diary
}

func (t telling) Get(ctx context.Context, runID string) (checkpointstore.Checkpoint, error) {
	c, err := t.Store.Get(ctx, runID)
	t.said.say(line{Kind: saidGot, Key: runID, Text: c.Text, Epoch: c.Epoch, Seq: c.Seq, Done: c.Done, Call: len(c.ToolCalls) > 0})

	return c, err
}

func (t telling) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	l := line{Key: c.RunID, Size: len(c.Text), Epoch: c.Epoch, Seq: c.Seq, Done: c.Done}

	return t.write(l, func() error { return t.Store.Put(ctx, c) })
}

func (t telling) write(l line, do func() error) error {
	l.Kind = saidPut
	t.said.say(l)
	t.said.writing.Lock()
	err := do()
	t.said.writing.Unlock()
	if l.Kind = saidPutEnd; err != nil {
		l.Err = err.Error()
	} else {
		t.said.sizes.Store(l.Key, l.Size)
	}
	t.said.say(l)

	return err
}

// tellingAdds tells of a store's writes that can add.
type tellingAdds struct {
	telling
	below checkpointstore.Appender
}

func (t tellingAdds) Append(ctx context.Context, d checkpointstore.Delta) error {
	size, _ := t.said.sizes.Load(d.RunID)
	before, _ := size.(int)
	l := line{Key: d.RunID, Size: before + len(d.Text), Epoch: d.Epoch, Seq: d.Seq, Done: d.Done, Added: true}

	return t.write(l, func() error { return t.below.Append(ctx, d) })
}

func tellOf(s checkpointstore.Store, said *diary) checkpointstore.Store {
	t := telling{s, said}
	if a, ok := s.(checkpointstore.Appender); ok {
		return tellingAdds{t, a}
	}

	return t
}

func (t telling) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	d, ok := t.Store.(checkpointstore.ConditionalDeleter)
	if !ok {
		return fmt.Errorf("%T cannot", t.Store)
	}

	t.said.writing.Lock()
	defer t.said.writing.Unlock()

	return d.DeleteIf(ctx, c)
}
