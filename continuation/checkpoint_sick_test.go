package continuation_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckFlapping is a store some of whose writes fail.
type ckFlapping struct {
	*memstore.Store
	fails []int32 // which, counted from 1
	n     atomic.Int32
}

func (s *ckFlapping) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if slices.Contains(s.fails, s.n.Add(1)) {
		return errors.New("disk full")
	}

	return s.Store.Put(ctx, c)
}

func (s *ckFlapping) Append(ctx context.Context, d checkpointstore.Delta) error {
	if slices.Contains(s.fails, s.n.Add(1)) {
		return errors.New("disk full")
	}

	return s.Store.Append(ctx, d)
}

// TestSickStoreIsToldOfHoweverTheCallEnds: a store whose writes fail or hang is told of once, and before the last event,
// also by a call that is too short for more than one write.
func TestSickStoreIsToldOfHoweverTheCallEnds(t *testing.T) {
	t.Parallel()
	const last = "the reader is closed"
	ends := map[string][]fm.Script{
		"whole":     {{fm.Text("a "), fm.Text("b"), fm.Finish("stop")}},
		"permanent": {{fm.Text("a "), fm.Fail(brRefusal{StatusCode: 401})}},
		"exhausted": {{fm.Text("a "), fm.Reset()}, {fm.OpenFail(brRefusal{StatusCode: 401})}},
		"cancelled": {{fm.Text("a "), fm.Stall()}},
		last:        {{fm.Text("a "), fm.Stall()}},
	}
	for end, scripts := range ends {
		for sickness, store := range map[string]func() *ckStore{
			"fails":  func() *ckStore { return &ckStore{Store: memstore.New(), putErr: errors.New("disk full")} },
			"slow":   func() *ckStore { return &ckStore{Store: memstore.New(), putDelay: 5 * time.Second} },
			"hangs":  func() *ckStore { return &ckStore{Store: memstore.New(), putDelay: time.Hour} },
			"panics": func() *ckStore { return &ckStore{Store: memstore.New(), putPanic: true} },
		} {
			t.Run(end+", "+sickness, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					events := &ctEvents{}
					m := continuation.Wrap(fm.New(scripts...), ctNow(), continuation.WithHandler(events),
						continuation.WithCheckpoints(store(), continuation.KeepUntilCommit()))
					ctx, cancel := context.WithCancel(ckContext(t))
					defer cancel()
					r, err := m.Stream(ctx, ctInput())
					require.NoError(t, err)
					_, err = r.Recv()
					require.NoError(t, err)
					switch end {
					case last:
						r.Close()
					case "cancelled":
						cancel()
						fallthrough
					default:
						_, err = fm.Collect(r)
						assert.Equal(t, end == "whole", err == nil, "%v", err)
					}
					<-time.After(time.Hour)
					assert.Len(t, ctOf[callbacks.CheckpointFailed](events), 1)
					ctEnd(t, events)
				})
			})
		}
	}
}

// TestEpisodes: each episode of failures is told of once, and what failed is written again though nothing more comes.
func TestEpisodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &ckFlapping{Store: memstore.New(), fails: []int32{1, 2, 4}}
		events := &ctEvents{}
		inner := fm.New(fm.Script{fm.Text("a "), fm.Idle(time.Minute), fm.Text("b "), fm.Idle(time.Minute), fm.Text("c"), fm.Finish("stop")})
		m := continuation.Wrap(inner, continuation.WithCheckpoints(store), continuation.WithHandler(events))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		errs := make(chan error, 1)
		go func() { _, err := fm.Collect(r); errs <- err }()
		for _, want := range []string{"a ", "a b "} {
			<-time.After(30 * time.Second)
			c, err := store.Get(t.Context(), "run-7")
			require.NoError(t, err, "it is there long before anything more comes")
			assert.Equal(t, want, c.Text)
			<-time.After(30 * time.Second)
		}
		require.NoError(t, <-errs)
		assert.Len(t, ctOf[callbacks.CheckpointFailed](events), 2)
	})
}

