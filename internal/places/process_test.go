package places_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// roleOf says, in a process started by [TestProcesses], what it is to do: the place, then the folder.
const roleOf = "CARRYON_PLACES_PROCESS"

// desk is a folder that processes share.
type desk string

func (d desk) file(name string) string { return filepath.Join(string(d), name) }

// Get and Set make it a store of checkpoints.
func (d desk) Get(_ context.Context, id string) ([]byte, bool, error) {
	p, err := os.ReadFile(d.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}

	return p, err == nil, err
}

func (d desk) Set(_ context.Context, id string, p []byte) error {
	return os.WriteFile(d.file(id), p, 0o600)
}

// note adds a line to a file.
func (d desk) note(t *testing.T, name, line string) {
	t.Helper()
	f, err := os.OpenFile(d.file(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(line + "\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func (d desk) lines(t *testing.T, name string) []string {
	t.Helper()
	p, err := os.ReadFile(d.file(name))
	require.NoError(t, err)

	return strings.Split(strings.TrimSpace(string(p)), "\n")
}

// keep stores messages as a user does.
func (d desk) keep(t *testing.T, messages []*schema.Message) {
	t.Helper()
	for _, m := range messages {
		p, err := json.Marshal(m)
		require.NoError(t, err)
		d.note(t, "history", string(p))
	}
}

func (d desk) history(t *testing.T) (messages []*schema.Message) {
	t.Helper()
	for _, line := range d.lines(t, "history") {
		m := &schema.Message{}
		require.NoError(t, json.Unmarshal([]byte(line), m))
		messages = append(messages, m)
	}

	return messages
}

// tools returns three tools that note their runs; one of them asks a human first.
func (d desk) tools(t *testing.T) compose.ToolsNodeConfig {
	t.Helper()
	var all []tool.BaseTool
	for _, name := range []string{"look", "fetch", "ask"} {
		one, err := utils.InferTool(name, "The tool "+name+".", func(ctx context.Context, in order) (string, error) {
			if was, _, _ := tool.GetInterruptState[string](ctx); name == "ask" && !was {
				return "", tool.StatefulInterrupt(ctx, "approve?", in.What)
			}
			d.note(t, "runs", name+" "+in.What)

			return name + " is done", nil
		})
		require.NoError(t, err)
		all = append(all, one)
	}

	return compose.ToolsNodeConfig{Tools: all}
}

// processModel is the model of the first process, or of those that go on. A ReAct agent looks for calls in the first chunk.
func processModel(resumed, react bool) *fm.Model {
	if !resumed {
		first, second := fm.Text("On "), fm.Text("it.")
		if react {
			first, second = fm.Call(0, "c0", "look", `{"wh`), fm.Role()
		}

		return fm.New(
			fm.Script{first, fm.Reset()},
			fm.Script{
				second, fm.Call(0, "c1", "look", `{"what":"here"}`), fm.Call(1, "c2", "ask", `{"what":"it"}`),
				fm.Call(2, "c3", "fetch", `{"wh`), fm.Reset(),
			},
		)
	}

	return fm.New(
		fm.Script{fm.Text("All "), fm.Reset()},
		fm.Script{fm.Text("done."), fm.Finish("stop")},
	)
}

// processPlaces run a turn until it is interrupted, or from there to its end, and return its new messages.
func processPlaces() map[string]func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message {
	agentOf := func(t *testing.T, d desk, cfg *adk.ChatModelAgentConfig, resumed bool, before func(*adk.ChatModelAgentConfig) []adk.AgentRunOption) []*schema.Message {
		t.Helper()
		cfg.Name, cfg.ToolsConfig.ToolsNodeConfig = "agent", d.tools(t)
		opts := append(before(cfg), adk.WithCheckPointID("checkpoint"))
		runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: newAgent(t, cfg), EnableStreaming: true, CheckPointStore: d})
		if resumed {
			events, err := runner.Resume(t.Context(), "checkpoint")
			require.NoError(t, err)

			return stored(t, read(t, events))
		}
		all := read(t, runner.Query(t.Context(), "hi", opts...))
		last := all[len(all)-1]
		if _, canceled := errors.AsType[*adk.CancelError](last.err); !canceled {
			require.NotNil(t, last.action)
			require.NotNil(t, last.action.Interrupted)
		}
		all[len(all)-1].err = nil

		return stored(t, all)
	}
	none := func(*adk.ChatModelAgentConfig) []adk.AgentRunOption { return nil }

	return map[string]func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message{
		"an agent's model, and a tool that asks": func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message {
			t.Helper()

			return agentOf(t, d, &adk.ChatModelAgentConfig{Model: continuation.Wrap(m, now())}, resumed, none)
		},
		"an agent's middleware, and a tool that asks": func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message {
			t.Helper()
			w, err := continuation.NewMiddleware(now())
			require.NoError(t, err)

			return agentOf(t, d, &adk.ChatModelAgentConfig{Model: m, Handlers: []adk.ChatModelAgentMiddleware{w}}, resumed, none)
		},
		"an agent that is cancelled after the model, and a tool that asks when it is resumed": func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message {
			t.Helper()

			return agentOf(t, d, &adk.ChatModelAgentConfig{}, resumed, func(cfg *adk.ChatModelAgentConfig) []adk.AgentRunOption {
				option, cancel := adk.WithCancel()
				cfg.Model = cancelling{continuation.Wrap(m, now()), func() {
					if !resumed {
						cancel(adk.WithAgentCancelMode(adk.CancelAfterChatModel))
					}
				}}

				return []adk.AgentRunOption{option}
			})
		},
		"a ReAct agent in a graph, and a tool that asks": func(t *testing.T, d desk, m *fm.Model, resumed bool) []*schema.Message {
			t.Helper()
			a, err := react.NewAgent(t.Context(), &react.AgentConfig{ToolCallingModel: continuation.Wrap(m, now()), ToolsConfig: d.tools(t)})
			require.NoError(t, err)
			inner, opts := a.ExportGraph()
			g := compose.NewGraph[[]*schema.Message, *schema.Message]()
			require.NoError(t, g.AddGraphNode("react", inner, opts...))
			require.NoError(t, g.AddEdge(compose.START, "react"))
			require.NoError(t, g.AddEdge("react", compose.END))
			r, err := g.Compile(t.Context(), compose.WithCheckPointStore(d))
			require.NoError(t, err)
			reader, err := r.Stream(t.Context(), hi(), compose.WithCheckPointID("checkpoint"))
			if resumed {
				require.NoError(t, err)

				return []*schema.Message{schema.AssistantMessage(text(t, reader), nil)}
			}
			_, ok := compose.ExtractInterruptInfo(err)
			require.True(t, ok, "%v", err)

			return nil
		},
	}
}

// cancelling is a model that cancels its agent when it is asked.
type cancelling struct {
	model.ToolCallingChatModel
	cancel func()
}

func (c cancelling) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	c.cancel()

	return c.ToolCallingChatModel.Stream(ctx, in, opts...)
}

