package main

import "time"

// pieceSize is how many bytes the embedded provider sends at a time: about a token.
const pieceSize = 6

// tempo is how fast the demonstration goes. The defaults of the library are made for days, not for an audience: its
// waits begin at a second, and it calls a stream stalled after two minutes.
type tempo struct {
	pace       time.Duration // between two pieces of an answer
	backoff    time.Duration // before the first continuation; doubles with each further one
	idle       time.Duration // silence that is a stall
	retryAfter time.Duration // what the provider asks for in a 429
	patience   time.Duration // silence after which the run without the library is given up

	breakerPause time.Duration // how long the circuit breaker stays open
}

func defaultTempo() tempo {
	return tempo{
		pace:       14 * time.Millisecond,
		backoff:    300 * time.Millisecond,
		idle:       800 * time.Millisecond,
		retryAfter: time.Second,
		patience:   3 * time.Second,

		breakerPause: 2 * time.Second,
	}
}

// wait is the wait before a continuation; attempt counts from 1.
func (t tempo) wait(attempt int) time.Duration { return t.backoff << (attempt - 1) }
