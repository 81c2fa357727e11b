package continuation

import (
	"sync/atomic"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// What is added to a checkpoint instead of writing the whole of it again. A delta is to be much smaller than the whole,
// which needs no reader that puts it together; and what was added must not come to much more than the whole does, which a
// reader has to read, too.
const (
	deltaEach      = 512      // bytes of a delta beside what is new
	deltaShare     = 4        // a delta is at most the fourth part of the whole
	deltasTogether = 2        // times the whole
	deltasFree     = 64 << 10 // bytes
)

// tally is what the writes of an answer have come to: the goroutine that writes keeps it, the cadence reads it. It is safe
// for concurrent use by these two. Sizes are in bytes, as they are stored.
type tally struct {
	written atomic.Int64 // in all writes
	base    atomic.Int64 // the answer in the store, to which something can be added; 0 if there is none
	added   atomic.Int64 // since the whole was written
}

// next returns how much a write takes when the answer has come to total, and whether it only adds to what is stored.
func (t *tally) next(total int) (size int, adds bool) {
	base, added := int(t.base.Load()), int(t.added.Load())
	delta := max(total-base, 0) + deltaEach
	switch {
	case base == 0, delta > total/deltaShare,
		added+delta > deltasTogether*total+deltasFree,
		total+added+delta > checkpointstore.MaxBytes/2:
		return total, false
	default:
		return delta, true
	}
}

// end returns how much the write behind the next one takes, at most, if nothing more comes.
func (t *tally) end(total int, adds bool) int {
	if adds && int(t.added.Load()) < total {
		return deltaEach
	}

	return total
}

// begin takes note of a write that begins, and returns its size. Who begins it ends it.
func (t *tally) begin(total int, adds bool) (size int) {
	size = total
	if adds {
		size = max(total-int(t.base.Load()), 0) + deltaEach
	}
	t.written.Add(int64(size))

	return size
}

// wrote ends a write that was done. Base says that something can be added to what is stored now.
func (t *tally) wrote(total, size int, adds, base bool) {
	if adds {
		t.added.Add(int64(size))
	} else {
		t.added.Store(0)
	}
	if !base {
		total = 0
	}
	t.base.Store(int64(total))
}

// failed ends a write that was not done, as far as is known.
func (t *tally) failed(size int) { t.written.Add(-int64(size)) }

// lost says that nothing can be added to what is stored.
func (t *tally) lost() { t.base.Store(0) }

// backoff is how long something is not tried again that has failed.
type backoff struct {
	until time.Time
	pause time.Duration
}

// The pauses after one failure, and after many.
const (
	firstAddPause = time.Second
	maxAddPause   = time.Minute
)

// failed begins a pause, twice as long as the last one.
func (b *backoff) failed(now time.Time) {
	b.pause = min(max(2*b.pause, firstAddPause), maxAddPause)
	b.until = now.Add(b.pause)
}

// over reports whether no pause is under way.
func (b *backoff) over(now time.Time) bool { return !now.Before(b.until) }
