package continuation

import "sync/atomic"

// learned is what a decorator finds out about its model while it works. All calls of a decorator, and of those that
// WithTools derives from it, share one.
type learned struct {
	sendsFinish    atomic.Bool // a finish reason was seen
	omitsFinish    atomic.Bool // a probe has shown that none is sent
	refusesPrefill atomic.Bool
	refusesHint    atomic.Bool
	profile        atomic.Pointer[profile] // that of a client which only its chunks betray
}

// finishRule says what a clean end without a finish reason means.
type finishRule int

const (
	finishUnknown  finishRule = iota // ask once
	finishRequired                   // an interruption
	finishOptional                   // the end of the answer
)

func (l *learned) finishRule(required *bool, p profile) finishRule {
	switch {
	case required != nil && *required:
		return finishRequired
	case required != nil:
		return finishOptional
	case p.known || l.sendsFinish.Load():
		return finishRequired
	case l.omitsFinish.Load():
		return finishOptional
	default:
		return finishUnknown
	}
}