// TestProcesses: one process is interrupted after a broken answer, and another one goes on from the checkpoint. No tool
// runs twice, no message is there twice, and the model hears what was cut off in a process that is gone.
func TestProcesses(t *testing.T) {
	t.Parallel()
	if role := os.Getenv(roleOf); role != "" {
		place, folder, _ := strings.Cut(role, "|")
		d := desk(folder)
		_, resumed, err := d.Get(t.Context(), "checkpoint")
		require.NoError(t, err)
		m := processModel(resumed, strings.Contains(place, "ReAct"))
		d.keep(t, processPlaces()[place](t, d, m, resumed))
		for _, r := range m.Requests() {
			d.note(t, "requests", roles(r.Messages)+": "+r.Messages[len(r.Messages)-1].Content)
		}
		letGo(t, m)

		return
	}
	for place := range processPlaces() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			d := desk(t.TempDir())
			d.keep(t, hi())
			processes := 2
			if strings.Contains(place, "cancelled") {
				processes = 3 // the tool asks when the second goes on
			}
			for range processes {
				c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcesses$", "-test.count=1")
				c.Env = append(os.Environ(), roleOf+"="+place+"|"+string(d))
				out, err := c.CombinedOutput()
				require.NoError(t, err, string(out))
			}
			assert.Equal(t, []string{"look here", "ask it"}, d.lines(t, "runs"), "each of them once")
			history := d.history(t)
			if !strings.Contains(place, "ReAct") { // its messages are its own
				assert.Equal(t, "user assistant tool tool assistant", roles(history))
				assert.Equal(t, "On it.", history[1].Content)
				assert.Len(t, history[1].ToolCalls, 2)
			}
			assert.Equal(t, "All done.", history[len(history)-1].Content)
			assertHint(t, history, "")

			requests := d.lines(t, "requests")
			require.Len(t, requests, 4)
			assert.Equal(t, "user: hi", requests[0])
			assert.Regexp(t, "^user assistant tool tool user: .*fetch.*cut off", requests[2])
		})
	}
}
