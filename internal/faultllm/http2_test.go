package faultllm_test

import (
	"errors"
	"io"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestHTTP2BeforeHeaders breaks what has no headers yet. The client asks again by itself where it may.
func TestHTTP2BeforeHeaders(t *testing.T) {
	before := faultllm.BeforeHeaders()
	for _, f := range []faultllm.Fault{
		faultllm.Reset(before), faultllm.CutChunked(before), faultllm.ResetStream(before, 2), faultllm.GoAway(before, 0),
	} {
		s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
		c := http2Client(t)
		got := talk(t, c, s, faultllm.OpenAI, speak(faultllm.OpenAI, true, says("user", "hello")))
		equal(t, f.String()+": fails", got.err != nil, true)
		equal(t, f.String()+": billed", s.Ledger().Billed(), 0)
		equal(t, f.String()+": status", record(t, s, 0).Status, 0)
	}
}

// TestHTTP2StreamsAreApart resets one of two streams of a connection.
func TestHTTP2StreamsAreApart(t *testing.T) {
	release := make(chan struct{})
	s := start(t, faultllm.Config{Script: full(), Plan: faultllm.InOrder(
		faultllm.Hold(faultllm.InText(1), release), faultllm.ResetStream(faultllm.InText(1), 2),
	)})
	c := faultllm.HTTP2Client()
	first := make(chan reply)
	words := speak(faultllm.OpenAI, true, says("user", "hello"))
	go func() { first <- talk(t, c, s, faultllm.OpenAI, words) }()
	if _, err := s.WaitFault(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	broken := talk(t, c, s, faultllm.OpenAI, words)
	checkBreak(t, broken.err, "stream ID 3; INTERNAL_ERROR")
	close(release)
	got := <-first
	equal(t, "the other", got.text, "one two three")
	equal(t, "its end", got.err, nil)
	c.CloseIdleConnections()
	if err := s.WaitConnections(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
}

// TestHTTP2Leaves checks that a client that leaves a stream is seen, and that closing the server breaks streams.
func TestHTTP2Leaves(t *testing.T) {
	s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(faultllm.Stall(faultllm.InText(1)))})
	c := http2Client(t)
	res, err := post(t.Context(), c, s, request([]msg{user("hello")}, nil))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if _, err := s.WaitDisconnect(t.Context(), 0); err != nil {
		t.Error(err)
	}
	res, err = post(t.Context(), c, s, request([]msg{user("hello")}, nil))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if _, err := s.WaitFault(t.Context(), 1); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the stream ended well")
	}
}

// TestWholeOnHTTP2 breaks a response that is not streamed.
func TestWholeOnHTTP2(t *testing.T) {
	for _, f := range []faultllm.Fault{
		faultllm.CutChunked(faultllm.AtStart()), faultllm.ResetStream(faultllm.AtStart(), 2), faultllm.Reset(faultllm.AtStart()),
	} {
		for _, v := range faultllm.Vendors() {
			s := start(t, faultllm.Config{Script: full(), Plan: faultllm.Every(f)})
			got := talk(t, http2Client(t), s, v, speak(v, false, says("user", "hello")))
			equal(t, v.String()+": breaks", got.err != nil && !errors.Is(got.err, io.EOF), true)
			equal(t, v.String()+": half", len(got.raw) > 20, true)
		}
	}
}
