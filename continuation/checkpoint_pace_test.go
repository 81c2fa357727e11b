package continuation_test

import (
	"context"
	"errors"
	"io"
	"sync"
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

// ckNoted is a store that notes what it is asked to change.
type ckNoted struct {
	*memstore.Store
	takes  time.Duration
	putErr error

	mu  sync.Mutex
	ops []string // "put", "done", "delete"
	at  []time.Time
}

func (s *ckNoted) note(op string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ops, s.at = append(s.ops, op), append(s.at, time.Now())
}

func (s *ckNoted) noted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return append([]string(nil), s.ops...)
}

func (s *ckNoted) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	if err := s.write(c.Done); err != nil {
		return err
	}

	return s.Store.Put(ctx, c)
}

func (s *ckNoted) Append(ctx context.Context, d checkpointstore.Delta) error {
	if err := s.write(d.Done); err != nil {
		return err
	}

	return s.Store.Append(ctx, d)
}

func (s *ckNoted) write(done bool) error {
	if op := "put"; done {
		s.note("done")
	} else {
		s.note(op)
	}
	<-time.After(s.takes)

	return s.putErr
}

func (s *ckNoted) DeleteIf(ctx context.Context, c checkpointstore.Checkpoint) error {
	s.note("delete")

	return s.Store.DeleteIf(ctx, c)
}

func ckSlowAnswer() fm.Script {
	return fm.Script{fm.Text("Water "), fm.Idle(time.Second), fm.Text("boils."), fm.Finish("stop")}
}

// ckCutAnswer ends behind a whole call: its last chunk comes when the call has ended already.
func ckCutAnswer() fm.Script {
	return fm.Script{fm.Text("I look. "), fm.Idle(time.Second), fm.Call(0, "c1", "look", `{"a":1}`), fm.Reset()}
}

// ckReadAll reads all but the end.
func ckReadAll(t *testing.T, r *schema.StreamReader[*schema.Message]) {
	t.Helper()
	for {
		c, err := r.Recv()
		require.NoError(t, err)
		if c.ResponseMeta != nil && c.ResponseMeta.FinishReason != "" {
			return
		}
	}
}

// TestEndThatIsReadIsNotWritten: a consumer that reads the end at once costs the store one delete; for one that does not,
// the finished answer is there, also if it was closed instead.
func TestEndThatIsReadIsNotWritten(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		pause time.Duration // before the end is read
		close bool
		want  []string // at the end
	}{
		"at once":  {0, false, []string{"put", "delete"}},
		"soon":     {19 * time.Millisecond, false, []string{"put", "delete"}},
		"late":     {21 * time.Millisecond, false, []string{"done", "delete"}},
		"never":    {time.Hour, true, []string{"put", "done"}},
		"not read": {0, true, []string{"put", "done"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := &ckNoted{Store: memstore.New()}
				r, err := continuation.Wrap(fm.New(ckCutAnswer()), continuation.WithCheckpoints(store)).Stream(ckContext(t), ctInput())
				require.NoError(t, err)
				ckReadAll(t, r)
				<-time.After(tt.pause)
				if !tt.close {
					_, err = r.Recv()
					require.Equal(t, io.EOF, err)
				}
				r.Close()
				<-time.After(time.Second)
				ops := store.noted()
				assert.Equal(t, tt.want, ops[len(ops)-2:])
				c, err := store.Get(t.Context(), "run-7")
				if tt.close {
					require.NoError(t, err)
					assert.True(t, c.Done)
				} else {
					require.ErrorIs(t, err, checkpointstore.ErrNotFound)
				}
			})
		})
	}
}

// TestDeleteThatComesTooLate: who has the whole answer keeps it, also if another call is being answered with it.
func TestDeleteThatComesTooLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		m := continuation.Wrap(fm.New(ckCutAnswer()), continuation.WithCheckpoints(store))
		r, err := m.Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		defer r.Close()
		ckReadAll(t, r)
		<-time.After(time.Second) // the finished answer is written
		inner := fm.New()
		second, err := continuation.Wrap(inner, continuation.WithCheckpoints(store)).Stream(ckContext(t), ctInput())
		require.NoError(t, err)
		defer second.Close()
		_, err = r.Recv()
		require.Equal(t, io.EOF, err)
		assert.Empty(t, inner.Requests())
		_, err = store.Get(t.Context(), "run-7")
		require.NoError(t, err, "it is the second call's to delete")
	})
}

// TestEndOfWhatWasNeverWritten: a store that took no write is not taken for one that says the run was taken over.
func TestEndOfWhatWasNeverWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		left, _ := ckDie(t, ckAnswers()["text"], 2)
		store := &ckNoted{Store: left, putErr: errors.New("disk full")}
		m := continuation.Wrap(fm.Continuer(ckSlowAnswer()), continuation.WithCheckpoints(store))
		require.NoError(t, ctStreamOf(ckContext(t), m, []*schema.Message{schema.UserMessage("Say another thing.")}).err)
		<-time.After(time.Minute) // the last write is given up
		assert.NotContains(t, store.noted(), "delete", "what is there belongs to another answer")
	})
}

// TestSlowStoreIsSpared: a store gets as many writes as it can take, and a quick one as many as FlushEvery says.
func TestSlowStoreIsSpared(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		takes       time.Duration
		least, most time.Duration // between two writes
	}{
		"quick":  {time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond},
		"slow":   {100 * time.Millisecond, 790 * time.Millisecond, 850 * time.Millisecond},
		"slower": {5 * time.Second, 5 * time.Second, 5050 * time.Millisecond},
		"mostly": {time.Second, 1900 * time.Millisecond, 2050 * time.Millisecond}, // eight flush intervals, and no more
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var answer fm.Script
				for range 1200 {
					answer = append(answer, fm.Text("x"), fm.Idle(50*time.Millisecond))
				}
				store := &ckNoted{Store: memstore.New(), takes: tt.takes}
				m := continuation.Wrap(fm.Continuer(append(answer, fm.Finish("stop"))), continuation.WithCheckpoints(store))
				require.NoError(t, ctStream(ckContext(t), m).err)
				writes := store.at[:len(store.at)-1]
				require.Greater(t, len(writes), 10)
				for i := len(writes) / 2; i < len(writes)-1; i++ { // it has found its pace
					between := writes[i+1].Sub(writes[i])
					assert.GreaterOrEqual(t, between, tt.least)
					assert.LessOrEqual(t, between, tt.most)
				}
				<-time.After(time.Minute)
			})
		})
	}
}
