//go:build unix

package crash

import (
	"encoding/json"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// The kinds of lines that a child writes.
const (
	saidUp       = "up"
	saidAsks     = "asks"     // the model, after the journal was written
	saidChunk    = "chunk"    // was delivered
	saidGot      = "got"      // from the store
	saidPut      = "put"      // begins
	saidPutEnd   = "put-end"  // with or without error
	saidTool     = "tool"     // begins
	saidToolEnd  = "tool-end" // with its result
	saidFinished = "finished" // the journal has the final answer
	saidFailed   = "failed"
	saidEvent    = "event" // that nobody hopes for
	saidEnd      = "end"
)

// line is what a child says.
type line struct {
	Kind string
	Text string
	N    int    // of the stream that a chunk is of, from 0
	Key  string // of a checkpoint
	Size int    // of its text

	Epoch, Seq uint64

	Done  bool
	Added bool // to what was there
	Call  bool // there is a whole one
	Err   string
	At    time.Time
}

// diary writes what a child says.
type diary struct {
	mu     sync.Mutex
	to     *json.Encoder
	stopAt string
	since  uint64 // of lines of earlier epochs it takes no notice
	skip   int

	sizes   sync.Map   // of the texts in the store, by key
	writing sync.Mutex // held by who writes to the store
}

func (d *diary) say(l line) {
	if d.tell(l) {
		d.stop()
	}
}

// tell writes a line and reports whether the child is to stop behind it.
func (d *diary) tell(l line) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.At = time.Now()
	_ = d.to.Encode(l) // who does not hear it has died
	if l.Kind != d.stopAt || l.Epoch < d.since {
		return false
	}
	d.skip--

	return d.skip == -1
}

// stop stops the process until another one lets it go on. It does not while a write is under way: the lock on the file or
// the database would keep everybody out for as long.
func (d *diary) stop() {
	d.writing.Lock()
	defer d.writing.Unlock()
	goesOn := make(chan os.Signal, 1)
	signal.Notify(goesOn, syscall.SIGCONT)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGSTOP) // returns before it has stopped all threads
	<-goesOn
}
