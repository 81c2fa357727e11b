package interop

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/continuation"
	"github.com/eino-carryon/carryon/internal/faultllm"
)

// promptly is how soon the provider must see that nobody reads any more. It does within a millisecond; what is left is
// room for a busy machine, which can still take the processor away for longer: so nine runs of ten are held to it, and
// single runs to soon.
const (
	promptly = 100 * time.Millisecond
	soon     = 5 * time.Second
)

// TestTheProviderSeesTheEndPromptly ends a stream in two ways, while the provider is silent and while it sends, fifty
// times each, and measures until the provider has seen it.
func TestTheProviderSeesTheEndPromptly(t *testing.T) {
	const runs = 50
	busy := func(p faultllm.Position) faultllm.Fault { return faultllm.KeepAlives(p, 1<<20, time.Millisecond) }
	drip := func(p faultllm.Position) faultllm.Fault { return faultllm.SlowDrip(p, 5*time.Millisecond) }
	for _, c := range []struct {
		name  string
		fault func(faultllm.Position) faultllm.Fault
		at    faultllm.Position
		after int // chunks read before the end
	}{
		{"silent before content", faultllm.Stall, faultllm.AtStart(), 0},
		{"silent in the text", faultllm.Stall, faultllm.InText(1), 1},
		{"silent in a tool call", faultllm.Stall, faultllm.InTool(0, 8), 1},
		{"sending comments", busy, faultllm.InText(1), 1},
		{"sending text", drip, faultllm.InText(1), 1},
	} {
		for _, way := range []string{"close", "close during Recv", "cancel"} {
			t.Run(c.name+"/"+way, func(t *testing.T) {
				r := newRig(t, plainTransport, faultllm.Config{
					Script: faultllm.Reply(faultllm.Say("Once. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Oban"}`)),
					Plan:   faultllm.Every(c.fault(c.at)),
				})
				m := r.wrap()
				took := make([]time.Duration, 0, runs)
				for n := range runs {
					took = append(took, r.leave(t, m, n, c.after, way))
				}
				slices.Sort(took)
				t.Logf("the provider saw the end after %v (median), %v (longest of %d)", took[runs/2], took[runs-1], runs)
				assert.Less(t, took[runs*9/10], promptly)
				assert.Less(t, took[runs-1], soon)
				assert.Equal(t, runs, r.server.Ledger().Requests, "nothing is asked for after the end")
			})
		}
	}
}

// leave makes request n, ends it, and returns how long the provider took to see that.
func (r *rig) leave(t *testing.T, m *continuation.Model, n, after int, way string) time.Duration {
	t.Helper()
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, err := m.Stream(ctx, question())
	require.NoError(t, err)
	defer reader.Close()
	for range after {
		_, err := reader.Recv()
		require.NoError(t, err)
	}
	_, err = r.server.WaitFault(limit, n)
	require.NoError(t, err)

	end := make(chan error, 1)
	pending := way != "close"
	if pending {
		go func() { end <- lastError(reader) }()
	}
	began := time.Now()
	if way == "cancel" {
		cancel()
	} else {
		reader.Close()
	}
	rec, err := r.server.WaitDisconnect(limit, n)
	require.NoError(t, err)
	if pending {
		checkEnd(limit, t, end, way)
	}

	return rec.DisconnectedAt.Sub(began)
}

// lastError reads what is there and returns the error behind it.
func lastError(reader *schema.StreamReader[*schema.Message]) error {
	_, err := drain(reader)

	return err
}

// checkEnd waits for the reader that was reading when the stream was ended. It ends, and an end by the context is told.
func checkEnd(limit context.Context, t *testing.T, end <-chan error, way string) {
	t.Helper()
	select {
	case err := <-end:
		if way == "cancel" {
			require.ErrorIs(t, err, context.Canceled)
		}
	case <-limit.Done():
		t.Fatal("Recv still waits")
	}
}

// TestACancelDuringTheOpenReturnsAtOnce cancels before the provider has sent its headers.
func TestACancelDuringTheOpenReturnsAtOnce(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Reply(faultllm.Say("Once.")), Plan: faultllm.Every(faultllm.Stall(faultllm.BeforeHeaders())),
	})
	cause := errors.New("the user went away")
	ctx, cancel := context.WithCancelCause(t.Context())
	end := make(chan error, 1)
	go func() {
		_, err := stream(ctx, r.wrap())
		end <- err
	}()
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, err := r.server.WaitFault(limit, 0)
	require.NoError(t, err)
	began := time.Now()
	cancel(cause)
	rec, err := r.server.WaitDisconnect(limit, 0)
	require.NoError(t, err)
	assert.Less(t, rec.DisconnectedAt.Sub(began), soon)
	select {
	case err := <-end:
		require.ErrorIs(t, err, cause)
		require.ErrorIs(t, err, context.Canceled)
	case <-limit.Done():
		t.Fatal("Stream still waits")
	}
}

// TestTheEndOfAWait ends the call while it waits to go on: no request follows.
func TestTheEndOfAWait(t *testing.T) {
	for _, way := range []string{"close", "cancel"} {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, plainTransport, faultllm.Config{
				Script: faultllm.Script{{Answer: textAnswer().answer}}, Plan: faultllm.Every(faultllm.Reset(faultllm.InText(1))),
			})
			waits := make(chan struct{})
			m := r.wrap(
				continuation.WithBackoff(func(int) time.Duration { return time.Hour }),
				continuation.WithHandler(callbacks.HandlerFunc(func(_ context.Context, e callbacks.Event) {
					if _, ok := e.(callbacks.Started); ok {
						close(waits)
					}
				})),
			)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			reader, err := m.Stream(ctx, question())
			require.NoError(t, err)
			defer reader.Close()
			end := make(chan error, 1)
			go func() { end <- lastError(reader) }()
			limit, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			select {
			case <-waits:
			case <-limit.Done():
				t.Fatal("no continuation was started")
			}
			began := time.Now()
			if way == "cancel" {
				cancel()
			} else {
				reader.Close()
			}
			checkEnd(limit, t, end, way)
			assert.Less(t, time.Since(began), soon)
			assert.Equal(t, 1, r.ledger(t).Requests)
			assert.Len(t, eventsOf[callbacks.Cancelled](r.events), 1)
		})
	}
}

// TestASilentAttemptIsLeftBeforeTheNextAnswers holds the continuation until the provider has seen that the silent
// request was given up.
func TestASilentAttemptIsLeftBeforeTheNextAnswers(t *testing.T) {
	a, left := textAnswer().answer, make(chan struct{})
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Script{{Answer: a}},
		Plan:   faultllm.InOrder(faultllm.Stall(faultllm.InText(2)), faultllm.Hold(faultllm.AtStart(), left)),
	})
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	go func() {
		defer close(left)
		_, err := r.server.WaitDisconnect(limit, 0)
		assert.NoError(t, err)
	}()
	// Only the silence after the text is short: the continuation may wait for its first content.
	chunks, err := stream(limit, r.wrap(continuation.WithIdleTimeout(quick)))
	require.NoError(t, err)
	assert.Equal(t, a.Text(), concat(t, chunks).Content)
	assert.Equal(t, 2, r.ledger(t).Requests)
}

// TestACallThatOutgrowsTheBufferStopsTheProvider ends with an error, and the provider is told although nobody closes.
func TestACallThatOutgrowsTheBufferStopsTheProvider(t *testing.T) {
	r := newRig(t, plainTransport, faultllm.Config{
		Script: faultllm.Reply(faultllm.Say("So. "), faultllm.Call("call_a", "lookup", `{"port":`, `"Tobermory",`, `"day":3}`)),
		Plan:   faultllm.Every(faultllm.Stall(faultllm.InTool(0, 20))),
	})
	reader, err := r.wrap(continuation.WithMaxBufferedBytes(16)).Stream(t.Context(), question())
	require.NoError(t, err)
	chunks, err := drain(reader)
	var grown *continuation.BufferError
	require.ErrorAs(t, err, &grown)
	assert.Equal(t, "lookup", grown.Tool)
	assert.Equal(t, "So. ", concat(t, chunks).Content)
	limit, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	_, err = r.server.WaitDisconnect(limit, 0)
	require.NoError(t, err)
	assert.Equal(t, 1, r.ledger(t).Requests)
}
