package faultllm

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// The ledger keeps the newest records: at most this many, with request bodies of at most this many bytes in all (the
// decoded messages take about as much again). Older ones are forgotten, their sums stay in the totals.
const (
	maxRecords     = 8192
	maxRecordBytes = 64 << 20
)

// Ledger is what a server has done so far.
type Ledger struct {
	Records  []Record // in order of arrival; the oldest may have been forgotten
	Requests int      // all requests, also refused and forgotten ones
	Prompt   int      // tokens billed
	Completion,
	Lost int // tokens, as in Record
}

// Billed returns all tokens billed.
func (l Ledger) Billed() int { return l.Prompt + l.Completion }

// Record is one request. What was billed is recorded before the bytes are sent; the end of a response, and that its
// client left, may be recorded after the client saw it: see [Server.WaitEnded]. Its maps and slices are shared with the
// server and must not be changed.
type Record struct {
	N         int // from 0, in order of arrival
	Turn      int // index of the answer in the script; -1 if the request was refused
	Name      string
	Attempt   int // as in Arrival
	Request   Request
	HTTP2     bool
	Header    http.Header
	Body      []byte
	Continued bool // the request carried a partial answer
	From      int  // the byte of the text at which the answer began

	Fault    Fault // as planned
	FaultHit bool  // the answer got to the fault's position
	Status   int   // 0 if no headers were sent

	Prompt     int // tokens billed
	Completion int // tokens billed: all that were generated
	Lost       int // of Completion: tokens of frames that were not sent whole

	Began          time.Time
	Ended          time.Time // zero while the request is served
	Disconnected   bool      // the client left before the response ended
	DisconnectedAt time.Time
}

// ledger holds the records. It is safe for use by many goroutines.
type ledger struct {
	mu       sync.Mutex
	records  []*Record
	totals   Ledger
	bytes    int
	active   int
	attempts map[uint64]*attempts
	keys     map[*Record]uint64
	changed  chan struct{} // closed at the next change; nil while nobody waits

	limit      int
	limitBytes int
}

// attempts counts the requests of one turn; kept says how many of them have a record.
type attempts struct{ next, kept int }

func newLedger(limit, limitBytes int) *ledger {
	return &ledger{
		attempts: map[uint64]*attempts{}, keys: map[*Record]uint64{}, limit: limit, limitBytes: limitBytes,
	}
}

// arrive opens the record of a request.
func (l *ledger) arrive(h http.Header, body []byte) *Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &Record{N: l.totals.Requests, Turn: -1, Header: h, Body: body, Began: time.Now()}
	l.totals.Requests++
	l.active++
	l.records = append(l.records, r)
	l.bytes += len(body)
	for len(l.records) > 1 && (len(l.records) > l.limit || l.bytes > l.limitBytes) {
		l.forget()
	}
	l.notify()
	return r
}

func (l *ledger) forget() {
	old := l.records[0]
	l.records[0] = nil
	l.records = l.records[1:]
	l.bytes -= len(old.Body)
	if key, ok := l.keys[old]; ok {
		delete(l.keys, old)
		if a := l.attempts[key]; a.kept == 1 {
			delete(l.attempts, key)
		} else {
			a.kept--
		}
	}
}

// attempt numbers the request among those of the same turn.
func (l *ledger) attempt(r *Record, key uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.attempts[key]
	if a == nil {
		a = &attempts{}
		l.attempts[key] = a
	}
	r.Attempt = a.next
	a.next++
	if r.N >= l.totals.Requests-len(l.records) { // not forgotten.
		a.kept++
		l.keys[r] = key
	} else if a.kept == 0 {
		delete(l.attempts, key)
	}
}

// update changes a record under the lock.
func (l *ledger) update(r *Record, change func(*Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	prompt, completion, lost := r.Prompt, r.Completion, r.Lost
	change(r)
	l.totals.Prompt += r.Prompt - prompt
	l.totals.Completion += r.Completion - completion
	l.totals.Lost += r.Lost - lost
	l.notify()
}

// end closes a record.
func (l *ledger) end(r *Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Ended = time.Now()
	l.active--
	l.notify()
}

func (l *ledger) notify() {
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

func (l *ledger) snapshot() Ledger {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.totals
	out.Records = slices.Grow([]Record(nil), len(l.records))
	for _, r := range l.records {
		out.Records = append(out.Records, *r)
	}
	return out
}
