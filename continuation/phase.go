package continuation

import "fmt"

// phase is where a model call stands. doc.go draws the phases and what leads from one to the other.
type phase int

const (
	phaseOpening   phase = iota // a request is under way, no reader yet
	phaseStreaming              // chunks pass on to the consumer
	phaseJoining                // a continuation's first stretch is held until the join is decided
	phaseProbing                // a continuation is withheld whole until its end shows whether it was needed
	phaseWaiting                // the back-off before the next request
	phaseEnded                  // nothing more is read; what is left in the queue goes out, then the error
)

// reads reports whether an attempt is being read.
func (p phase) reads() bool { return p == phaseStreaming || p == phaseJoining || p == phaseProbing }

func (p phase) String() string {
	switch p {
	case phaseOpening:
		return "opening"
	case phaseStreaming:
		return "streaming"
	case phaseJoining:
		return "joining"
	case phaseProbing:
		return "probing"
	case phaseWaiting:
		return "waiting"
	case phaseEnded:
		return "ended"
	default:
		return fmt.Sprintf("phase(%d)", int(p))
	}
}
