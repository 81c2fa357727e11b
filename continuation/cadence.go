package continuation

import (
	"sync/atomic"
	"time"
)

// A write holds the whole answer, so that many writes of a long one would hold it many times. What may be written before
// the end is a quarter of the answer and a little more, beside the last write before and the one at the end; for slow
// answers, whose user would lose much, the little grows with time.
const (
	cadenceFree      = 256 << 10 // bytes
	cadencePerSecond = 8 << 10   // bytes
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
	size    int       // of the answer
	unsaved int       // of it
	written int       // in all writes
}

func newCadence(k *checkpoints, now time.Time) cadence {
	return cadence{every: k.every, bytes: k.bytes, pulse: k.pulse, started: now, last: now}
}

// grew takes note of n new bytes.
func (c *cadence) grew(n int) { c.size, c.unsaved = c.size+n, c.unsaved+n }

// due reports whether it is time to write.
func (c *cadence) due(now time.Time) bool {
	since := now.Sub(c.last)

	return c.unsaved > 0 && (c.unsaved >= c.bytes || since >= c.every) && since >= c.rest() && c.over(now) <= 0
}

// rest is how long the store is left alone between two writes.
func (c *cadence) rest() time.Duration { return sparing * min(c.pulse.rate(), c.every) }

// over returns how many bytes more have been written than may be.
func (c *cadence) over(now time.Time) int {
	return c.written - cadenceFree - c.size/4 - int(now.Sub(c.started).Seconds()*cadencePerSecond)
}

// wait returns how long it is until due, if nothing more comes; false if there is nothing to write.
func (c *cadence) wait(now time.Time) (time.Duration, bool) {
	if c.unsaved == 0 {
		return 0, false
	}
	d := max(c.every, c.rest()) - now.Sub(c.last)
	if over := c.over(now); over > 0 {
		d = max(d, time.Duration(over)*time.Second/cadencePerSecond+time.Millisecond)
	}

	return max(d, 0), true
}

// wrote takes note of a write.
func (c *cadence) wrote(now time.Time) {
	c.last, c.unsaved = now, 0
	c.written += c.size
}
