package faultmodel

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/schema"
)

// stream opens a stream that ends with the test at the latest.
func stream(ctx context.Context, t *testing.T, m *Model) *schema.StreamReader[*schema.Message] {
	t.Helper()
	reader, err := m.Stream(ctx, ask("q"))
	if err != nil {
		t.Fatalf("Stream: %v", err)
	}
	return reader
}

func TestStepsAfterAnErrorAreStillSent(t *testing.T) {
	m := New(Script{Fail(errBoom), ThenMore(Text("a"), EOF(), Text("b"), UnexpectedEOF()), Nil()})
	reader := stream(t.Context(), t, m)
	defer reader.Close()
	want := []struct {
		text string
		err  error
	}{{"", errBoom}, {"a", nil}, {"", io.EOF}, {"b", nil}, {"", io.ErrUnexpectedEOF}, {"", nil}, {"", io.EOF}, {"", io.EOF}}
	for i, w := range want {
		chunk, err := reader.Recv()
		text := ""
		if chunk != nil {
			text = chunk.Content
		}
		if text != w.text || !errors.Is(err, w.err) {
			t.Errorf("Recv %d: %q, %v; want %q, %v", i, text, err, w.text, w.err)
		}
	}
}

func TestResetIsWhatNetReturns(t *testing.T) {
	var opError *net.OpError
	if err := ResetError(); !errors.As(err, &opError) || opError.Op != "read" || opError.Timeout() {
		t.Errorf("not a read error: %v", err)
	}
}

func TestPanicsAreTheReadersOwn(t *testing.T) {
	m := New(Script{Panic("p"), Text("a")}, Script{OpenPanic("q")})
	reader := stream(t.Context(), t, m)
	defer reader.Close()
	recovered := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	if v := recovered(func() { _, _ = reader.Recv() }); v != "p" {
		t.Errorf("Recv panicked with %v", v)
	}
	if chunk, err := reader.Recv(); err != nil || chunk.Content != "a" {
		t.Errorf("after the panic: %v, %v", chunk, err)
	}
	if v := recovered(func() { _, _ = m.Stream(t.Context(), ask("q")) }); v != "q" {
		t.Errorf("Stream panicked with %v", v)
	}
}

func TestSilenceEndsWithTheContext(t *testing.T) {
	silences := map[string]func() Step{
		"stall":      Stall,
		"idle":       func() Step { return Idle(time.Hour) },
		"gate":       func() Step { return Gate(make(chan struct{}), nil) },
		"locked":     func() Step { return Gate(nil, make(chan struct{})) },
		"open stall": OpenStall,
		"open idle":  func() Step { return OpenIdle(time.Hour) },
	}
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New(Script{silence(), Text("late")})
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Minute, func() { cancel(errBoom) })
				start := time.Now()
				reader, err := m.Stream(ctx, ask("q"))
				if err == nil {
					defer reader.Close()
					_, err = reader.Recv()
					if _, next := reader.Recv(); !errors.Is(next, io.EOF) {
						t.Errorf("after the end: %v", next)
					}
				}
				if !errors.Is(err, errBoom) || time.Since(start) != time.Minute {
					t.Errorf("ended with %v after %v", err, time.Since(start))
				}
				synctest.Wait()
				if r := m.Requests()[0]; r.Finished || r.Running || !r.Cancelled || r.Sent > 0 {
					t.Errorf("record: %+v", r)
				}
			})
		})
	}
}

func TestTimePassesInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		m := New(Script{OpenIdle(time.Second), Text("a"), Idle(time.Minute), Text("b")})
		if text, err := read(t.Context(), t, m, ask("q")); text != "ab" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if took := time.Since(start); took != time.Minute+time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestGateHoldsTheScript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reached, release := make(chan struct{}), make(chan struct{})
		reader := stream(t.Context(), t, New(Script{Text("a"), Gate(reached, release), Text("b")}))
		defer reader.Close()
		if chunk, err := reader.Recv(); err != nil || chunk.Content != "a" {
			t.Fatalf("first: %v, %v", chunk, err)
		}
		<-reached
		second := make(chan string, 1)
		go func() {
			chunk, _ := reader.Recv()
			second <- chunk.Content
		}()
		synctest.Wait()
		if len(second) > 0 {
			t.Error("the second chunk came before the release")
		}
		close(release)
		if text := <-second; text != "b" {
			t.Errorf("second: %q", text)
		}
	})
}

func TestALateChunkReachesAWaitingRecv(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := New(Script{StallIgnoringContext(release), Text("late"), Text("never")})
		ctx, cancel := context.WithCancel(t.Context())
		reader := stream(ctx, t, m)
		late := make(chan *schema.Message, 1)
		go func() {
			chunk, _ := reader.Recv()
			late <- chunk
		}()
		synctest.Wait()
		cancel()
		reader.Close()
		synctest.Wait()
		if len(late) > 0 || m.Open() != 1 || m.Unclosed() != 0 {
			t.Fatalf("late %d, open %d, unclosed %d", len(late), m.Open(), m.Unclosed())
		}
		close(release)
		if chunk := <-late; chunk == nil || chunk.Content != "late" {
			t.Errorf("late chunk: %v", chunk)
		}
		synctest.Wait()
		if r := m.Requests()[0]; r.Running || r.Sent != 1 {
			t.Errorf("record: %+v", r)
		}
		if _, err := reader.Recv(); !errors.Is(err, io.EOF) {
			t.Errorf("Recv after Close: %v", err)
		}
	})
}

func TestAModelThatIgnoresItsContextGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		close(release)
		m := New(Script{StallIgnoringContext(release), Text("a"), Idle(time.Second), Text("b")})
		ctx, cancel := context.WithCancel(t.Context())
		reader := stream(ctx, t, m)
		cancel()
		synctest.Wait()
		chunks, err := Collect(reader)
		if text := Concat(t, chunks).Content; text != "ab" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	})
}

func TestOpenStallIgnoringContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := New(Script{OpenStallIgnoringContext(release), Text("a")})
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		time.AfterFunc(time.Second, func() { close(release) })
		start := time.Now()
		if text, err := read(ctx, t, m, ask("q")); text != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("%q, %v", text, err)
		}
		if time.Since(start) != time.Second {
			t.Errorf("opened after %v", time.Since(start))
		}
	})
}

func TestTheProducerEndsWithItsReaderOrContext(t *testing.T) {
	for _, buffer := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			script := Script{Text("a"), Text("b"), Text("c"), Text("d")}
			m := New(script, script).Buffer(buffer)
			closed := stream(t.Context(), t, m)
			ctx, cancel := context.WithCancel(t.Context())
			cancelled := stream(ctx, t, m)
			synctest.Wait()
			if m.Open() != 2 {
				t.Fatalf("open %d", m.Open())
			}
			closed.Close()
			cancel()
			synctest.Wait()
			if m.Open() != 0 || m.Unclosed() != 1 {
				t.Errorf("open %d, unclosed %d", m.Open(), m.Unclosed())
			}
			if _, err := Collect(cancelled); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled stream: %v", err)
			}
			synctest.Wait()
			if r := m.Requests(); r[0].Cancelled || r[0].Finished || !r[1].Cancelled || r[1].Sent != buffer || m.Unclosed() != 0 {
				t.Errorf("record: %+v", r)
			}
		})
	}
}
