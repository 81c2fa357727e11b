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
		if s.resumed = e.Cause == callbacks.CauseResumedFromCheckpoint; s.resumed {
			return // what it stands for comes before what is done about it
		}
		s.broke(string(e.Cause), lastCause(e.ErrorMessage))
	case callbacks.Started:
		s.started(e)
	case callbacks.Notice:
		if e.Kind == callbacks.NoticeReplayed {
			s.kept("the whole answer is in the store")
		}
	case callbacks.CheckpointFailed:
		s.broke("checkpoint "+e.Operation, lastCause(e.ErrorMessage))
	case callbacks.OpenRetried:
		s.broke(string(e.Cause), fmt.Sprintf("status %d before the first token", e.Status))
		s.goesOn("open retry", "asked again "+"in "+seconds(e.Backoff))
	case callbacks.PartialToolUseDiscarded:
		s.line(indent + s.palette.faint(fmt.Sprintf("  half a call to %s is dropped, %d bytes", e.ToolName, e.PartialInputBytes)))
	case callbacks.Exhausted:
		s.goesOn("given up", e.FinalReason)
	}
}

// started draws how an answer goes on. Of one that another process had begun, the beginning is still to be read.
func (s *screen) started(e callbacks.Started) {
	if !s.resumed {
		s.goesOn(e.Plan.String(), s.follows(e))

		return
	}
	s.resumed = false
	s.kept(fmt.Sprintf("another process had delivered this, %s are in the store", count(e.CommittedTextBytes, "byte")))
	s.replay = e.CommittedTextBytes
	s.then = func() { s.goesOn(e.Plan.String(), "asked for the rest") }
}

func (s *screen) kept(detail string) {
	s.line(indent + s.palette.plan("▣ checkpoint") + "  " + s.palette.faint(detail))
}

// died says that the process ends here.
func (s *screen) died(chunks, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(indent + s.palette.broken("✝ killed") + "  " +
		s.palette.faint(fmt.Sprintf("behind %s, %s; the same command without --crash-after goes on", count(chunks, "chunk"), count(size, "byte"))))
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
