package clients

import (
	"bytes"
	"runtime/pprof"
	"time"
)

// Leftovers returns the stacks of goroutines of the decorator, of HTTP connections and of the clients that are still there
// after a moment; empty if all is well. It is for the end of a test run.
func Leftovers() string {
	deadline := time.After(5 * time.Second)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		stacks := stacksOf("carryon/continuation.", "net/http.(*persistConn)", "net/http.(*http2ClientConn)", "eino-ext/",
			"anthropic-sdk-go", "google.golang.org/genai", "deepseek-go", "volcengine-go-sdk", "eino-contrib/ollama")
		if stacks == "" {
			return ""
		}
		select {
		case <-again.C:
		case <-deadline:
			return stacks
		}
	}
}

// stacksOf returns the stacks of all goroutines in which one of the names stands.
func stacksOf(names ...string) string {
	var all, found bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&all, 2); err != nil {
		return err.Error()
	}
	for stack := range bytes.SplitSeq(all.Bytes(), []byte("\n\n")) {
		for _, name := range names {
			if bytes.Contains(stack, []byte(name)) {
				found.Write(stack)
				found.WriteString("\n\n")

				break
			}
		}
	}

	return found.String()
}
