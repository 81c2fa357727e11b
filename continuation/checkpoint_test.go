package continuation_test

import (
	"context"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckAnswers are answers whose every chunk is a moment to die at.
func ckAnswers() map[string]fm.Script {
	return map[string]fm.Script{
		"text": {fm.Text("Water "), fm.Text("boils at "), fm.Text("100 degrees "), fm.Text("Celsius."), fm.Finish("stop")},
		"reasoning, text": {
			fm.Reasoning("Let me "), fm.Reasoning("see. "), fm.Text("Water boils at "), fm.Text("100 degrees."), fm.Finish("stop"),
		},
		"text, call": {
			fm.Text("Let me look. "), fm.Call(0, "c1", "look", `{"a":`), fm.Call(0, "", "", `1}`), fm.Finish("tool_calls"),
		},
		"two calls": {
			fm.Call(0, "c1", "look", `{"a":1}`), fm.Call(1, "c2", "see", `{"b":`), fm.Call(1, "", "", `2}`), fm.Finish("tool_calls"),
		},
	}
}

func ckContext(t *testing.T) context.Context {
	t.Helper()

	return continuation.ContextWithRunID(t.Context(), "run-7")
}

// ckDie reads n chunks of an answer that stalls then, lets the store have it, and returns the store as the process's
// death leaves it, and what its user saw.
func ckDie(t *testing.T, answer fm.Script, n int) (*memstore.Store, []*schema.Message) {
	t.Helper()
	store := memstore.New()
	inner := fm.Continuer(answer, fm.BreakAt(n, fm.Stall()))
	m := continuation.Wrap(inner, ctNow(), continuation.WithCheckpoints(store))
	r, err := m.Stream(ckContext(t), ctInput())
	require.NoError(t, err)
	var seen []*schema.Message
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := r.Recv()
			if err != nil {
				return
			}
			seen = append(seen, c)
		}
	}()
	<-time.After(time.Second) // the flush is due
	synctest.Wait()
	left := memstore.New()
	if c, err := store.Get(t.Context(), "run-7"); err == nil {
		require.NoError(t, left.Put(t.Context(), c))
	}
	r.Close()
	<-done

	return left, seen
}

// TestTakeover: whenever a process dies, the next one delivers the whole answer, and what the dead one had delivered
// is not generated again.
func TestTakeover(t *testing.T) {
	t.Parallel()
	for name, answer := range ckAnswers() {
		for n := range len(answer) {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					whole, err := schema.ConcatMessages(ckCollect(t, fm.New(answer)))
					require.NoError(t, err)
					left, seen := ckDie(t, answer, n)

					inner := fm.Continuer(answer)
					events := &ctEvents{}
					m := continuation.Wrap(inner, ctNow(), continuation.WithCheckpoints(left), continuation.WithHandler(events))
					got := ctStream(ckContext(t), m)
					require.NoError(t, got.err)
					msg := fm.Concat(t, got.chunks)
					assert.Equal(t, whole.Content, msg.Content)
					assert.Equal(t, whole.ReasoningContent, msg.ReasoningContent)
					if calls := len(msg.ToolCalls); calls < len(whole.ToolCalls) {
						require.Equal(t, 1, calls, "the call that had come whole is run, the other is spoken of")
						if n > 1 { // the other had begun
							assert.Equal(t, "see", msg.Extra[continuation.ExtraDroppedCalls])
						}
						assert.Equal(t, whole.ToolCalls[:1], msg.ToolCalls)
					} else {
						assert.Equal(t, whole.ToolCalls, msg.ToolCalls)
					}
					assert.Equal(t, whole.ResponseMeta.FinishReason, msg.ResponseMeta.FinishReason)

					before, err := schema.ConcatMessages(append(seen, &schema.Message{}))
					require.NoError(t, err)
					for _, r := range inner.Requests() {
						if before.Content != "" {
							assert.Contains(t, fmt.Sprint(r.Messages), before.Content, "it is not paid for again")
						}
					}
					if len(before.ToolCalls) > 0 {
						assert.Empty(t, inner.Requests(), "tool calls need no model")
					}
					_, err = left.Get(t.Context(), "run-7")
					require.ErrorIs(t, err, checkpointstore.ErrNotFound, "it is deleted when the end was read")
					assert.Empty(t, ctOf[callbacks.CheckpointFailed](events))
					end := ctEnd(t, events)
					assert.Len(t, inner.Requests(), end.Requests)
					assert.Equal(t, len(ctOf[callbacks.Completed](events)) > 0, end.Outcome == callbacks.OutcomeRecovered, end.Outcome)
				})
			})
		}
	}
}

func ckCollect(t *testing.T, m *fm.Model) []*schema.Message {
	t.Helper()
	r, err := m.Stream(t.Context(), ctInput())
	require.NoError(t, err)
	chunks, err := fm.Collect(r)
	require.NoError(t, err)

	return chunks
}

// TestNoRunIDNoCheckpoint: without a run id nothing is asked of the store.
func TestNoRunIDNoCheckpoint(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &ckStore{Store: memstore.New()}
		m := continuation.Wrap(fm.Continuer(ckAnswers()["text"]), continuation.WithCheckpoints(s))
		require.NoError(t, ctStream(t.Context(), m).err)
		assert.Zero(t, s.gets.Load()+s.puts.Load())
	})
}

