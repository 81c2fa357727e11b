package continuation_test

import (
	"context"
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

	"github.com/eino-carryon/carryon/checkpointstore"
	"github.com/eino-carryon/carryon/checkpointstore/memstore"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ckWeighing is a store that counts what is written to it, as stores write it.
type ckWeighing struct {
	*memstore.Store
	whole                bool // it takes the whole each time
	bytes, puts, appends atomic.Int64
}

// store returns what a call is given.
func (s *ckWeighing) store() checkpointstore.Store {
	if !s.whole {
		return s
	}

	return struct {
		checkpointstore.Store
		checkpointstore.ConditionalDeleter
	}{s, s}
}

func (s *ckWeighing) Put(ctx context.Context, c checkpointstore.Checkpoint) error {
	data, err := checkpointstore.Encode(c)
	if err != nil {
		return err
	}
	s.bytes.Add(int64(len(data)))
	s.puts.Add(1)

	return s.Store.Put(ctx, c)
}

func (s *ckWeighing) Append(ctx context.Context, d checkpointstore.Delta) error {
	data, err := checkpointstore.EncodeDelta(d)
	if err != nil {
		return err
	}
	s.bytes.Add(int64(len(data)))
	s.appends.Add(1)

	return s.Store.Append(ctx, d)
}

// TestBytesOfALongAnswer: all writes of an answer of 1 MB together hold at most 3 MB, whatever it is made of and however
// fast it comes, also if the finished answer is written, too.
func TestBytesOfALongAnswer(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	pieces := map[string]string{
		"plain": strings.Repeat("x", 1024), "JSON": strings.Repeat("\t\"key\": \"value\",\n", 64)[:1024], "escape codes": strings.Repeat("\x1b[0m\n", 205)[:1024],
	}
	for kind, piece := range pieces {
		for _, gap := range []time.Duration{time.Microsecond, 60 * time.Millisecond} {
			for _, calls := range []int{0, 20} {
				for _, blocks := range []bool{false, true} {
					t.Run(fmt.Sprint(kind, ", ", gap, ", ", calls, " calls, blocks: ", blocks), func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) {
							var script fm.Script
							for n := 0; n < size; n += len(piece) {
								text := fm.Text(piece)
								if blocks {
									text = fm.BlockText(0, piece)
								}
								script = append(script, text, fm.Idle(gap))
							}
							for i := range calls {
								call := fm.Call(i, fmt.Sprint("c", i), "f", `{"a":1}`)
								if blocks {
									call = fm.BlockCall(i+1, fmt.Sprint("c", i), "f", `{"a":1}`)
								}
								script = append(script, call, fm.Idle(time.Millisecond))
							}
							for name, s := range map[string]struct {
								store *ckWeighing
								least int64
							}{"adds": {&ckWeighing{Store: memstore.New()}, 64}, "whole": {&ckWeighing{Store: memstore.New(), whole: true}, 4}} {
								ckRead(t, s.store.store(), blocks, script)
								c, err := s.store.Get(t.Context(), "run-7")
								require.NoError(t, err)
								assert.True(t, c.Done)
								assert.Len(t, c.Text, size)
								writes := s.store.puts.Load() + s.store.appends.Load()
								assert.LessOrEqual(t, s.store.bytes.Load(), int64(3*size), "%s, in %d writes", name, writes)
								assert.GreaterOrEqual(t, writes, s.least, name)
							}
						})
					})
				}
			}
		}
	}
}

// ckRead reads an answer whose end keeps it.
func ckRead(t *testing.T, store checkpointstore.Store, blocks bool, script fm.Script) {
	t.Helper()
	keep := continuation.WithCheckpoints(store, continuation.KeepUntilCommit())
	if !blocks {
		require.NoError(t, ctStream(ckContext(t), continuation.Wrap(fm.New(append(script, fm.Finish("stop"))), keep)).err)

		return
	}
	inner := fm.NewAgentic(append(script, fm.StopReason("end_turn", 1, 1)))
	r, err := typed(t, inner, keep).Stream(ckContext(t), []*schema.AgenticMessage{schema.UserAgenticMessage("Tell me.")})
	require.NoError(t, err)
	for err == nil {
		_, err = r.Recv()
	}
	require.Equal(t, io.EOF, err)
}
