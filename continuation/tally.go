package continuation

import (
	"sync/atomic"
	"time"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// What is added to a checkpoint instead of writing the whole of it again. A delta is to be smaller than the whole,
// which needs no reader that puts it together; and what was added must not come to much more than the whole does, which a
// reader has to read, too.
const (
	deltaEach      = 512      // bytes of a delta beside what is new
	deltaShare     = 2        // a delta is at most half of the whole
	deltasTogether = 2        // times the whole
	deltasFree     = 64 << 10 // bytes
)

// tally is what the writes of an answer have come to: the goroutine that writes keeps it, the cadence reads it. It is safe
// for concurrent use by these two. Sizes are in bytes, as they are stored.
type tally struct {
	written atomic.Int64 // in all writes
	base    atomic.Int64 // the answer in the store, to which something can be added; 0 if there is none
	added   atomic.Int64 // since the whole was written
	until   atomic.Int64 // when something may be added again, in nanoseconds of the Unix time

	failures int // to add, one after the other; the goroutine's
}

// next returns how much a write takes when the answer has come to total, and whether it only adds to what is stored.
func (t *tally) next(now time.Time, total int) (size int, adds bool) {
	base := int(t.base.Load())
	delta := max(total-base, 0) + deltaEach
	if base == 0 || now.UnixNano() < t.until.Load() || !t.small(delta, total) {
		return total, false
	}

	return delta, true
}

// small reports whether a delta is worth it.
func (t *tally) small(delta, total int) bool {
	added := int(t.added.Load()) + delta

	return delta <= total/deltaShare && added <= deltasTogether*total+deltasFree && total+added <= checkpointstore.MaxBytes/2
}

// end returns how much the write behind the next one takes, at most, if nothing more comes.
func (t *tally) end(total int, adds bool) int {
	if adds && int(t.added.Load()) < total {
		return deltaEach
	}

	return total
}

// begin takes note of a write that begins. Who begins it ends it.
func (t *tally) begin(size int) { t.written.Add(int64(size)) }

// wrote ends a write that was done. Base says that something can be added to what is stored now.
func (t *tally) wrote(total, size int, adds, base bool) {
	if adds {
		t.added.Add(int64(size))
		t.failures = 0
	} else {
		t.added.Store(0)
	}
	if !base {
		total = 0
	}
	t.base.Store(int64(total))
}

// failed ends a write that was not done, as far as is known. One more that adds is made at once, behind a whole one; if that
// fails, too, none is for a while.
func (t *tally) failed(now time.Time, size int, adds bool) {
	t.written.Add(-int64(size))
	if !adds {
		return
	}
	if t.failures++; t.failures > 1 {
		pause := min(firstAddPause<<min(t.failures-2, 10), maxAddPause)
		t.until.Store(now.Add(pause).UnixNano())
	}
}

// The pauses of a store that cannot add, after two failures and after many.
const (
	firstAddPause = time.Second
	maxAddPause   = time.Minute
)
