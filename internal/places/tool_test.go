package places_test

import (
	"context"
	"maps"
	"sync"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/stretchr/testify/require"
)

// approval returns a tool "ask" that asks a human at its first run: it interrupts the agent, and is done when it is resumed.
func (w *worker) approval(t *testing.T) tool.BaseTool {
	t.Helper()
	const name = "ask"
	one, err := utils.InferTool(name, "The tool "+name+".", func(ctx context.Context, in order) (string, error) {
		if was, _, _ := tool.GetInterruptState[string](ctx); !was {
			return "", tool.StatefulInterrupt(ctx, "approve?", in.What)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.runs = append(w.runs, name+" "+in.What)

		return name + " is approved", nil
	})
	require.NoError(t, err)

	return one
}

// store keeps checkpoints of agents and graphs in memory.
type store struct {
	mu  sync.Mutex
	all map[string][]byte
}

func (s *store) Get(_ context.Context, id string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.all[id]

	return v, ok, nil
}

func (s *store) Set(_ context.Context, id string, v []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := maps.Clone(s.all)
	if m == nil {
		m = map[string][]byte{}
	}
	m[id] = v
	s.all = m

	return nil
}
