package continuation

import (
	"math"
	"time"
)

// budget counts what one call has used of what the options allow. It is pure but for the clock it is given.
type budget struct {
	cfg     *config
	started time.Time
	opens   int // open retries
	number  int // continuations and restarts begun in this call
	used    int // the same since the budget was last given back
	idle    int // continuations in a row that brought no text
	mark    int // bytes of text when the last attempt began
}

// begin takes note of a continuation or restart; a free one costs nothing.
func (b *budget) begin(free bool) {
	b.number++
	if !free {
		b.used++
	}
}

// ended takes note of how much text there is at the end of an attempt.
func (b *budget) ended(text int) {
	gained := text - b.mark
	b.mark = text
	if gained > 0 || b.number == 0 {
		b.idle = 0
	} else {
		b.idle++
	}
	if b.cfg.budgetReset > 0 && gained >= b.cfg.budgetReset {
		b.used = 0
	}
}

// exhausted returns why no further continuation may be begun; empty if one may.
func (b *budget) exhausted() string {
	switch {
	case b.used >= b.cfg.maxContinuations:
		return ReasonMaxContinuations
	case b.cfg.noProgressLimit > 0 && b.idle >= b.cfg.noProgressLimit:
		return ReasonNoProgress
	default:
		return ""
	}
}

// wait returns how long to wait before the n-th try, and why not to wait at all: the provider wants more than the cap,
// or the wait would end too late. It is the larger of back-off and Retry-After and up to a quarter longer, so that many
// streams that broke together do not come back together.
func (b *budget) wait(n int, c Class, now time.Time) (time.Duration, string) {
	if c.HasRetryAfter && c.RetryAfter > b.cfg.retryAfterCap {
		return 0, ReasonRetryAfter
	}
	d := max(b.cfg.backoff(n), 0)
	if c.HasRetryAfter {
		d = max(d, c.RetryAfter)
	}
	if more := time.Duration(float64(d) * b.cfg.jitter() / 4); d <= math.MaxInt64-more {
		d += more
	}
	if b.cfg.maxElapsed > 0 && d > b.cfg.maxElapsed-now.Sub(b.started) {
		return 0, ReasonMaxElapsed
	}

	return d, ""
}