// TestOtherInput: an answer to another input is ignored, and replaced.
func TestOtherInput(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, _ := ckDie(t, ckAnswers()["text"], 2)
		inner := fm.Continuer(ckAnswers()["text"])
		m := continuation.Wrap(inner, continuation.WithCheckpoints(left, continuation.KeepUntilCommit()))
		r := ctStreamOf(ckContext(t), m, []*schema.Message{schema.UserMessage("Say another thing.")})
		require.NoError(t, r.err)
		assert.Equal(t, "Water boils at 100 degrees Celsius.", r.text())
		require.Len(t, inner.Requests(), 1)
		assert.Len(t, inner.Requests()[0].Messages, 1)
		c, err := left.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.EqualValues(t, 2, c.Epoch)
		assert.True(t, c.Done)
	})
}

// TestReplay: a finished answer that was not committed is delivered again without the model; Commit ends that.
func TestReplay(t *testing.T) {
	t.Parallel()
	answers := ckAnswers()
	answers["half a call at a limit"] = fm.Script{fm.Text("I look. "), fm.Call(0, "c1", "look", `{"a":`), fm.Finish("length")}
	answers["a call without arguments"] = fm.Script{fm.Call(0, "c1", "look", ""), fm.Call(1, "c2", "see", `{}`), fm.Finish("tool_calls")}
	answers["a call that nobody can run"] = fm.Script{fm.Call(0, "c1", "look", `{"a" 1}`), fm.Finish("tool_calls")}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := memstore.New()
				inner := fm.Continuer(answer).WithUsage()
				m := continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()))
				ctx := ckContext(t)
				first := ctStream(ctx, m)
				require.NoError(t, first.err)
				events := &ctEvents{}
				m = continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.KeepUntilCommit()), continuation.WithHandler(events))
				second := ctStream(ctx, m)
				require.NoError(t, second.err)
				want, got := fm.Concat(t, first.chunks), fm.Concat(t, second.chunks)
				assert.Equal(t, want.Content, got.Content)
				assert.Equal(t, want.ReasoningContent, got.ReasoningContent)
				assert.Equal(t, want.ToolCalls, got.ToolCalls)
				assert.Equal(t, want.ResponseMeta.FinishReason, got.ResponseMeta.FinishReason)
				assert.Equal(t, want.ResponseMeta.Usage, got.ResponseMeta.Usage, "paid for once")
				assert.Len(t, inner.Requests(), 1)
				assert.Contains(t, ctNotices(events), callbacks.NoticeReplayed)
				end := ctEnd(t, events)
				assert.Equal(t, callbacks.OutcomeComplete, end.Outcome)
				assert.Equal(t, want.ResponseMeta.FinishReason, end.FinishReason)
				assert.Zero(t, end.Requests)
				assert.Zero(t, end.Billed, "by this call")

				require.NoError(t, continuation.Commit(ctx, store, "run-7"))
				require.NoError(t, continuation.Commit(ctx, store, "run-7"), "nothing there is no error")
				require.NoError(t, ctStream(ctx, m).err)
				assert.Len(t, inner.Requests(), 2)
			})
		})
	}
}

// TestSickStores: a store that is slow, down or full of garbage delays no chunk and costs no answer, and one event
// tells of it.
func TestSickStores(t *testing.T) {
	t.Parallel()
	boom := fmt.Errorf("no route to host")
	garbage := fmt.Errorf("it reads: %w", checkpointstore.ErrCorrupt)
	for name, tt := range map[string]struct {
		store  *ckStore
		starts time.Duration // how much later
		ends   time.Duration
		events int
	}{
		"down":                         {&ckStore{Store: memstore.New(), getErr: boom, putErr: boom}, 0, 0, 1},
		"writes fail":                  {&ckStore{Store: memstore.New(), putErr: boom}, 0, 500 * time.Millisecond, 1},
		"garbage":                      {&ckStore{Store: memstore.New(), getErr: garbage}, 0, 0, 1},
		"slow":                         {&ckStore{Store: memstore.New(), delay: 5 * time.Second}, 500 * time.Millisecond, 0, 1},
		"writes are slow":              {&ckStore{Store: memstore.New(), putDelay: 5 * time.Second}, 0, 500 * time.Millisecond, 1},
		"it panics":                    {&ckStore{Store: memstore.New(), putPanic: true}, 0, 500 * time.Millisecond, 1},
		"it hangs for ever":            {&ckStore{Store: memstore.New(), putDelay: time.Hour}, 0, 500 * time.Millisecond, 1},
		"it does not heed its context": {&ckStore{Store: memstore.New(), deaf: 5 * time.Second}, 500 * time.Millisecond, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(fm.Script{
					fm.Text("Water "), fm.Idle(time.Second), fm.Text("boils at "), fm.Idle(time.Second), fm.Text("100 degrees."), fm.Finish("stop"),
				})
				events := &ctEvents{}
				m := continuation.Wrap(inner, continuation.WithCheckpoints(tt.store), continuation.WithHandler(events))
				began := time.Now()
				r, err := m.Stream(ckContext(t), ctInput())
				require.NoError(t, err)
				assert.Equal(t, tt.starts, time.Since(began))
				began = time.Now()
				for i, want := range []time.Duration{0, time.Second, 2 * time.Second, 2 * time.Second} {
					_, err := r.Recv()
					require.NoError(t, err)
					assert.Equal(t, want, time.Since(began), "chunk %d", i)
				}
				_, err = r.Recv()
				require.Equal(t, io.EOF, err)
				assert.Equal(t, 2*time.Second+tt.ends, time.Since(began))
				assert.Len(t, ctOf[callbacks.CheckpointFailed](events), tt.events)
				assert.LessOrEqual(t, tt.store.most.Load(), int32(1), "writes at one time")
				ctEnd(t, events)        // behind the failure of the last write
				<-time.After(time.Hour) // the last write is given up
			})
		})
	}
}
