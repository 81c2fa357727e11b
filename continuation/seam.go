package continuation

import (
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/eino-carryon/carryon/snapshot"
)

// joinHold is how long the first text of a continuation is held back at most.
const joinHold = 300 * time.Millisecond

// seam is where a continuation is joined: it holds the chunks while the joiner is undecided, and cuts from them what the
// joiner says.
type seam struct {
	join  *joiner
	held  []chunk
	timer *time.Timer
}

func newSeam(j *joiner) *seam { return &seam{join: j} }

// take reads the next chunk and returns those that are free to go on. Anything but text ends the holding back, since it
// must not wait for text that may never come.
func (s *seam) take(m chunk) []chunk {
	text := snapshot.Text(m.Message)
	holding := s.join.state == joinHolding
	cut := s.join.take(text)
	if !holding {
		return []chunk{cutText(m, &cut)}
	}
	if text != "" || len(s.held) > 0 {
		s.held = append(s.held, m)
	} else if !endsHolding(m) {
		return []chunk{m}
	} else {
		s.held = append(s.held, m)
	}
	if s.join.state == joinHolding && endsHolding(m) {
		s.join.finished = len(m.ToolCalls) == 0 && !snapshot.IsHandled(m.Message)

		return s.end()
	}
	if s.join.state == joinHolding {
		if s.timer == nil {
			s.timer = time.NewTimer(joinHold)
		}

		return nil
	}

	return s.free(cut)
}

func endsHolding(m chunk) bool {
	return len(m.ToolCalls) > 0 || snapshot.IsHandled(m.Message) || snapshot.FinishReason(m.Message) != ""
}

// deadline fires when holding back has lasted long enough.
func (s *seam) deadline() <-chan time.Time {
	if s == nil || s.timer == nil || s.join.state != joinHolding {
		return nil
	}

	return s.timer.C
}

// swallowing reports whether the continuation repeats the text from its start and has not yet brought anything new.
func (s *seam) swallowing() bool { return s != nil && s.join.state == joinSwallowing }

// holds reports whether chunks are waiting for a decision.
func (s *seam) holds() bool { return len(s.held) > 0 }

// expire decides at the deadline, end at the end of the attempt. Both return the chunks that are free.
func (s *seam) expire() []chunk { return s.free(s.join.expire()) }

func (s *seam) end() []chunk { return s.free(s.join.end()) }

func (s *seam) free(cut int) []chunk {
	s.stop()
	out := s.held
	s.held = nil
	for i, m := range out {
		out[i] = cutText(m, &cut)
	}

	return out
}

// drop forgets what is held.
func (s *seam) drop() {
	s.stop()
	s.held = nil
}

func (s *seam) stop() {
	if s.timer != nil {
		s.timer.Stop()
	}
}

// cutText returns m without the first *n bytes of its text, and takes from *n what it has cut. Multi-content repeats the
// text, or holds it alone; it is cut alike.
func cutText(m chunk, n *int) chunk {
	text := snapshot.Text(m.Message)
	k := min(*n, len(text))
	if k == 0 {
		return m
	}
	*n -= k
	cut := *m.Message
	cut.Content = m.Content[min(k, len(m.Content)):]
	cut.AssistantGenMultiContent = nil
	for _, p := range m.AssistantGenMultiContent {
		if p.Type == schema.ChatMessagePartTypeText && k > 0 {
			here := min(k, len(p.Text))
			p.Text, k = p.Text[here:], k-here
			if p.Text == "" && len(p.Extra) == 0 {
				continue
			}
		}
		cut.AssistantGenMultiContent = append(cut.AssistantGenMultiContent, p)
	}

	return m.as(&cut)
}
