package continuation

import "time"

// progressEvery is the shortest time between two events about the progress of a tool call.
const progressEvery = 250 * time.Millisecond

// progress spaces the events about held tool calls.
type progress struct{ last time.Time }

func (p *progress) due(now time.Time) bool {
	if now.Sub(p.last) < progressEvery {
		return false
	}
	p.last = now

	return true
}
