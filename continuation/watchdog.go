package continuation

import "time"

// watchdog measures how long the consumer has waited for content. Only waiting counts, so a slow consumer is never
// taken for a silent provider, and only content sets it back, so neither keep-alives nor empty chunks hide a stall.
type watchdog struct {
	limit   time.Duration
	spent   time.Duration // waited since the last content
	started time.Time     // of the wait under way; zero if there is none
	timer   *time.Timer
}

// reset begins a new count with limit.
func (w *watchdog) reset(limit time.Duration) {
	w.limit, w.spent, w.started = limit, 0, time.Time{}
}

// wait returns the channel that fires when the limit is reached. Each wait is ended by waited or reset.
func (w *watchdog) wait() <-chan time.Time {
	if w.timer == nil {
		w.timer = time.NewTimer(w.limit - w.spent)
	} else {
		w.timer.Reset(w.limit - w.spent)
	}
	w.started = time.Now()

	return w.timer.C
}

// waited ends a wait that brought no content.
func (w *watchdog) waited() {
	if !w.started.IsZero() {
		w.spent += time.Since(w.started)
		w.started = time.Time{}
	}
}

// stop releases the timer.
func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
