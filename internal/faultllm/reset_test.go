package faultllm_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/eino-carryon/carryon/internal/faultllm"
)

// TestResetKeepsManyFrames writes many frames at once, faster than the client acknowledges them.
func TestResetKeepsManyFrames(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // other kernels may drop what the client has not read
	}
	pieces := make([]string, 200)
	for i := range pieces {
		pieces[i] = fmt.Sprintf("piece %d, ", i)
	}
	s := start(t, faultllm.Config{
		Script: faultllm.Reply(faultllm.Say(pieces...)), Plan: faultllm.Every(faultllm.Reset(faultllm.InText(150))),
	})
	for range 20 {
		equal(t, "text", ask(t, s, user("hello")).text, strings.Join(pieces[:150], ""))
	}
}
