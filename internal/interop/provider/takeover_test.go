package provider

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // the driver

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/sqlstore"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
	"github.com/eino-carryon/carryon/internal/interop/clients"
	"github.com/eino-carryon/carryon/internal/interop/rig"
)

// takeoverStores open stores that outlive a process.
func takeoverStores() map[string]func(*testing.T) checkpointstore.Store {
	return map[string]func(*testing.T) checkpointstore.Store{
		"filestore": func(t *testing.T) checkpointstore.Store {
			t.Helper()
			s, err := filestore.New(t.TempDir())
			require.NoError(t, err)

			return s
		},
		"sqlstore": func(t *testing.T) checkpointstore.Store {
			t.Helper()
			db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, db.Close()) })
			s, err := sqlstore.New(db, sqlstore.SQLite)
			require.NoError(t, err)
			require.NoError(t, s.Migrate(t.Context()))

			return s
		},
	}
}

// announced is a store that tells of what was put.
type announced struct {
	checkpointstore.Store
	puts chan checkpointstore.Checkpoint
}

func (s announced) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	err := s.Store.Put(ctx, c)
	if err == nil {
		s.puts <- c
	}

	return err
}

// TestTheTurnBehindATakeover: the request of the turn after a takeover is, byte for byte, the one that would have been made
// if nothing had happened: thoughts, signatures and calls survive the store.
func TestTheTurnBehindATakeover(t *testing.T) {
	think := faultllm.Think("I need ", "the tide table.")
	say := faultllm.Say("Let me ", "look ", "into it. ")
	answers := map[string]faultllm.Answer{
		"thought, text and call": {Parts: []faultllm.Part{think, say, faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)}},
		"thought and call":       {Parts: []faultllm.Part{think, faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)}},
	}
	moments := map[string]struct {
		dies  faultllm.Position
		saved func(checkpointstore.Checkpoint) bool
		asks  int // requests of the next process
	}{
		"in the text":     {faultllm.InText(2), func(c checkpointstore.Checkpoint) bool { return c.Text != "" }, 1},
		"in the call":     {faultllm.InTool(0, 8), func(c checkpointstore.Checkpoint) bool { return c.Reasoning != "" }, 1},
		"behind the call": {faultllm.AfterTool(0), func(c checkpointstore.Checkpoint) bool { return len(c.ToolCalls) == 1 }, 0},
	}
	for _, v := range []faultllm.Vendor{faultllm.Anthropic, faultllm.DeepSeek, faultllm.Gemini} {
		c, ok := clients.Of(v)
		if !ok {
			continue // Claude's, under the race detector; TestAllVendorsAreThere sees to it that it runs without
		}
		for kind, answer := range answers {
			script := faultllm.Script{{Answer: answer}, {Says: "10:15", Answer: faultllm.Answer{Parts: []faultllm.Part{faultllm.Say("At ten.")}}}}
			for moment, m := range moments {
				if moment == "in the text" && kind == "thought and call" {
					continue // it has none
				}
				if moment == "in the call" && kind == "thought and call" && c.WholeCalls {
					continue // nothing has come behind the thought, so nothing can be kept
				}
				for name, open := range takeoverStores() {
					t.Run(fmt.Sprintf("%v/%s/%s/%s", v, kind, moment, name), func(t *testing.T) {
						t.Parallel()
						whole := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{Script: script})
						want := followed(t, whole, whole.Wrap())

						store := open(t)
						die(t, c, announced{store, make(chan checkpointstore.Checkpoint, 100)}, script, m.dies, m.saved)

						next := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{Script: script})
						got := followed(t, next, next.Wrap(continuation.WithCheckpoints(store)))
						assert.Equal(t, string(want), string(got))
						assert.Equal(t, 1+m.asks, next.Server.Ledger().Requests, "what it asked for")
					})
				}
			}
		}
	}
}

func takeoverTools() model.Option {
	return model.WithTools([]*schema.ToolInfo{{
		Name: "lookup", Desc: "looks a port up",
		ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"port": {Type: schema.String}}),
	}})
}

// followed asks, runs the tool, asks again, and returns the second request's body.
func followed(t *testing.T, r *rig.Rig, m model.BaseChatModel) []byte {
	t.Helper()
	ctx := continuation.ContextWithRunID(t.Context(), "run")
	chunks, err := rig.Stream(ctx, m, rig.Question(), takeoverTools())
	require.NoError(t, err)
	answer := rig.Concat(t, chunks)
	require.Len(t, answer.ToolCalls, 1)
	call := answer.ToolCalls[0]
	turn := append(rig.Question(), answer, schema.ToolMessage("10:15", call.ID, schema.WithToolName(call.Function.Name)))
	chunks, err = rig.Stream(t.Context(), m, turn, takeoverTools())
	require.NoError(t, err)
	require.Equal(t, "At ten.", rig.Concat(t, chunks).Content)
	records := r.Server.Ledger().Records

	return records[len(records)-1].Body
}

// die asks, and leaves when the store has what it is to have.
func die(
	t *testing.T, c clients.Client, s announced, script faultllm.Script, at faultllm.Position, saved func(checkpointstore.Checkpoint) bool,
) {
	t.Helper()
	r := newRig(t, c, rig.Wiring{Think: true}, faultllm.Config{Script: script, Plan: faultllm.InOrder(faultllm.Stall(at))})
	m := r.Wrap(continuation.WithCheckpoints(s, continuation.FlushEvery(time.Millisecond, 1)))
	stream, err := m.Stream(continuation.ContextWithRunID(t.Context(), "run"), rig.Question(), takeoverTools())
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			if _, err := stream.Recv(); err != nil {
				return
			}
		}
	}()
	limit := time.NewTimer(rig.Patience)
	defer limit.Stop()
	for {
		select {
		case cp := <-s.puts:
			if !saved(cp) {
				continue
			}
		case <-limit.C:
			require.Fail(t, "the store never had it")
		}

		break
	}
	stream.Close()
	<-ended
}
