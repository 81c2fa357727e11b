package continuation

import (
	"sync/atomic"
	"time"
)

// A write holds the whole answer if the store cannot add to what it has, so that many writes of a long one would hold it many
// times. All writes together, the one at the end too, hold three times the answer at most, encoded as it is in the store; or,
// if that is more, a little that grows with time, for answers that come slowly and whose user would lose much, and the
// write at the end.
const (
	cadenceTimes     = 3
	cadenceFree      = 256 << 10 // bytes
	cadencePerSecond = 8 << 10   // bytes
	cadenceEach      = 1 << 10   // bytes of a write beside the answer
)

// A store that is slow is spared: many streams whose store has more to write than it can would else keep it so, and wait
// for it at their ends. A write begins no sooner after the last one than sparing times what writes take at the time, but
// that does not make them rarer than every sparing flush intervals.
const sparing = 8

// pulse is what writes to a store take at the time, over all streams of a decorator. It is safe for concurrent use.
type pulse struct{ nanos atomic.Int64 }

// beat takes note of a write. Of two at the same moment one may be lost.
func (p *pulse) beat(took time.Duration) {
	old := p.nanos.Load()
	p.nanos.Store(old + (int64(took)-old)/4)
}

func (p *pulse) rate() time.Duration { return time.Duration(p.nanos.Load()) }

// cadence says when an answer that grows is written. It is pure but for the clock it is given.
type cadence struct {
	every time.Duration
	bytes int
	pulse *pulse

	started time.Time
	last    time.Time // of the last write
	plain   int       // bytes of the answer
	size    int       // the same as they are stored
	beside  int       // what is stored beside the answer
	unsaved int       // of the answer's bytes
	call    time.Time // when a tool call became whole that is not written; zero if none did
	tally   *tally
}

func newCadence(k *checkpoints, now time.Time) cadence {
	return cadence{every: k.every, bytes: k.bytes, pulse: k.pulse, started: now, last: now, beside: cadenceEach, tally: new(tally)}
}

// grew takes note of a new piece of the answer.
func (c *cadence) grew(piece string) {
	c.plain, c.unsaved = c.plain+len(piece), c.unsaved+len(piece)
	c.size += encodedLen(piece)
}

// came takes note of so many bytes of blocks that are no text.
func (c *cadence) came(n int) { c.plain, c.unsaved = c.plain+n, c.unsaved+n }

// called takes note of a tool call that has come whole.
func (c *cadence) called(now time.Time) {
	if c.call.IsZero() {
		c.call = now
	}
}

// encodedLen returns how long a text is in a checkpoint, between its quotes.
func encodedLen(s string) int {
	n := len(s)
	for i := range len(s) {
		switch ch := s[i]; {
		case ch == '"', ch == '\\', ch == '\n':
			n++
		case ch < ' ':
			n += len(`\u0000`) - 1
		}
	}

	return n
}

// due reports whether it is time to write. A whole tool call is written at once or, if more was written than may be, a flush
// interval later, together with those that have come whole meanwhile.
func (c *cadence) due(now time.Time) bool {
	since := now.Sub(c.last)
	switch {
	case !c.call.IsZero():
		return now.Sub(c.call) >= c.every || c.over(now) <= 0
	case c.unsaved == 0:
		return false
	default:
		return (c.unsaved >= c.bytes || since >= c.every) && since >= c.rest() && c.over(now) <= 0
	}
}

// rest is how long the store is left alone between two writes.
func (c *cadence) rest() time.Duration { return sparing * min(c.pulse.rate(), c.every) }

// total is how long the answer is, as it is stored.
func (c *cadence) total() int { return c.size + c.beside }

// over returns how many bytes more would have been written than may be.
func (c *cadence) over(now time.Time) int {
	next, adds := c.tally.next(now, c.total())
	end := c.tally.end(c.total(), adds)
	next += int(c.tally.written.Load())
	if next+end <= cadenceTimes*c.plain {
		return 0
	}

	return next - cadenceFree - int(now.Sub(c.started).Seconds()*cadencePerSecond)
}

// wait returns how long it is until due, if nothing more comes; false if there is nothing to write.
func (c *cadence) wait(now time.Time) (time.Duration, bool) {
	if !c.call.IsZero() {
		return max(c.every-now.Sub(c.call), 0), true
	}
	if c.unsaved == 0 {
		return 0, false
	}
	d := max(c.every, c.rest()) - now.Sub(c.last)
	if over := c.over(now); over > 0 {
		d = max(d, time.Duration(over)*time.Second/cadencePerSecond+time.Millisecond)
	}

	return max(d, 0), true
}

// given takes note that what has come is to be written.
func (c *cadence) given(now time.Time) { c.last, c.unsaved, c.call = now, 0, time.Time{} }
