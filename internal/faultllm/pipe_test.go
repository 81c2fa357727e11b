package faultllm_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestAPauseOnAPipeTakesNoTime waits an hour of a fake clock inside an answer, and before the headers of another.
func TestAPauseOnAPipeTakesNoTime(t *testing.T) {
	const hour = time.Hour
	for _, at := range []faultllm.Position{faultllm.InText(1), faultllm.BeforeHeaders(), faultllm.AtByte(1)} {
		for _, stream := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				pipe := faultllm.NewPipe()
				s := start(t, faultllm.Config{
					Listener: pipe, Script: faultllm.Reply(faultllm.Say("It is ", "late.")), Plan: faultllm.Every(faultllm.Pause(at, hour)),
				})
				client := &http.Client{Transport: &http.Transport{DialContext: pipe.DialContext}}
				defer client.CloseIdleConnections()
				began := time.Now()
				doc := `{"model":"m","stream":true,"messages":[{"role":"user","content":"How late?"}]}`
				if !stream {
					doc = `{"model":"m","messages":[{"role":"user","content":"How late?"}]}`
				}
				r, err := client.Post(s.URL()+"/chat/completions", "application/json", bytes.NewReader([]byte(doc)))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				body, err := io.ReadAll(r.Body)
				if err != nil || !bytes.Contains(body, []byte("late.")) {
					t.Errorf("got %q, %v", body, err)
				}
				if d := time.Since(began); d != hour {
					t.Errorf("%v, stream %t: it took %v", at, stream, d)
				}
			})
		}
	}
}

func TestAClosedPipeRefuses(t *testing.T) {
	pipe := faultllm.NewPipe()
	s := start(t, faultllm.Config{Listener: pipe, Script: faultllm.Reply(faultllm.Say("no"))})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := pipe.DialContext(t.Context(), "", ""); err == nil {
		t.Errorf("dialed %v", c.RemoteAddr())
	}
}
