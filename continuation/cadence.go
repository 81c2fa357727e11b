package continuation

import "time"

// A write holds the whole answer, so that many writes of a long one would hold it many times. What may be written before
// the end is a quarter of the answer and a little more, beside the last write before and the one at the end; for slow
// answers, whose user would lose much, the little grows with time.
const (
	cadenceFree      = 256 << 10 // bytes
	cadencePerSecond = 8 << 10   // bytes
)

// cadence says when an answer that grows is written. It is pure but for the clock it is given.
type cadence struct {
	every time.Duration
	bytes int

	started time.Time
	last    time.Time // of the last write
	size    int       // of the answer
	unsaved int       // of it
	written int       // in all writes
}

func newCadence(k *checkpoints, now time.Time) cadence {
	return cadence{every: k.every, bytes: k.bytes, started: now, last: now}
}

// grew takes note of n new bytes.
func (c *cadence) grew(n int) { c.size, c.unsaved = c.size+n, c.unsaved+n }

// due reports whether it is time to write.
func (c *cadence) due(now time.Time) bool {
	return c.unsaved > 0 && (c.unsaved >= c.bytes || now.Sub(c.last) >= c.every) && c.over(now) <= 0
}

// over returns how many bytes more have been written than may be.
func (c *cadence) over(now time.Time) int {
	return c.written - cadenceFree - c.size/4 - int(now.Sub(c.started).Seconds()*cadencePerSecond)
}

// wait returns how long it is until due, if nothing more comes; false if there is nothing to write.
func (c *cadence) wait(now time.Time) (time.Duration, bool) {
	if c.unsaved == 0 {
		return 0, false
	}
	d := c.every - now.Sub(c.last)
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
