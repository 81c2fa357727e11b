package faultllm_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

func TestStallSeesTheClientLeave(t *testing.T) {
	for _, f := range []faultllm.Fault{
		faultllm.Stall(faultllm.BeforeHeaders()),
		faultllm.Stall(faultllm.InText(1)),
		faultllm.StallKeepingAlive(faultllm.InText(1), 0),
	} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		c := client(t)
		go func() {
			res, err := post(ctx, c, s, request([]msg{user("hello")}, nil))
			if err == nil {
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			ended <- err
		}()
		if _, err := s.WaitFault(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		left := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v: client's error = %v", f, err)
		}
		rec, err := s.WaitDisconnect(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if rec.DisconnectedAt.Before(left) {
			t.Errorf("%v: left at %v, recorded at %v", f, left, rec.DisconnectedAt)
		}
		if err := errors.Join(s.WaitIdle(t.Context()), s.WaitConnections(t.Context(), 0)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHoldGoesOn(t *testing.T) {
	for _, at := range []faultllm.Position{faultllm.BeforeHeaders(), faultllm.InText(2)} {
		release := make(chan struct{})
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.Hold(at, release))})
		got := make(chan reply, 1)
		go func() { got <- ask(t, s, user("hello")) }()
		rec, err := s.WaitFault(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if at == faultllm.InText(2) {
			equal(t, "billed while held", rec.Completion, 2+2)
		}
		close(release)
		equal(t, "text", (<-got).text, "one two three")
	}
}

func TestWholeFaults(t *testing.T) {
	at := faultllm.InText(1)
	for _, test := range []struct {
		fault faultllm.Fault
		end   string
		hit   bool
	}{
		{faultllm.Reset(at), reset, true},
		{faultllm.CutChunked(at), unexpected, true},
		{faultllm.MalformedJSON(at), clean, true},
		{faultllm.EmptyBody(), clean, true},
		{faultllm.CleanEnd(at), clean, false},
	} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(test.fault)})
		got := whole(t, s, user("hello"))
		checkEnd(t, got.err, test.end)
		rec := record(t, s, 0)
		equal(t, "hit "+test.fault.String(), rec.FaultHit, test.hit)
		equal(t, "answered", got.text != "", !test.hit)
		if test.fault != faultllm.EmptyBody() {
			equal(t, "billed", rec.Completion, faultllm.Needed(full()[0].Answer))
		}
	}
}
