package scenarios_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/filestore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

const run = "run-7"

// inRun is the context of a call whose answer is kept.
func inRun(t *testing.T) context.Context {
	t.Helper()

	return continuation.ContextWithRunID(t.Context(), run)
}

// die makes a call in a process that dies when nothing more comes, and returns what it left in store, as a file or in
// memory. The dead one's reader is closed when the test ends, which no longer matters.
func die(t *testing.T, file bool, inner *fm.Model, start checkpointstore.Store, opts ...continuation.CheckpointOption) checkpointstore.Store {
	t.Helper()
	r, err := continuation.Wrap(inner, now(), continuation.WithCheckpoints(start, opts...)).Stream(inRun(t), hi())
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for err := error(nil); err == nil; {
			_, err = r.Recv()
		}
	}()
	<-time.After(time.Second) // on the bubble's clock: what is due is written
	synctest.Wait()
	var left checkpointstore.Store = memstore.New()
	if file {
		left, err = filestore.New(t.TempDir())
		require.NoError(t, err)
	}
	if c, err := start.Get(t.Context(), run); err == nil {
		require.NoError(t, left.Put(t.Context(), c))
	}
	r.Close()
	<-done

	return left
}

// stores runs test in a bubble with each kind of store.
func stores(t *testing.T, name string, test func(t *testing.T, file bool)) {
	t.Helper()
	for kind, file := range map[string]bool{"memory": false, "file": true} {
		t.Run(name+"/"+kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				test(t, file)
				synctest.Wait() // what is being written still needs its directory
			})
		})
	}
}

// takeOver makes the call again, in another process.
func takeOver(t *testing.T, inner *fm.Model, left checkpointstore.Store, opts ...continuation.CheckpointOption) (got, *heard) {
	t.Helper()
	h := &heard{}
	g := ask(inRun(t), continuation.Wrap(inner, now(), continuation.WithCheckpoints(left, opts...), continuation.WithHandler(h)), hi())
	g.requests = inner.Requests()

	return g, h
}

// TestTakeOver: another process delivers the whole answer, and asks for what is missing of it.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	// https://github.com/cloudflare/agents/pull/1804
	stores(t, "B069 a process dies inside a tool call", func(t *testing.T, file bool) {
		t.Helper()
		for _, args := range []string{"", `{"q`, `{"q":"x"`} {
			left := die(t, file, fm.New(fm.Script{fm.Text("a "), fm.Call(0, "id", "f", args), fm.Stall()}), memstore.New())
			g, h := takeOver(t, fm.New(fm.Script{fm.Call(0, "id2", "f", `{"q":"x"}`), fm.Finish("tool_calls")}), left)
			require.NoError(t, g.err)
			assert.Equal(t, "a ", g.text())
			assert.Equal(t, []string{`id2 f {"q":"x"}`}, callsOf(g.message(t)))
			assert.Equal(t, "assistant: a", g.sent(0)[1])
			assert.Contains(t, h.told(), "broke: resumed_from_checkpoint, TruncateBeforeTool")
			assert.Contains(t, h.told(), "cancel: id f")
		}
	})
	// awakenworks/awaken, inference.rs: https://github.com/awakenworks/awaken
	stores(t, "B150 a checkpoint holds the latest attempt only", func(t *testing.T, file bool) {
		t.Helper()
		left := die(t, file, fm.New(
			fm.Script{fm.Text("One, "), fm.Reset()}, fm.Script{fm.Text("two, "), fm.Reset()}, fm.Script{fm.Text("three, "), fm.Stall()},
		), memstore.New())
		c, err := left.Get(t.Context(), run)
		require.NoError(t, err)
		assert.Equal(t, "One, two, three, ", c.Text)
		g, _ := takeOver(t, fm.New(fm.Script{fm.Text("four."), fm.Finish("stop")}), left)
		require.NoError(t, g.err)
		assert.Equal(t, "One, two, three, four.", g.text())
		assert.Equal(t, "assistant: One, two, three,", g.sent(0)[1])
	})
	// https://github.com/cloudflare/agents/issues/1733
	stores(t, "B153 two resumes show the text twice", func(t *testing.T, file bool) {
		t.Helper()
		left := die(t, file, fm.Continuer(prose(), fm.BreakAt(2, fm.Stall())), memstore.New())
		for i := range 3 {
			inner := fm.Continuer(prose())
			g, h := takeOver(t, inner, left, continuation.KeepUntilCommit())
			require.NoError(t, g.err)
			assert.Equal(t, prose().Text(), g.text(), "once in each stream")
			if i > 0 {
				assert.Empty(t, inner.Requests())
				assert.Equal(t, []string{"notice: answer_replayed"}, h.told())
			}
		}
	})
}

