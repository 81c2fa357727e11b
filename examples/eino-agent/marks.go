package main

import (
	"context"
	"fmt"
	"time"

	"github.com/eino-carryon/carryon/callbacks"
	"github.com/eino-carryon/carryon/snapshot"
)

// Handle draws the marks: where an answer broke, and how it goes on. It makes the screen a [callbacks.Handler].
func (s *screen) Handle(_ context.Context, e callbacks.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := e.(type) {
	case callbacks.Interrupted:
		s.broke(string(e.Cause), lastCause(e.ErrorMessage))
	case callbacks.Started:
		s.goesOn(e.Plan.String(), s.follows(e))
	case callbacks.OpenRetried:
		s.broke(string(e.Cause), fmt.Sprintf("status %d before the first token", e.Status))
		s.goesOn("open retry", "asked again "+"in "+seconds(e.Backoff))
	case callbacks.PartialToolUseDiscarded:
		s.line(indent + s.palette.faint(fmt.Sprintf("  half a call to %s is dropped, %d bytes", e.ToolName, e.PartialInputBytes)))
	case callbacks.Exhausted:
		s.goesOn("given up", e.FinalReason)
	}
}

func (s *screen) broke(cause, detail string) {
	s.line(indent + s.palette.broken("✂ "+cause) + "  " + s.palette.faint(detail))
}

func (s *screen) goesOn(plan, detail string) {
	s.line(indent + s.palette.plan("↻ "+plan) + "  " + s.palette.faint(detail))
}

// follows says what a plan keeps and when the next request is made.
func (s *screen) follows(e callbacks.Started) string {
	switch e.Plan {
	case snapshot.SynthesizeToolUse:
		return fmt.Sprintf("%s came whole and runs: no request, no wait", count(e.CommittedToolCalls, "tool call"))
	case snapshot.WholeRestart:
		return "nothing was said yet: asked anew in " + seconds(e.Backoff)
	default:
		return fmt.Sprintf("%s stand, asked for the rest in %s", count(e.CommittedTextBytes, "byte"), seconds(e.Backoff))
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return fmt.Sprintf("%d %ss", n, what)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f s", d.Seconds()) }