// TestSlowWritesAreOneEpisode: a store that takes five seconds for each write of a long answer is told of once.
func TestSlowWritesAreOneEpisode(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := &ctEvents{}
		var answer fm.Script
		for range 60 {
			answer = append(answer, fm.Text("word "), fm.Idle(time.Second))
		}
		m := continuation.Wrap(fm.New(append(answer, fm.Finish("stop"))), continuation.WithHandler(events),
			continuation.WithCheckpoints(&ckStore{Store: memstore.New(), putDelay: 5 * time.Second}))
		require.NoError(t, ctStream(ckContext(t), m).err)
		assert.Len(t, ctOf[callbacks.CheckpointFailed](events), 1)
		<-time.After(time.Minute)
	})
}

// TestBusyConsumer: what was delivered is written when it is due though the consumer does not come back for more.
func TestBusyConsumer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := continuation.Wrap(fm.New(fm.Script{fm.Text("Water "), fm.Text("boils."), fm.Stall()}), continuation.WithCheckpoints(store))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		defer r.Close()
		for _, want := range []string{"Water ", "Water boils."} {
			_, err = r.Recv()
			require.NoError(t, err)
			<-time.After(300 * time.Millisecond)
			c, err := store.Get(t.Context(), "run-7")
			require.NoError(t, err)
			assert.Equal(t, want, c.Text)
		}
	})
}

// TestFlushBytes: an answer is written when so many bytes have come, long before its interval has passed.
func TestFlushBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := continuation.Wrap(fm.New(fm.Script{fm.Text("12345"), fm.Text("6789"), fm.Text("0"), fm.Stall()}),
			continuation.WithCheckpoints(store, continuation.FlushEvery(time.Hour, 10)))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		defer r.Close()
		for _, want := range []string{"", "", "1234567890"} {
			_, err = r.Recv()
			require.NoError(t, err)
			synctest.Wait()
			c, err := store.Get(t.Context(), "run-7")
			assert.Equal(t, want == "", errors.Is(err, checkpointstore.ErrNotFound))
			assert.Equal(t, want, c.Text)
		}
	})
}

// TestWholeCallIsWrittenAtOnce: a tool call that has come whole is in the store before the interval has passed.
func TestWholeCallIsWrittenAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		inner := fm.New(fm.Script{fm.Call(0, "c1", "look", `{"a":`), fm.Call(0, "", "", `1}`), fm.Stall()})
		m := continuation.Wrap(inner, continuation.WithCheckpoints(store, continuation.FlushEvery(time.Hour, 1<<20)))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = fm.Collect(r)
		}()
		synctest.Wait()
		c, err := store.Get(t.Context(), "run-7")
		require.NoError(t, err)
		require.Len(t, c.ToolCalls, 1)
		assert.JSONEq(t, `{"a":1}`, c.ToolCalls[0].Arguments)
		r.Close()
		<-done
	})
}

// TestEndDoesNotHoldWhoLeaves: who waits for the end of an answer and then leaves does not wait for a store that hangs.
func TestEndDoesNotHoldWhoLeaves(t *testing.T) {
	t.Parallel()
	for _, closes := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := &ckStore{Store: memstore.New(), putDelay: time.Hour}
			m := continuation.Wrap(fm.New(ckSlowAnswer()), continuation.WithCheckpoints(store, continuation.KeepUntilCommit(), continuation.StartTimeout(time.Minute)))
			ctx, cancel := context.WithCancel(ckContext(t))
			defer cancel()
			r, err := m.Stream(ctx, ctInput())
			require.NoError(t, err)
			ckReadAll(t, r)
			began, end := time.Now(), make(chan error, 1)
			go func() { _, err := r.Recv(); end <- err }()
			<-time.After(time.Second)
			if closes {
				r.Close()
			} else {
				cancel()
			}
			require.Equal(t, io.EOF, <-end)
			assert.Equal(t, time.Second, time.Since(began))
			r.Close()
			<-time.After(2 * time.Hour)
		})
	}
}
