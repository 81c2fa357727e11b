package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/openai"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// akStore keeps what is put into it, after some puts that fail.
type akStore struct {
	checkpointstore.Store

	mu    sync.Mutex
	fails int
	puts  []checkpointstore.Checkpoint
}

func (s *akStore) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails > 0 {
		s.fails--

		return errors.New("not now")
	}
	s.puts = append(s.puts, c)

	return s.Store.Put(ctx, c)
}

// akContent is what a provider's tool returned, with an encoding of its own.
type akContent struct{ encode func() ([]byte, error) }

func (c *akContent) MarshalJSON() ([]byte, error) { return c.encode() }

// akResult sends the result of a tool that the provider ran.
func akResult(index int, id string, content any) fm.Step {
	return fm.Block(index, schema.NewContentBlock(&schema.ServerToolResult{CallID: id, Name: "search", Content: content}))
}

// akAsk begins a call whose checkpoints are written as often as can be.
func akAsk(t *testing.T, store checkpointstore.Store, script fm.Script, opts ...continuation.Option) *schema.StreamReader[*schema.AgenticMessage] {
	t.Helper()
	opts = append(opts, ctNow(), continuation.WithCheckpoints(store, continuation.FlushEvery(time.Millisecond, 1), continuation.KeepUntilCommit()))
	r, err := typed(t, fm.NewAgentic(script), opts...).Stream(ckContext(t), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
	require.NoError(t, err)

	return r
}

// TestBlocksAreEncodedBesideTheStream: a block whose encoding takes for ever keeps no chunk back, and it is encoded once,
// however many checkpoints hold it and however often a write is tried.
func TestBlocksAreEncodedBesideTheStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, encoded := make(chan struct{}), new(atomic.Int32)
		content := &akContent{func() ([]byte, error) {
			encoded.Add(1)
			<-release

			return []byte(`{"found":"x"}`), nil
		}}
		script := fm.Script{fm.BlockServerCall(0, "a", "search", "{}"), akResult(1, "a", content)}
		const pieces = 20
		for range pieces {
			script = append(script, fm.BlockText(2, "more "), fm.Idle(time.Second))
		}
		store := &akStore{Store: memstore.New(), fails: 1}
		r := akAsk(t, store, append(script, fm.StopReason("end_turn", 1, 1)))
		began := time.Now()
		for range pieces + 3 {
			_, err := r.Recv()
			require.NoError(t, err)
		}
		assert.Equal(t, pieces*time.Second, time.Since(began))
		assert.Equal(t, int32(1), encoded.Load(), "it is under way")
		close(release)
		_, err := r.Recv()
		require.Equal(t, io.EOF, err)
		synctest.Wait()
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.True(t, c.Done)
		assert.Contains(t, c.Extra["carryon_block_1"], `{"found":"x"}`)
		assert.Equal(t, int32(1), encoded.Load())

		r = akAsk(t, store, nil)
		chunks, err := fm.CollectAny(r)
		require.NoError(t, err)
		got := fm.ConcatAgentic(t, chunks)
		assert.Equal(t, map[string]any{"found": "x"}, got.ContentBlocks[1].ServerToolResult.Content)
	})
}

// akAnswer is an answer with blocks of many kinds.
func akAnswer(thought string, pieces int) fm.Script {
	var script fm.Script
	raw := func(at int, s string) *schema.ContentBlock {
		return schema.NewContentBlock(&schema.Reasoning{OpenAIExtension: &openai.ReasoningExtension{
			Content: []*openai.ReasoningContent{{Index: &at, Text: s}},
		}})
	}
	for i := range pieces {
		script = append(script, fm.BlockThought(0, thought, ""), fm.Block(0, raw(i%2, thought)), fm.Idle(10*time.Millisecond))
	}
	script = append(script, fm.BlockThought(0, "", "signed"))
	for i := range pieces {
		at, id := 4*i, fmt.Sprint("c", i)
		script = append(script,
			fm.BlockText(at+1, thought), fm.BlockServerCall(at+2, id, "search", `{"q":"<x>"}`), fm.BlockServerResult(at+3, id, "search", thought),
			fm.BlockMCPCall(at+4, "m"+id, "read", "{}"), fm.BlockMCPResult(at+4, "m"+id, "read", thought), fm.Idle(10*time.Millisecond))
	}

	return append(script, fm.BlockCall(4*pieces+1, "f", "look", `{"a":1}`))
}

// TestBlocksOfAFinishedAnswer: from the checkpoint of a finished answer comes the same message as from the model.
func TestBlocksOfAFinishedAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		script := append(akAnswer("Wär\"me\n", 3), fm.StopReason("end_turn", 1, 1))
		chunks, err := fm.CollectAny(akAsk(t, store, script))
		require.NoError(t, err)
		synctest.Wait()
		want := fm.ConcatAgentic(t, chunks).ContentBlocks
		chunks, err = fm.CollectAny(akAsk(t, store, nil))
		require.NoError(t, err)
		got := fm.ConcatAgentic(t, chunks).ContentBlocks
		require.Equal(t, "Wär\"me\nWär\"me\n", got[0].Reasoning.OpenAIExtension.Content[0].Text)
		assert.Equal(t, want, got)
	})
}

