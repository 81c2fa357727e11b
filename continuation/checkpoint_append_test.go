package continuation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
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

// TestACrashOfALongAnswerCostsLittle: where the store can add, an answer that comes at a megabyte a second is written as closely
// at its end as at its beginning; and again behind the next write, if the store once had nothing to add to, or failed.
func TestACrashOfALongAnswerCostsLittle(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		err  error
		most int // bytes of what the consumer has that are not in the store
	}{
		"all is well":   {nil, 8 << 10},
		"nothing there": {checkpointstore.ErrNoBase, 8 << 10},
		"an error":      {errors.New("timeout"), 512 << 10}, // at a megabyte a second, and the next try comes 0.4 s later
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const chunk = 512
				var answer fm.Script
				for range 8192 {
					answer = append(answer, fm.Text(strings.Repeat("y", chunk)), fm.Idle(chunk*time.Microsecond))
				}
				store := &ckAppending{Store: memstore.New()}
				store.fail = func(n int32, _ checkpointstore.Delta) error {
					if n == 250 {
						return tt.err
					}

					return nil
				}
				r, err := continuation.Wrap(fm.New(append(answer, fm.Finish("stop"))), continuation.WithCheckpoints(store)).Stream(ckContext(t), ctInput())
				require.NoError(t, err)
				defer r.Close()
				for n := 1; ; n++ {
					_, err := r.Recv()
					if errors.Is(err, io.EOF) {
						break
					}
					require.NoError(t, err)
					if n%128 != 0 {
						continue
					}
					synctest.Wait()
					c, err := store.Get(t.Context(), "run-7")
					require.NoError(t, err)
					assert.GreaterOrEqual(t, len(c.Text), n*chunk-tt.most, "of %d", n*chunk)
				}
				assert.LessOrEqual(t, store.puts.Load(), int32(8))
			})
		})
	}
}

// ckAppending is a store that fails to add.
type ckAppending struct {
	*memstore.Store
	fail    func(n int32, d checkpointstore.Delta) error // to add for the n-th time
	appends atomic.Int32
	puts    atomic.Int32
}

func (s *ckAppending) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	s.puts.Add(1)

	return s.Store.Put(ctx, c)
}

func (s *ckAppending) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := s.fail(s.appends.Add(1), d); err != nil {
		return err
	}

	return s.Store.Append(ctx, d)
}

// TestAppendThatFails: what could not be added is written whole; it is a failure of the store unless the store says that it has
// nothing to add to, and the end of the call if it says that another has taken over.
func TestAppendThatFails(t *testing.T) {
	t.Parallel()
	var answer fm.Script
	var text strings.Builder
	for i := range 40 {
		line := fmt.Sprintf("Line %d %s\n", i, strings.Repeat("x", 1000))
		text.WriteString(line)
		answer = append(answer, fm.Text(line), fm.Idle(300*time.Millisecond))
	}
	answer = append(answer, fm.Finish("stop"))
	const at = 5
	for name, tt := range map[string]struct {
		fail     func(*memstore.Store, checkpointstore.Delta) error
		told     string
		takeover bool
	}{
		"an error": {func(*memstore.Store, checkpointstore.Delta) error { return errors.New("disk full") }, "append", false},
		"too large together": {func(*memstore.Store, checkpointstore.Delta) error {
			return fmt.Errorf("disk: %w", checkpointstore.ErrTooLarge)
		}, "", false},
		"nothing there": {func(s *memstore.Store, _ checkpointstore.Delta) error {
			assert.NoError(t, s.Delete(t.Context(), "run-7"))

			return nil
		}, "", false},
		"a panic": {func(*memstore.Store, checkpointstore.Delta) error { panic("oops") }, "append", false},
		"it was added all the same": {func(s *memstore.Store, d checkpointstore.Delta) error {
			assert.NoError(t, s.Append(t.Context(), d))

			return errors.New("no answer")
		}, "append", false},
		"taken over": {func(s *memstore.Store, _ checkpointstore.Delta) error {
			return s.Put(t.Context(), checkpointstore.Checkpoint{RunID: "run-7", Epoch: 2, Owner: "another"})
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &ckAppending{Store: memstore.New()}
				store.fail = func(n int32, d checkpointstore.Delta) error {
					if n == at {
						return tt.fail(store.Store, d)
					}

					return nil
				}
				events := &ctEvents{}
				m := continuation.Wrap(fm.New(answer), continuation.WithCheckpoints(store, continuation.KeepUntilCommit()), continuation.WithHandler(events))
				got := ctStream(ckContext(t), m)
				failed := ctOf[callbacks.CheckpointFailed](events)
				if tt.takeover {
					require.ErrorIs(t, got.err, checkpointstore.ErrStale)
					assert.Empty(t, failed)
					c, err := store.Get(t.Context(), "run-7")
					require.NoError(t, err)
					assert.Equal(t, "another", c.Owner)

					return
				}
				require.NoError(t, got.err)
				assert.Equal(t, text.String(), got.text())
				if tt.told == "" {
					assert.Empty(t, failed)
				} else {
					require.Len(t, failed, 1)
					assert.Equal(t, tt.told, failed[0].Operation)
				}
				c, err := store.Get(t.Context(), "run-7")
				require.NoError(t, err)
				assert.Equal(t, text.String(), c.Text)
				assert.True(t, c.Done)
				assert.Greater(t, store.appends.Load(), int32(20), "it goes on adding")
				assert.Less(t, store.puts.Load(), int32(15))
			})
		})
	}
}