// TestForeignCheckpoint: an answer is taken over by the call that it answers, and by no other.
func TestForeignCheckpoint(t *testing.T) {
	t.Parallel()
	// https://github.com/cloudflare/agents/issues/1691
	stores(t, "B143 a new turn goes on with the old answer", func(t *testing.T, file bool) {
		t.Helper()
		for name, tt := range map[string]struct {
			ctx context.Context //nolint:containedctx // the difference is in it
			in  []*schema.Message
		}{
			"another input": {inRun(t), append(hi(), schema.AssistantMessage("Said.", nil), schema.UserMessage("And now?"))},
			"another run":   {continuation.ContextWithRunID(t.Context(), "run-8"), hi()},
			"no run":        {t.Context(), hi()},
		} {
			left := die(t, file, fm.Continuer(prose(), fm.BreakAt(2, fm.Stall())), memstore.New())
			inner := fm.New(fm.Script{fm.Text("New."), fm.Finish("stop")})
			g := ask(tt.ctx, continuation.Wrap(inner, continuation.WithCheckpoints(left)), tt.in)
			require.NoError(t, g.err, name)
			assert.Equal(t, "New.", g.text(), name)
			assert.Equal(t, tt.in, inner.Requests()[0].Messages, name)
		}
	})
	// https://github.com/cloudflare/agents/pull/1559
	stores(t, "B145 a process dies before the first chunk", func(t *testing.T, file bool) {
		t.Helper()
		for name, first := range map[string]fm.Script{
			"nothing": {fm.Stall()}, "opening": {fm.OpenStall()}, "role": {fm.Role(), fm.Stall()}, "usage": {fm.Usage(3, 0), fm.Stall()},
		} {
			var left checkpointstore.Store = memstore.New()
			if name != "opening" { // nobody has a reader there
				left = die(t, file, fm.New(first), memstore.New())
			}
			g, h := takeOver(t, fm.Continuer(prose()), left)
			require.NoError(t, g.err, name)
			assert.Equal(t, prose().Text(), g.text(), name)
			assert.Equal(t, []string{"user: Say it."}, g.sent(0), "%s: a plain call", name)
			assert.Empty(t, of[callbacks.CheckpointFailed](h), name)
		}
	})
}

// lateStore waits before its first Put, as a process does that is stopped there.
type lateStore struct {
	checkpointstore.Store
	proceed chan struct{}
}

func (s *lateStore) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	<-s.proceed

	return s.Store.Put(ctx, c)
}

// TestRivals: of several processes one has the answer, and the newest one.
func TestRivals(t *testing.T) {
	t.Parallel()
	// https://github.com/n8n-io/n8n/pull/34339
	stores(t, "B146 two processes drive one run", func(t *testing.T, file bool) {
		t.Helper()
		left := die(t, file, fm.Continuer(prose(), fm.BreakAt(2, fm.Stall())), memstore.New())
		late, lost := &lateStore{left, make(chan struct{})}, make(chan got, 1)
		go func() {
			g, _ := takeOver(t, fm.Continuer(prose()), late)
			lost <- g
		}()
		synctest.Wait() // it has read the checkpoint and is about to claim it
		inner := fm.Continuer(prose())
		g, _ := takeOver(t, inner, left, continuation.KeepUntilCommit())
		require.NoError(t, g.err)
		assert.Equal(t, prose().Text(), g.text())
		close(late.proceed)
		second := <-lost
		require.ErrorIs(t, second.err, checkpointstore.ErrStale)
		assert.Empty(t, second.requests, "nothing is paid for twice")
	})
	// https://github.com/open-multi-agent/open-multi-agent/pull/587
	stores(t, "B147 a process that was stopped writes over its successor", func(t *testing.T, file bool) {
		t.Helper()
		var left checkpointstore.Store = memstore.New()
		if file {
			var err error
			left, err = filestore.New(t.TempDir())
			require.NoError(t, err)
		}
		zombie := fm.New(fm.Script{fm.Text("The harbour "), fm.Idle(time.Minute), fm.Text("awakes "), fm.Idle(time.Second), fm.Stall()})
		r, err := continuation.Wrap(zombie, continuation.WithCheckpoints(left)).Stream(inRun(t), hi())
		require.NoError(t, err)
		end := make(chan error, 1)
		go func() { _, err := fm.Collect(r); end <- err }()
		<-time.After(time.Second) // on the bubble's clock
		g, _ := takeOver(t, fm.Continuer(prose()), left, continuation.KeepUntilCommit())
		require.NoError(t, g.err)
		require.ErrorIs(t, <-end, checkpointstore.ErrStale)
		c, err := left.Get(t.Context(), run)
		require.NoError(t, err)
		assert.Equal(t, prose().Text(), c.Text, "the successor's")
		assert.True(t, c.Done)
		letGo(t, zombie)
	})
	// https://github.com/cloudflare/agents, release notes of ai-chat 0.12.2
	stores(t, "B149 an answer that kills each process", func(t *testing.T, file bool) {
		t.Helper()
		const most = 3
		left := die(t, file, fm.New(fm.Script{fm.Text("a"), fm.Stall()}), memstore.New(), continuation.MaxTakeovers(most))
		for range most {
			left = die(t, file, fm.New(fm.Script{fm.Text("b"), fm.Stall()}), left, continuation.MaxTakeovers(most))
		}
		inner := fm.New(fm.Script{fm.Text("never asked for"), fm.Finish("stop")})
		g, _ := takeOver(t, inner, left, continuation.MaxTakeovers(most))
		var exhausted *continuation.ExhaustedError
		require.ErrorAs(t, g.err, &exhausted)
		assert.Equal(t, continuation.ReasonMaxTakeovers, exhausted.Reason)
		assert.Equal(t, "abbb", exhausted.Partial.Content)
		assert.Empty(t, inner.Requests())
	})
}
