package continuation_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// TestWhatWasClaimedStays: a process that takes an answer over and dies before its model has said anything leaves the next one
// all of it, however many chunks it is restored in.
func TestWhatWasClaimedStays(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("A line of the text.\n", 500)
	for name, answer := range map[string]fm.Script{
		"a thought and a text": {fm.Reasoning(text), fm.Text(text)},
		"a text and a call":    {fm.Text(text), fm.Call(0, "c0", "f", `{"a":"`+strings.Repeat("x", 9000))},
		"blocks": {
			fm.BlockThought(0, text, "signed"), fm.BlockText(1, text), fm.BlockServerCall(2, "a", "search", "{}"), fm.BlockServerResult(3, "a", "search", "found"),
			fm.BlockText(4, text), fm.BlockServerCall(5, "b", "search", "{}"), fm.BlockServerResult(6, "b", "search", "found"), fm.BlockText(7, text),
		},
	} {
		for _, whole := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", whole: ", whole), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					weighing := &ckWeighing{Store: memstore.New(), whole: whole}
					before := ckAfter(t, weighing, name == "blocks", append(answer, fm.Idle(time.Second), fm.Stall()))
					for range 3 {
						puts := weighing.puts.Load()
						after := ckAfter(t, weighing, name == "blocks", fm.Script{fm.OpenStall()})
						assert.Greater(t, after.Epoch, before.Epoch)
						assert.Equal(t, before.Text, after.Text)
						assert.Equal(t, before.Reasoning, after.Reasoning)
						assert.Equal(t, before.Extra, after.Extra)
						assert.EqualValues(t, 1, weighing.puts.Load()-puts, "the claim, and nothing else")
					}
				})
			})
		}
	}
}

// TestWhatCannotBeRestoredStays: a call that ends while it takes an answer over leaves it as it was.
func TestWhatCannotBeRestoredStays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &ckWeighing{Store: memstore.New()}
		call := fm.Call(0, "c0", "f", `{"a":"`+strings.Repeat("x", 9000))
		before := ckAfter(t, store, false, fm.Script{fm.Text(strings.Repeat("A line.\n", 1000)), call, fm.Idle(time.Second), fm.Stall()})
		require.NotNil(t, before.OpenToolCall)
		m := continuation.Wrap(fm.New(), continuation.WithCheckpoints(store), continuation.WithMaxBufferedBytes(1000))
		var tooLarge *continuation.BufferError
		require.ErrorAs(t, ctStream(ckContext(t), m).err, &tooLarge)
		<-time.After(time.Second)
		after, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		assert.Greater(t, after.Epoch, before.Epoch)
		assert.Equal(t, before.Text, after.Text)
		assert.Equal(t, before.OpenToolCall, after.OpenToolCall)
	})
}

// ckAfter returns what a process leaves in the store that is killed three seconds after it began.
func ckAfter(t *testing.T, weighing *ckWeighing, blocks bool, script fm.Script) checkpointstore.Checkpoint {
	t.Helper()
	ctx, store := ckContext(t), memstore.New()
	left := &ckWeighing{Store: store, whole: weighing.whole}
	if c, err := weighing.Get(t.Context(), "run-7"); err == nil {
		require.NoError(t, store.Put(t.Context(), c))
	}
	keep := continuation.WithCheckpoints(left.store())
	var closeReader func()
	if blocks {
		r, err := typed(t, fm.NewAgentic(script), keep, ctNow()).Stream(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
		require.NoError(t, err)
		closeReader = ckReadOn(r)
	} else {
		r, err := continuation.Wrap(fm.New(script), keep, ctNow()).Stream(ctx, ctInput())
		require.NoError(t, err)
		closeReader = ckReadOn(r)
	}
	<-time.After(3 * time.Second)
	synctest.Wait()
	c, err := store.Get(t.Context(), "run-7")
	require.NoError(t, err)
	weighing.puts.Add(left.puts.Load() + left.appends.Load())
	closeReader()
	require.NoError(t, weighing.Delete(t.Context(), "run-7"))
	require.NoError(t, weighing.Store.Put(t.Context(), c))

	return c
}

// ckReadOn reads a stream until it is closed.
func ckReadOn[M any](r *schema.StreamReader[M]) (closeReader func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := r.Recv(); err != nil {
				return
			}
		}
	}()

	return func() {
		r.Close()
		<-done
		synctest.Wait()
	}
}
