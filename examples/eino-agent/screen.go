package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// screen draws the conversation. It is safe for concurrent use: the agent calls it from goroutines of its own.
type screen struct {
	mu      sync.Mutex
	out     io.Writer
	palette palette
	prose   prose
	thought bool // the line under way is of a thought

	resumed bool   // an answer that another process had begun
	replay  int    // bytes of it still to come
	then    func() // what follows them
}

func newScreen(out io.Writer, p palette) *screen {
	return &screen{out: out, palette: p, prose: prose{out: out}}
}

// question begins a turn.
func (s *screen) question(n int, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line("")
	s.line(s.palette.title(fmt.Sprintf("%d you  %s", n, text)))
	s.line("")
}

// chunk draws what a chunk brings.
func (s *screen) chunk(thought, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if thought != "" {
		if !s.thought {
			s.switchTo(true)
			s.prose.write(s.palette.faint, "(thinking) ")
		}
		s.prose.write(s.palette.faint, thought)
	}
	if text != "" {
		if s.thought {
			s.switchTo(false)
		}
		s.text(text)
	}
}

// text draws text, and what another process had delivered of it already as such.
func (s *screen) text(text string) {
	if s.replay > 0 {
		old := text[:min(s.replay, len(text))]
		s.prose.write(s.palette.faint, old)
		text, s.replay = text[len(old):], s.replay-len(old)
		if s.replay == 0 {
			s.then()
		}
	}
	s.prose.write(fmt.Sprint, text)
}

// switchTo begins a new line between a thought and a text.
func (s *screen) switchTo(thought bool) {
	s.prose.endLine()
	s.thought = thought
}

func (s *screen) call(name, args string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(indent + s.palette.tool("▸ "+name) + " " + args)
}

func (s *screen) result(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = strings.TrimRight(text, "\n")
	first, rest, more := strings.Cut(text, "\n")
	if more {
		first += s.palette.faint(" … " + count(strings.Count(rest, "\n")+1, "line"))
	}
	s.line(indent + s.palette.tool("◂ ") + first)
}

// failed says that the turn has no answer.
func (s *screen) failed(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(indent + s.palette.broken("✗ "+lastCause(err.Error())))
}

// note writes a line of its own below the conversation.
func (s *screen) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line(text)
}

// end ends the line under way.
func (s *screen) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prose.endLine()
}

func (s *screen) line(text string) {
	s.switchTo(false)
	fmt.Fprintln(s.out, text)
}

// lastCause returns the end of an error's chain, without the places that it passed.
func lastCause(message string) string {
	message, _, _ = strings.Cut(message, "\n") // agents append where in their graph it happened
	if i := strings.LastIndex(message, ": "); i >= 0 {
		message = message[i+2:]
	}

	return message
}
