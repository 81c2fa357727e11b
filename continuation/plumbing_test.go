package continuation_test

import (
	"context"
	"io"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	fm "github.com/eino-carryon/carryon/internal/faultmodel"
)

// ctCalls are calls that the tests of closing are made with, by where they stand when one chunk has been read.
func ctCalls() map[string][]fm.Script {
	return map[string][]fm.Script{
		"silent":     {{fm.Text("Hello "), fm.Stall()}},
		"talking":    {{fm.Text("Hello "), fm.Text("w"), fm.Text("o"), fm.Text("r"), fm.Text("ld"), fm.Stall()}},
		"waiting":    {{fm.Text("Hello "), fm.Reset()}},
		"reopening":  {{fm.Text("Hello "), fm.Reset()}, {fm.OpenStall()}},
		"joining":    {{fm.Text("Hello world and"), fm.Reset()}, {fm.Text("Hel"), fm.Stall()}},
		"finished":   {{fm.Text("Hello "), fm.Finish("stop")}},
		"whole call": {{fm.Text("Hello "), fm.Call(0, "c1", "add", `{}`), fm.Reset()}},
	}
}

func TestCloseTwiceAndRecvAfterClose(t *testing.T) {
	t.Parallel()
	for name, scripts := range ctCalls() {
		for _, reads := range []int{0, 1} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					inner := fm.New(scripts...)
					m, _ := ctWrap(t, inner)
					reader, err := m.Stream(t.Context(), ctInput())
					require.NoError(t, err)
					for range reads {
						_, err := reader.Recv()
						require.NoError(t, err)
					}

					reader.Close()
					reader.Close()
					ctLetGo(t, inner)

					requests := len(inner.Requests())
					_, err = reader.Recv()
					require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
					errs := ctRest(reader, 200)
					assert.Equal(t, io.EOF, errs[len(errs)-1], "Recv after Close ends")
					reader.Close()
					assert.Len(t, inner.Requests(), requests)
				})
			})
		}
	}
}

// TestCloseRaces is not in a bubble: the race detector is to see the real thing.
func TestCloseRaces(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for name, scripts := range ctCalls() {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				inner := fm.New(scripts...)
				m, _ := ctWrap(t, inner, continuation.WithBackoff(func(n int) time.Duration { return time.Duration(n-1) * time.Hour }))
				reader, err := m.Stream(ctx, ctInput())
				require.NoError(t, err)

				var all sync.WaitGroup
				reading := make(chan struct{})
				all.Go(func() {
					close(reading)
					for {
						if _, err := reader.Recv(); err != nil {
							return
						}
					}
				})
				<-reading
				for range 2 {
					all.Go(reader.Close)
				}
				all.Wait()
				ctRest(reader, 100)
				require.NoError(t, inner.WaitIdle(ctx))
			}
		})
	}
}

func TestCloseStopsARequestWithoutARecv(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		inner := fm.New(fm.Script{fm.Text("Hello "), fm.Stall()})
		m, _ := ctWrap(t, inner)
		reader, err := m.Stream(t.Context(), ctInput())
		require.NoError(t, err)
		_, err = reader.Recv()
		require.NoError(t, err)

		reader.Close()
		ctLetGo(t, inner)
	})
}

// TestDroppedReader drops readers without closing them; the collector has to end what they hold.
func TestDroppedReader(t *testing.T) {
	t.Parallel()
	for name, scripts := range ctCalls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := fm.New(scripts...)
			m, _ := ctWrap(t, inner)
			func() {
				reader, err := m.Stream(t.Context(), ctInput())
				require.NoError(t, err)
				_, err = reader.Recv()
				require.NoError(t, err)
			}()

			for deadline := time.Now().Add(20 * time.Second); inner.Open()+inner.Unclosed() > 0; runtime.Gosched() {
				runtime.GC()
				require.True(t, time.Now().Before(deadline), "still held: %d scripts, %d readers", inner.Open(), inner.Unclosed())
			}
		})
	}
}

