package places_test

import (
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// worker is an agent's tool that notes what it is asked to do.
type worker struct {
	mu   sync.Mutex
	runs []string
}

func (w *worker) did() []string {
	w.mu.Lock()
	defer w.mu.Unlock()

	return append([]string{}, w.runs...)
}

// order is the input of the tools.
type order struct {
	What string `json:"what"`
}

// tools returns tools of these names.
func (w *worker) tools(t *testing.T, names ...string) adk.ToolsConfig {
	t.Helper()
	var all []tool.BaseTool
	for _, name := range names {
		one, err := utils.InferTool(name, "The tool "+name+".", func(_ context.Context, in order) (string, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.runs = append(w.runs, name+" "+in.What)

			return name + " is done", nil
		})
		require.NoError(t, err)
		all = append(all, one)
	}

	return adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: all}}
}

// agentPlaces are the ways to give an agent a decorated model.
func agentPlaces() map[string]func(t *testing.T, cfg *adk.ChatModelAgentConfig, inner model.BaseChatModel, opts ...continuation.Option) {
	return map[string]func(t *testing.T, cfg *adk.ChatModelAgentConfig, inner model.BaseChatModel, opts ...continuation.Option){
		"Model": func(t *testing.T, cfg *adk.ChatModelAgentConfig, inner model.BaseChatModel, opts ...continuation.Option) {
			t.Helper()
			cfg.Model = continuation.Wrap(inner, opts...)
		},
		"middleware": func(t *testing.T, cfg *adk.ChatModelAgentConfig, inner model.BaseChatModel, opts ...continuation.Option) {
			t.Helper()
			m, err := continuation.NewMiddleware(opts...)
			require.NoError(t, err)
			cfg.Model, cfg.Handlers = inner, append(cfg.Handlers, m)
		},
		"both": func(t *testing.T, cfg *adk.ChatModelAgentConfig, inner model.BaseChatModel, opts ...continuation.Option) {
			t.Helper()
			m, err := continuation.NewMiddleware(opts...)
			require.NoError(t, err)
			cfg.Model, cfg.Handlers = continuation.Wrap(inner, opts...), append(cfg.Handlers, m)
		},
	}
}

// decorator gives an agent a decorated model.
type decorator func(cfg *adk.ChatModelAgentConfig, inner *fm.Model, opts ...continuation.Option)

// everyAgent runs test with each way to decorate an agent's model, and with both kinds of models.
func everyAgent(t *testing.T, test func(t *testing.T, decorate decorator)) {
	t.Helper()
	for place, put := range agentPlaces() {
		for kind, of := range inners() {
			t.Run(place+"/"+kind, func(t *testing.T) {
				t.Parallel()
				test(t, func(cfg *adk.ChatModelAgentConfig, inner *fm.Model, opts ...continuation.Option) {
					if cfg.Name == "" {
						cfg.Name, cfg.Description = "agent", "an agent"
					}
					put(t, cfg, of(inner), append(opts, now())...)
				})
			})
		}
	}
}

func newAgent(t *testing.T, cfg *adk.ChatModelAgentConfig) *adk.ChatModelAgent {
	t.Helper()
	agent, err := adk.NewChatModelAgent(t.Context(), cfg)
	require.NoError(t, err)

	return agent
}

// shown is what the user of an agent sees of one event.
type shown struct {
	by       string // the agent
	path     []string
	streamed bool
	chunks   []*schema.Message
	message  *schema.Message
	custom   any
	err      error // of the stream, or of the event
	action   *adk.AgentAction
}

// read reads an agent's events to their end.
func read(t *testing.T, events *adk.AsyncIterator[*adk.AgentEvent]) (all []shown) {
	t.Helper()
	for {
		e, ok := events.Next()
		if !ok {
			return all
		}
		all = append(all, showing(t, e))
	}
}

func showing(t *testing.T, e *adk.AgentEvent) shown {
	t.Helper()
	s := shown{by: e.AgentName, err: e.Err, action: e.Action}
	for _, step := range e.RunPath {
		s.path = append(s.path, step.String())
	}
	if e.Output == nil {
		return s
	}
	s.custom = e.Output.CustomizedOutput
	switch out := e.Output.MessageOutput; {
	case out == nil:
	case out.IsStreaming:
		s.streamed = true
		s.chunks, s.err = fm.Collect(out.MessageStream)
		s.message = fm.Concat(t, s.chunks)
	default:
		s.message = out.Message
	}

	return s
}

// answers returns the messages of the model, each from one stream event.
func answers(t *testing.T, all []shown) (said []*schema.Message) {
	t.Helper()
	for _, s := range all {
		require.NoError(t, s.err)
		if s.message != nil && s.message.Role == schema.Assistant {
			assert.True(t, s.streamed)
			said = append(said, s.message)
		}
	}

	return said
}

// customs returns the events that carry no message.
func customs(all []shown) (some []shown) {
	for _, s := range all {
		if s.custom != nil {
			some = append(some, s)
		}
	}

	return some
}

func run1(t *testing.T, agent adk.Agent, opts ...adk.AgentRunOption) []shown {
	t.Helper()
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent, EnableStreaming: true})

	return read(t, runner.Query(t.Context(), "hi", opts...))
}