// ckNeverAdds is a store that can be put to, and not added to.
type ckNeverAdds struct {
	*ckWeighing
	err   error
	tried atomic.Int32
}

func (s *ckNeverAdds) Append(context.Context, checkpointstore.Delta) error {
	s.tried.Add(1)

	return s.err
}

// TestAStoreThatNeverAdds is given the whole, and is tried again ever more rarely: what an account of a server may do, or
// a disk, is not always the same for both.
func TestAStoreThatNeverAdds(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"refused": errors.New("NOPERM"), "nothing there": checkpointstore.ErrNoBase, "too large": checkpointstore.ErrTooLarge,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var script fm.Script
				for range 1000 {
					script = append(script, fm.Text(strings.Repeat("x", 1<<10)), fm.Idle(60*time.Millisecond))
				}
				store := &ckNeverAdds{ckWeighing: &ckWeighing{Store: memstore.New()}, err: err}
				events := &ctEvents{}
				m := continuation.Wrap(fm.New(append(script, fm.Stall())), continuation.WithCheckpoints(store), continuation.WithHandler(events))
				r, err := m.Stream(ckContext(t), ctInput())
				require.NoError(t, err)
				for range 1000 {
					_, err := r.Recv()
					require.NoError(t, err)
				}
				c, err := store.Get(t.Context(), "run-7")
				require.NoError(t, err)
				assert.Greater(t, len(c.Text), 256<<10, "it is written to all the same")
				assert.LessOrEqual(t, store.bytes.Load(), int64(3<<20))
				assert.Positive(t, store.tried.Load())
				assert.Less(t, store.tried.Load(), int32(8))
				r.Close()
				<-time.After(time.Minute)
				assert.LessOrEqual(t, len(ctOf[callbacks.CheckpointFailed](events)), int(store.tried.Load()))
			})
		})
	}
}

// TestASlowAppendIsToldOfAsOne: an event names the operation that took so long.
func TestASlowAppendIsToldOfAsOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var script fm.Script
		for range 60 {
			script = append(script, fm.Text(strings.Repeat("x", 1<<10)), fm.Idle(300*time.Millisecond))
		}
		store := &ckAppending{Store: memstore.New(), fail: func(int32, checkpointstore.Delta) error {
			<-time.After(3 * time.Second)

			return nil
		}}
		events := &ctEvents{}
		m := continuation.Wrap(fm.New(append(script, fm.Finish("stop"))), continuation.WithCheckpoints(store), continuation.WithHandler(events))
		require.NoError(t, ctStream(ckContext(t), m).err)
		failed := ctOf[callbacks.CheckpointFailed](events)
		require.NotEmpty(t, failed)
		assert.Equal(t, "append", failed[0].Operation)
		<-time.After(time.Minute)
	})
}

// TestWhatIsTooLargeIsTriedOnce: the next try would not be smaller.
func TestWhatIsTooLargeIsTriedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &ckStore{Store: memstore.New(), putErr: fmt.Errorf("server: %w", checkpointstore.ErrTooLarge)}
		events := &ctEvents{}
		m := continuation.Wrap(fm.New(fm.Script{fm.Text("a "), fm.Stall()}), continuation.WithCheckpoints(store), continuation.WithHandler(events))
		r, err := m.Stream(ckContext(t), ctInput())
		ckRecv(t, r, err, 1)
		<-time.After(time.Minute)
		assert.EqualValues(t, 2, store.puts.Load(), "when it was due, and at the end")
		assert.Len(t, ctOf[callbacks.CheckpointFailed](events), 1)
	})
}

// TestTakeoverGoesOnAdding: what was claimed is stored; the next write adds to it.
func TestTakeoverGoesOnAdding(t *testing.T) {
	t.Parallel()
	for _, blocks := range []bool{false, true} {
		t.Run(fmt.Sprint("blocks: ", blocks), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var answer fm.Script
				for i := range 200 {
					line := fmt.Sprintf("Line %d %s\n", i, strings.Repeat("x", 1000))
					step := fm.Text(line)
					if blocks {
						step = fm.BlockText(0, line)
					}
					answer = append(answer, step, fm.Idle(time.Millisecond))
				}
				left := memstore.New()
				ctx := ckContext(t)
				dead := append(answer[:300:300], fm.Stall())
				ask := func(m fm.Script, store checkpointstore.Store, n int) {
					if blocks {
						r, err := typed(t, fm.AgenticContinuer(m), continuation.WithCheckpoints(store), ctNow()).Stream(ctx, []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
						ckRecv(t, r, err, n)
					} else {
						r, err := continuation.Wrap(fm.Continuer(m), continuation.WithCheckpoints(store), ctNow()).Stream(ctx, ctInput())
						ckRecv(t, r, err, n)
					}
				}
				ask(dead, left, 150)
				ctx = ckContext(t)
				store := &ckWeighing{Store: left}
				ask(answer, store, 190)
				synctest.Wait()
				assert.EqualValues(t, 1, store.puts.Load(), "the claim")
				assert.Greater(t, store.appends.Load(), int64(3))
			})
		})
	}
}

// ckRecv reads n chunks or more of a stream, and leaves it.
func ckRecv[M any](t *testing.T, r *schema.StreamReader[M], err error, n int) {
	t.Helper()
	require.NoError(t, err)
	for range n {
		_, err := r.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	<-time.After(time.Second)
	r.Close()
	synctest.Wait()
}