// TestBlocksChangeLittle: what is new from checkpoint to checkpoint, together, is little more than the answer, whatever its
// blocks are: else it could not be added to what is stored.
func TestBlocksChangeLittle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &akStore{Store: memstore.New()}
		_, err := fm.CollectAny(akAsk(t, store, append(akAnswer(strings.Repeat("thought ", 100), 12), fm.StopReason("end_turn", 1, 1))))
		require.NoError(t, err)
		synctest.Wait()
		require.Greater(t, len(store.puts), 10)
		added, size := 0, 0
		var before map[string]any
		for _, c := range store.puts {
			size = 0
			for key, v := range c.Extra {
				now, _ := v.(string)
				size += len(now)
				was, _ := before[key].(string)
				if more, ok := strings.CutPrefix(now, was); ok {
					now = more
				}
				added += len(now)
			}
			for key := range before {
				assert.Contains(t, c.Extra, key)
			}
			before = c.Extra
		}
		assert.Greater(t, size, 30<<10)
		assert.Less(t, added, size*11/10)
	})
}

// TestBytesOfBlocks: all writes of an answer of blocks together come to at most three times what is stored in the end, however
// many there are.
func TestBytesOfBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &ckWeighing{Store: memstore.New()}
		_, err := fm.CollectAny(akAsk(t, store, append(akAnswer(strings.Repeat("thought ", 1000), 30), fm.StopReason("end_turn", 1, 1))))
		require.NoError(t, err)
		synctest.Wait()
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		data, err := checkpointstore.Encode(c)
		require.NoError(t, err)
		assert.Greater(t, len(data), 1<<20)
		assert.Positive(t, store.appends.Load())
		assert.LessOrEqual(t, store.bytes.Load(), int64(3*len(data)), "in %d writes and %d that add", store.puts.Load(), store.appends.Load())
	})
}

// TestBlocksAreTheConsumers: who has got a block may write into it at once, while its checkpoint is being written. Stored is
// what came.
func TestBlocksAreTheConsumers(t *testing.T) {
	t.Parallel()
	store := &akStore{Store: memstore.New()}
	const n = 50
	var script fm.Script
	for i := range n {
		id := fmt.Sprint("c", i)
		list := []any{map[string]any{"title": "came", "bytes": []byte{1}}}
		script = append(script, fm.BlockServerCall(3*i, id, "search", "{}"), akResult(3*i+1, id, map[string]any{"list": list}), fm.BlockText(3*i+2, "x"))
	}
	r := akAsk(t, store, append(script, fm.StopReason("end_turn", 1, 1)))
	var err error
	for m := (*schema.AgenticMessage)(nil); err == nil; m, err = r.Recv() {
		if m == nil || len(m.ContentBlocks) == 0 || m.ContentBlocks[0].ServerToolResult == nil {
			continue
		}
		content, _ := m.ContentBlocks[0].ServerToolResult.Content.(map[string]any)
		list, _ := content["list"].([]any)
		item, _ := list[0].(map[string]any)
		for i := range 1000 {
			item[fmt.Sprint("own", i)] = "own"
		}
		list[0], content["list"] = "own", "own"
	}
	require.Equal(t, io.EOF, err)
	c, err := store.Get(t.Context(), "run-7")
	require.NoError(t, err)
	for i := range n {
		assert.Contains(t, c.Extra[fmt.Sprint("carryon_block_", 3*i+1)], `{"list":[{"bytes":"AQ==","title":"came"}]}`)
	}
}

// TestBlocksThatAreNoJSON: an answer with a block that cannot be kept is kept without its blocks, and an event says so, once.
func TestBlocksThatAreNoJSON(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]any{
		"no JSON": map[string]any{"f": func() {}},
		"refuses": &akContent{func() ([]byte, error) { return nil, errors.New("no") }},
		"panics":  &akContent{func() ([]byte, error) { panic("no") }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store, events := &akStore{Store: memstore.New()}, &ctEvents{}
				script := fm.Script{
					fm.BlockText(0, "One. "), fm.BlockServerCall(1, "a", "search", "{}"), akResult(2, "a", content), fm.BlockText(3, "Two. "),
					fm.Idle(time.Second), fm.BlockText(3, "Three."), fm.Idle(time.Second), fm.BlockCall(4, "c", "look", "{}"), fm.StopReason("tool_use", 1, 1),
				}
				_, err := fm.CollectAny(akAsk(t, store, script, continuation.WithHandler(events)))
				require.NoError(t, err)
				told := ctOf[callbacks.CheckpointFailed](events)
				require.Len(t, told, 1)
				assert.Equal(t, "encode", told[0].Operation)
				synctest.Wait()
				chunks, err := fm.CollectAny(akAsk(t, store, nil))
				require.NoError(t, err)
				got := fm.ConcatAgentic(t, chunks)
				assert.Equal(t, []schema.ContentBlockType{schema.ContentBlockTypeAssistantGenText, schema.ContentBlockTypeFunctionToolCall}, agKinds(got))
				assert.Equal(t, "One. Two. Three.", got.ContentBlocks[0].AssistantGenText.Text)
			})
		})
	}
}

// TestABlockIsWrittenWhenItIsDue: what a provider ran by itself is part of the answer, also when nothing else comes for long.
func TestABlockIsWrittenWhenItIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &akStore{Store: memstore.New()}
		r := akAsk(t, store, fm.Script{
			fm.BlockServerCall(0, "s1", "search", "{}"), akResult(1, "s1", map[string]any{"found": "water"}), fm.Idle(time.Second), fm.StopReason("end_turn", 1, 1),
		})
		_, err := r.Recv()
		require.NoError(t, err)
		_, err = r.Recv()
		require.NoError(t, err)
		<-time.After(300 * time.Millisecond)
		synctest.Wait()
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.EqualValues(t, 2, c.Extra["carryon_blocks"])
		r.Close()
	})
}