// TestReadToTheEndAndNeverClosed relies on the bubble, which fails if a goroutine is left.
func TestReadToTheEndAndNeverClosed(t *testing.T) {
	t.Parallel()
	ends := map[string][]fm.Script{
		"whole":     {{fm.Text("Hello."), fm.Finish("stop")}},
		"continued": {{fm.Text("Hello "), fm.Reset()}, {fm.Text("world."), fm.Finish("stop")}},
		"restarted": {{fm.Reasoning("Hm"), fm.Reset()}, {fm.Text("Hello."), fm.Finish("stop")}},
		"tool call": {{fm.Call(0, "c1", "add", `{}`), fm.Reset()}},
		"error":     {{fm.Text("Hello "), fm.Fail(&ctStatusError{HTTPStatusCode: 401, Message: "no"})}},
		"exhausted": {{fm.Text("Hello "), fm.Reset()}, {fm.OpenFail(&ctStatusError{HTTPStatusCode: 401, Message: "no"})}},
	}
	for name, scripts := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				inner := fm.New(scripts...)
				m, _ := ctWrap(t, inner)
				reader, err := m.Stream(t.Context(), ctInput())
				require.NoError(t, err)
				for err == nil {
					_, err = reader.Recv()
				}
				ctLetGo(t, inner)
			})
		})
	}
}

func TestLateChunksGoNowhere(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]time.Duration{"in the next wait": 2*time.Minute + time.Second, "in the continuation": 3 * time.Minute, "after the end": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				time.AfterFunc(when, func() { close(release) })
				inner := fm.New(
					fm.Script{fm.Text("Hello "), fm.StallIgnoringContext(release), fm.Text("LATE"), fm.Finish("stop")},
					fm.Script{fm.Text("wo"), fm.Idle(100 * time.Second), fm.Text("rld."), fm.FinishUsage("stop", 3, 4)},
				)
				m, events := ctWrap(t, inner, continuation.WithBackoff(func(int) time.Duration { return 10 * time.Second }))

				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, "Hello world.", r.text())
				assert.Equal(t, 4, r.message(t).ResponseMeta.Usage.CompletionTokens)
				<-release
				ctLetGo(t, inner)
				assert.Equal(t, []string{
					"llm_stream_interrupted", "llm_stream_continuation_started", "llm_stream_joined", "llm_stream_continuation_completed",
				}, events.names())
				assert.Equal(t, callbacks.CauseIdleStall, ctOnly[callbacks.Interrupted](t, events).Cause)
			})
		})
	}
}

// TestModelThatIgnoresItsContext checks that neither Stream nor Recv nor Close waits for such a model.
func TestModelThatIgnoresItsContext(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]func(<-chan struct{}) fm.Script{
		"in Stream": func(c <-chan struct{}) fm.Script { return fm.Script{fm.OpenStallIgnoringContext(c), fm.Text("LATE")} },
		"in Recv":   func(c <-chan struct{}) fm.Script { return fm.Script{fm.StallIgnoringContext(c), fm.Text("LATE")} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				inner := fm.New(step(release), fm.Script{fm.Text("Hello."), fm.Finish("stop")}, step(release))
				m, events := ctWrap(t, inner, ctNow())

				began := time.Now()
				r := ctStream(t.Context(), m)
				require.NoError(t, r.err)
				assert.Equal(t, "Hello.", r.text())
				assert.Equal(t, 5*time.Minute, time.Since(began), "the watchdog gives it up")
				assert.Equal(t, callbacks.CauseIdleStall, ctOnly[callbacks.OpenRetried](t, events).Cause)

				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began = time.Now()
				r = ctStream(ctx, m)
				require.ErrorIs(t, r.err, context.DeadlineExceeded)
				assert.Equal(t, time.Second, time.Since(began))

				close(release)
				ctLetGo(t, inner)
			})
		})
	}
}
